#!/bin/bash
# Each part of `make lint` passes on a small sound tree and fails on one violation of what it checks. `make lint` runs
# this, since the checkers are not among the packages that the other tests need.
. "$(dirname "$0")/../lib/tap.sh"
unset FULL LINT_BASE LINT_MAX
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost

sound_tree() {
	mkdir -p build/bin build/meson/src/{base,stats} src/{base,stats} include python tests bench packaging
	cp -r "$SOURCE_DIR"/{tools,.clang-format,.clang-tidy} .
	echo '/build/' >.gitignore
	printf 'base:\nstats: base\n' >src/layers.txt
	printf 'bin/one: libc.so.6\n' >packaging/needed.txt
	printf '#!/bin/bash\necho "$1"\n' >tests/one.t
	printf 'int one(void);\n' >src/base/one.h
	printf '#include "base/one.h"\n\nint one(void)\n{\n\treturn 1;\n}\n' >src/base/one.c
	printf '#include "base/one.h"\n\nint two(void);\n\nint two(void)\n{\n\treturn 2 * one();\n}\n' >src/stats/two.c
	printf 'int main(void)\n{\n\treturn 0;\n}\n' | gcc -x c - -o build/bin/one
	archive base one
	archive stats two
	printf '[%s]\n' "$(compile_command src/base/one.c),$(compile_command src/stats/two.c)" >build/meson/compile_commands.json
	git init -q . && git commit -q --allow-empty -m 'one: older than the rule' && older=$(git rev-parse HEAD)
	commit 'two: a tree' 'Something to check.' && commit 'three: nothing' 'A commit after the rule.'
}

compile_command() { printf '{"directory":"%s","file":"%s","command":"cc -Isrc -c %s"}' "$PWD" "$1" "$1"; }

archive() {
	gcc -Isrc -c "src/$1/$2.c" -o "build/meson/src/$1/$2.o"
	ar crs "build/meson/src/$1/lib$1.a" "build/meson/src/$1/$2.o"
}

commit() {
	git add -A
	git commit -q --allow-empty -m "$1" ${2:+-m "$2"}
}

# fails PART WHAT PATTERN: the part fails, and its output has the pattern; then the tree is sound again.
fails() {
	run tools/lint build/meson "$1"
	is "$1 fails: $2" "$status" 1
	like "$1 reports it: $2" "$out$err" "$3"
	git reset -q --hard "$sound" && git clean -qfd
}

sound_tree
sound=$(git rev-parse HEAD)
mapfile -t parts < <(sed -n 's/^parts=(\(.*\))$/\1/p' tools/lint | tr ' ' '\n' | grep -v '^self-test$')
run tools/lint build/meson "${parts[@]}"
is 'a sound tree passes' "$status" 0
is 'and every part was counted' "$(tail -n 1 <<<"$out")" "${#parts[@]} passed, 0 failed"
[[ $status == 0 ]] || diag "$out$err"

run tools/lint build/meson no-such-part
is 'an unknown part is a usage error' "$status" 2

printf 'int  one(void);\n' >src/base/one.h
fails layout 'two spaces' 'one\.h'
printf '/* %0120d */\n' 0 >>src/base/one.h
fails layout 'a long line' 'one\.h:2: longer than 120'

printf '#include "stats/two.h"\n' >>src/base/one.h
fails layers 'an include against the arrows' 'one\.h:2: base must not use "stats/two\.h"'
printf '#include <stats/two.h>\n' >>src/base/one.h
fails layers 'the same in angle brackets' 'one\.h:2: base must not use "stats/two\.h"'
mkdir src/third && touch src/third/three.c
fails layers 'a directory without a layer' 'src/third is not in src/layers\.txt'
printf 'base: stats\nstats: base\n' >src/layers.txt
fails layers 'a circle' 'circle'
printf 'base:\nstats: base bas\n' >src/layers.txt
fails layers 'an arrow to nothing' "'bas' is neither"
printf 'int two(void);\n' >src/stats/two.c
fails layers 'an arrow that no include needs' 'no include needs stats -> base'
printf '| src/stats | sums | - |\n' >ARCHITECTURE.md
fails layers 'a wrong row of the code map' "src/stats uses 'base', not '-'"

printf 'int two(void)\n{\n\treturn atoi("2");\n}\n' >src/stats/two.c
fails banned 'atoi' 'two\.c:3: atoi is banned'
# shellcheck disable=SC1003 # a character of C
printf '%s\n' "char c = '\"'; int i = atoi(s); char d = '\"';" >src/stats/two.c
fails banned 'atoi between quotes that are characters' 'two\.c:1: atoi is banned'

printf 'int two(void)\n{\n\treturn fork();\n}\n' >src/stats/two.c
fails banned 'a process that launch does not start' 'two\.c:3: fork starts a program: use launch/'
printf 'int two(void)\n{\n\treturn execvp(name, argv);\n}\n' >src/stats/two.c
fails banned 'a program that launch does not execute' 'two\.c:3: execvp starts a program: use launch/'
printf 'int two(void)\n{\n\treturn p->fork();\n}\n' >src/stats/two.c
run tools/lint build/meson banned
is 'a member of that name is another function' "$status" 0
mkdir src/launch && printf 'int two(void);\n' >src/launch/two.c
fails banned 'an exception that is not needed' 'src/duet/barrier\.c: is an exception of a rule that it keeps'
printf 'void one(void)\n{\n\tfprintf(stderr, "");\n}\n' >src/base/one.c
fails banned 'base that prints' 'one\.c:3: fprintf prints or exits'
printf 'void one(void)\n{\n\tabort();\n}\n' >src/base/one.c
fails banned 'base that aborts' 'one\.c:3: abort prints or exits'
printf 'void one(void)\n{\n\tstatic int calls;\n\tcalls++;\n}\n' >src/base/one.c
fails banned 'base with state in a function' 'one\.c:3: calls is state'
printf 'int calls = 3;\n' >src/base/one.c
fails banned 'base with global state' 'one\.c:1: calls is state'

printf 'void two(void)\n{\n\tfputs("", stderr);\n}\n' >src/stats/two.c
fails banned 'a library that writes to stderr' 'two\.c:3: stderr belongs to the main functions'
printf 'void two(void)\n{\n\tputs("");\n}\n' >src/stats/two.c
fails banned 'a library that prints' 'two\.c:3: puts prints'
mkdir src/cli && printf 'void two(void)\n{\n\tqsort(a, 1, 1, f);\n}\n' >src/cli/two.c
fails banned 'a command that computes' 'two\.c:3: qsort computes'
printf 'void two(void)\n{\n\tcalloc(1, 1);\n}\n' >src/stats/two.c
fails banned 'statistics that allocate' 'two\.c:3: calloc allocates'
mkdir src/query && printf 'void two(void)\n{\n\tunlink("a");\n}\n' >src/query/two.c
fails banned 'a query that writes' 'two\.c:3: unlink writes'
mkdir src/fleet && printf '#include <nats/nats.h>\n' >src/fleet/two.c
fails banned 'another user of libnats' 'two\.c:1: nats/nats\.h: libnats'

printf 'Invariants:\n\n* It is fast (`tests/one.t`).\n' >src/base/README.md
run tools/lint build/meson invariants
is 'an invariant with its test passes' "$status" 0
printf 'Invariants:\n\n* It is fast.\n' >src/base/README.md
fails invariants 'no test beside it' 'README\.md:3: no test or lint beside: It is fast'
printf 'Invariants:\n\n* It is fast (`tests/two.t`).\n' >src/base/README.md
fails invariants 'a test that does not exist' "README\.md:3: 'tests/two\.t' not found"
printf 'Invariants: it is fast (`tests/one.t`).\n' >src/base/README.md
fails invariants 'prose' 'not a list'

printf '#include <math.h>\nint main(int n, char **v)\n{\n\treturn (int)cos(n);\n}\n' | gcc -x c - -lm -o build/bin/one
fails needed 'another library' 'needs libm\.so\.6'
cp build/bin/one build/bin/other
fails needed 'a program that is not listed' 'other is not in'
rm build/bin/*
fails needed 'no programs at all' 'no programs'

printf '#include "base/one.h"\n\nint one(void)\n{\n\treturn 2;\n}\n' >src/stats/two.c
archive stats two
fails one-definition 'a function in two contexts' 'one: defined in .*libbase\.a .*libstats\.a'
printf '__attribute__((weak)) int one;\n' >src/stats/two.c
archive stats two
fails one-definition 'a weak one' 'one: defined in'
rm build/meson/src/*/lib*.a
fails one-definition 'no libraries at all' 'no libraries'

commit "three: $(printf '%066d' 0)" 'Reason.'
fails commits 'a subject of 73 characters' 'has 73 characters'
commit "three: $(printf '%065d' 0)"
fails commits 'no body' 'the body is empty'
commit "three: $(printf '%065d' 0)" 'Reason.'
run tools/lint build/meson commits
is 'a subject of 72 characters with a body passes' "$status" 0
git reset -q --hard "$sound"
git merge -q -m 'Merge a branch' "$(git commit-tree -p "$older" -m 'older: from before the rule' "$older^{tree}")"
run tools/lint build/meson commits
is 'commits of an older branch that was merged are left alone' "$status" 0
git reset -q --hard "$sound"

printf 'rm $1/*\n' >>tests/one.t
fails shellcheck 'a word without quotes' 'SC2086'

bug='int two(int n)\n{\n\tif (n > 1 && n > 1)\n\t\treturn 1;\n\treturn 0;\n}\n'
# shellcheck disable=SC2059 # the text has the line ends
printf "int two(int n);\n\n$bug" >src/stats/two.c
fails clang-tidy 'a bug in a file that is not committed' 'misc-redundant-expression'
# shellcheck disable=SC2059
printf "int two(int n);\n\n$bug" >src/stats/two.c
commit 'three: a bug' 'Reason.'
fails clang-tidy 'a bug in a new commit' 'misc-redundant-expression'
# shellcheck disable=SC2059
printf "static inline $bug" >>src/base/one.h
fails clang-tidy 'a bug in a header' 'misc-redundant-expression'
LINT_BASE=no-such-commit fails clang-tidy 'a base that does not exist' 'no-such-commit'

printf 'int two(void)\n{\n\tint *p = (int *)0;\n\treturn *p;\n}\n' >src/stats/two.c
fails cppcheck 'a null pointer' 'nullPointer'

done_testing
