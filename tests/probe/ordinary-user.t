#!/bin/bash
# An ordinary user gets user stacks, the tracer and counters, and one hint how to get more.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"

(($(id -u) == 0)) || skip_all 'only root can become somebody else'
(($(cat /proc/sys/kernel/perf_event_paranoid) == 2)) || skip_all 'perf_event_paranoid is not the usual 2'
chmod 755 "$TEST_DIR"
mkdir home
chown 65534:65534 home
as_nobody() { (cd home && HOME=$PWD XDG_CACHE_HOME=$PWD setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
if ! as_nobody test -x "$TRUTH" || ! as_nobody test -x "$SONDE"; then
	skip_all 'an ordinary user cannot reach the build'
fi
run as_nobody test -r /sys/kernel/tracing/events
[[ $status != 0 ]] || skip_all 'tracefs is open to everybody here'

run as_nobody "$SONDE" record -v -o run -- "$TRUTH" shares 30
is 'it runs' "$status" 0
state() { jq -r ".probes[] | select(.name == \"$1\").state" home/run/run.json; }
for probe in trace cpu sched system; do is "$probe ran" "$(state $probe)" ran; done
is 'one hint' "$(grep -c ^hint: <<<"$err")" 1
like 'that the kernel is not visible is said' "$err" 'user code only'
as_nobody "$SONDE" export --to folded -o folded run
ok 'user stacks are whole' grep -q ';main;.*seventy;burn' home/folded
is 'nothing of the kernel' "$(grep -c '_\[k\]' home/folded)" 0
ok 'counters of the process' test "$(as_nobody "$SONDE" events run --table counter --json | jq -c 'select(.name == "process.cpu_ns")' | wc -l)" -gt 0

# The kernel samples no switches for him: where threads wait is seen while they do.
as_nobody "$SONDE" record -q -o waits -- "$TRUTH" locks 3 800 >truth
stacks=$(as_nobody "$SONDE" events waits --table sched --json | jq "select(.tid == $(jq .tid truth) and .dur_ns >= 700000000).stack")
ok 'some waits are long' test -n "$stacks"
while read -r stack; do
	like 'which names the lock' "$(as_nobody "$SONDE" query --json waits "select function from frame where stack = $stack")" 'mutex_lock|lll_lock'
done < <(sort -u <<<"$stacks")

run as_nobody "$SONDE" record -o others --all-cpus --probes cpu --duration 1s
is 'others cannot be watched' "$status" 125
like 'and that has a reason' "$err" 'perf_event_paranoid|Permission|Operation'
done_testing
