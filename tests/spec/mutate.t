#!/bin/bash
# tools/mutate finds what a unit test does not check, does not count what is listed as equivalent, and leaves no trace.
. "$(dirname "$0")/../lib/tap.sh"

mkdir -p project/{tools,src/engine,tests/unit/engine}
cd project || exit 1
cp "$SOURCE_DIR/tools/mutate" tools/
cat >meson.build <<'END'
project('one', 'c')
lib = static_library('engine', 'src/engine/one.c')
subdir('tests/unit/engine')
END
cat >src/engine/one.c <<'END'
int one(int a);
int two(int a);

int one(int a)
{
	return a < 3 ? 1 : 2;
}

int two(int a)
{
	return a > 5;
}
END
cat >tests/unit/engine/meson.build <<'END'
test('one', executable('one', 'one.c', link_with: lib))
END
cat >tests/unit/engine/one.c <<'END'
int one(int a);
int two(int a);

int main(void)
{
	return one(2) == 1 && one(3) == 2 && one(4) == 2 && two(1) == 0 && two(9) == 1 ? 0 : 1;
}
END
meson setup build/meson >/dev/null && ninja -C build/meson >/dev/null
sums() { find src build/meson -name '*.[coa]' -exec md5sum {} + | sort; }
before=$(sums)

run tools/mutate --module engine --seed 7 --count 100
is 'it runs' "$status" 0
like 'a boundary that the test misses survives, with its line' "$out" 'survived src/engine/one.c:11
  - return a > 5;
  \+ return a >= 5;'
unlike 'a boundary that it checks does not' "$out" 'one.c:6'
like 'the seed and the rate are printed' "$out" 'seed 7: [0-9]+ of [0-9]+ mutants killed'
is 'sources and build are unchanged' "$(sums)" "$before"
is 'nothing is left' "$(ls build)" meson
first=$out
run tools/mutate --module engine --seed 7 --count 100
is 'the same seed is the same sample' "$(sort <<<"$out")" "$(sort <<<"$first")"

printf '%s\n' src/engine/one.c '- return a > 5;' '+ return a >= 5;' 'The caller never passes 5.' >tools/mutate-equivalent.txt
run tools/mutate --module engine/one.c --seed 7 --count 100
unlike 'a listed mutant is not run' "$out" 'a >= 5'
like 'but counted' "$out" 'engine +1 +[0-9]+ +[0-9]+ +1 '

run tools/mutate --module engine --seed 7 --count 100 --min-rate 100
is 'a rate below the limit fails' "$status" 1
run tools/mutate --module nothing
is 'an unknown module fails' "$status" 1
like 'and the known ones are printed' "$err" "unknown module 'nothing' \(supported: analyze"
done_testing
