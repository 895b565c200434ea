#!/bin/bash
# Stacks of a CPython program name its functions, among the native frames, and their shares are true.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf
python=/usr/bin/python3
truth=$SOURCE_DIR/tests/probe/python-truth.py
version=$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>&1)
[[ $version == 3.11 || $version == 3.13 || $version == 3.14 ]] || skip_all "Python frames are read of CPython 3.11, 3.13 and 3.14; here is $version"

of_probe() { jq "[.probes[] | select(.name == \"$2\").$1] | add" "$3/run.json"; }
share() { awk -v f=";$1 (" '{ n += $NF } index($0, f) { k += $NF } END { print k / n }' "$2"; }
# lost_share RUN FOLDED: samples of Python code whose frames came too late to be believed; the run says how many.
lost_share() { awk -v lost="$(of_probe lost python "$1")" '{ n += $NF } END { print lost / n }' "$2"; }
line_of() { grep -n "^ *def $1(\|^ *class $1" "$truth" | cut -d: -f1; }
# shares_are_true RUN FOLDED WHAT: 3 standard deviations of so many samples, 2 %, as much for the interpreter's start, and
# what was lost, as the run says.
shares_are_true() {
	local n bound
	n=$(awk '{ n += $NF } END { print n }' "$2")
	bound=$(awk -v n="$n" -v lost="$(lost_share "$1" "$2")" 'BEGIN { print 0.04 + 3 * sqrt(0.21 / n) + lost }')
	within "$3: thirty has its share" "$(share thirty "$2")" 0.3 "$bound"
	within "$3: so has seventy" "$(share seventy "$2")" 0.7 "$bound"
	ok "$3: most samples have their frames" awk -v lost="$(lost_share "$1" "$2")" 'BEGIN { exit !(lost < 0.5) }'
}

"$SONDE" record -q -o run --freq 499 -- $python "$truth" shares 20 >out
is 'the program ran' "$(jq .pid out | wc -l)" 1
"$SONDE" export --to folded -o folded run
shares_are_true run folded 'two functions'
like 'a stack goes from the first native frame to the Python function' "$(cat folded)" \
	"_start;.*;main \\(python-truth.py:$(line_of main)\\);shares \\(python-truth.py:[0-9]+\\);thirty \\(python-truth.py:$(line_of thirty)\\);burn"
is 'the interpreter calls that ran them are not there twice' "$(grep -c 'EvalFrameDefault.*;thirty' folded)" 0
is 'the version is written down' "$(jq -r '.probes[] | select(.name == "python").version' run/run.json | cut -d. -f1,2)" "$version"
is 'the module is the source file' "$("$SONDE" events run --table module --json | jq -r 'select(.kind == "python").path' | grep -c 'python-truth.py$')" 1

# Lines: of burn only those of its body.
burn=$(line_of burn)
module=$("$SONDE" events run --table module --json | jq "select(.path == \"$truth\").module")
start=$("$SONDE" events run --table symbol --json | jq "select(.module == $module and (.name | startswith(\"burn \"))).start")
lines=$("$SONDE" events run --table stack --json |
	jq "select(.module == $module and .address >= $start and .address < $start + 16777216).address - $start" | sort -nu)
ok 'lines of a function are in its body' test "$(head -1 <<<"$lines")" -gt "$burn" -a "$(tail -1 <<<"$lines")" -le $((burn + 6))
ok 'and there are several' test "$(wc -l <<<"$lines")" -ge 2

# All kinds of code. Each runs for the same 0.3 s (threads 0.4), so each is there with some of its samples.
"$SONDE" record -q -o kinds --freq 499 -- $python "$truth" kinds >out
is 'the program of all kinds ran' "$(jq .pid out | wc -l)" 1
"$SONDE" export --to folded -o folded kinds
n=$(awk '{ n += $NF } END { print n }' folded)
seconds=$(awk -v n="$n" 'BEGIN { print n / 499 }')
for name in alpha beta generator deep key extension in_child Größe.method made; do
	want=$(awk -v n="$name" -v s="$seconds" 'BEGIN { print (n == "alpha" || n == "beta" ? 0.4 : 0.3) / s }')
	within "$name has its share" "$(share "$name" folded)" "$want" \
		"$(awk -v p="$want" -v n="$n" -v lost="$(lost_share kinds folded)" 'BEGIN { print 0.02 + 4 * sqrt(p / n) + lost }')"
done
like 'threads have stacks of their own' "$(cat folded)" ';Thread.run \(threading.py:[0-9]+\);.*alpha \('
is 'a deep recursion is whole' "$(grep -m1 ';deep (.*;burn' folded | tr ';' '\n' | grep -c '^deep (')" 901
like 'a callback through C: Python, C, Python' "$(cat folded)" 'through_c \([^;]*;[^(]*;key \('
like 'an extension is called by Python' "$(cat folded)" 'extension \([^;]*;.*(deflate|libz)'
like 'code that exec made has the name that it was given' "$(cat folded)" ';made \(<made>:1\);burn'

# What is there already, another PID namespace, a user without rights.
$python "$truth" shares 10 >/dev/null &
pid=$!
"$SONDE" record -q -o attached --freq 499 --pid $pid
wait $pid
"$SONDE" export --to folded -o folded attached
ok 'a process that runs already' grep -q ';seventy (python-truth.py' folded
if unshare -pf --mount-proc true 2>/dev/null; then
	"$SONDE" record -q -o apart --freq 499 -- unshare -pf --mount-proc $python "$truth" shares 10 >/dev/null
	"$SONDE" export --to folded -o folded apart
	ok 'a process with other numbers for its threads' grep -q ';seventy (python-truth.py' folded
else
	skip 'a process with other numbers for its threads' 'no PID namespaces here'
fi

# A user without rights: his own programs, of which the recorder is the parent.
if (($(id -u) == 0)); then
	chmod 755 "$TEST_DIR"
	mkdir home
	chown 65534:65534 home
	as_nobody() { (cd home && HOME=$PWD XDG_CACHE_HOME=$PWD setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
	if as_nobody test -x "$SONDE" && as_nobody test -r "$truth"; then
		run as_nobody "$SONDE" record -v -o run --freq 499 -- $python "$truth" shares 10
		is 'an ordinary user: the program ran' "$status" 0
		as_nobody "$SONDE" export --to folded -o folded run
		shares_are_true home/run home/folded 'an ordinary user'
		cost=$(of_probe read_ns python home/run)
		ok 'what it cost is told' test "$cost" -gt 0
		diag "$(awk -v c="$cost" -v w="$(jq .wall_ns home/run/run.json)" 'BEGIN { printf "%.2f %% of a CPU", 100 * c / w }')"
	else
		skip 'an ordinary user' 'an ordinary user cannot reach the build'
	fi
else
	pass 'an ordinary user is who runs this'
fi

# An interpreter that is gone before anybody looks: nothing breaks.
for ((i = 0; i < 5; i++)); do echo "$python -S -c pass"; done >many
run "$SONDE" record -q -o short -- sh many
is 'short-lived interpreters' "$status" 0

# Others are refused with the reason.
run "$SONDE" record -v -o alone --probes python -- true
like 'without samples there is nothing to name' "$err" 'python: failed: Python frames belong to samples'
# python_of VERSION: one that works, of the system or of pyenv.
python_of() {
	local one
	for one in "$(command -v "python$1")" ~/.pyenv/versions/"$1".*/bin/"python$1"; do
		[[ -x $one ]] && "$one" -c pass 2>/dev/null && echo "$one" && return
	done
}
for other in 2.7 3.6 3.8 3.10 3.12; do
	one=$(python_of $other)
	if [[ $one ]]; then
		"$SONDE" record -q -o "other$other" --freq 499 -- "$one" -c 'sum(i * i for i in range(3000000))'
		like "CPython $other is refused" "$(jq -r '.probes[] | select(.name == "python").reason' "other$other/run.json")" 'CPython'
	else
		skip "CPython $other is refused" "no python$other here"
	fi
done
one=$(python_of 3.13)
if [[ $one ]]; then
	"$SONDE" record -q -o new --freq 499 -- "$one" "$truth" shares 20 >/dev/null
	"$SONDE" export --to folded -o folded new
	shares_are_true new folded 'CPython 3.13, by its own offsets'
	is 'its version is written down' "$(jq -r '.probes[] | select(.name == "python").version' new/run.json | cut -d. -f1,2)" 3.13
	"$SONDE" record -q -o new-kinds --freq 499 -- "$one" "$truth" kinds >/dev/null
	"$SONDE" export --to folded -o folded new-kinds
	like 'CPython 3.13: threads have stacks of their own' "$(cat folded)" ';Thread.run \(threading.py:[0-9]+\);.*alpha \('
	is 'CPython 3.13: a deep recursion is whole' "$(grep -m1 ';deep (.*;burn' folded | tr ';' '\n' | grep -c '^deep (')" 901
	like 'CPython 3.13: names are any letters' "$(cat folded)" 'Größe.method'
else
	skip 'CPython 3.13, by its own offsets' 'no python3.13 here'
fi
done_testing
