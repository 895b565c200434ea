#!/bin/bash
# What runs already can be watched: a process, a control group, the machine.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

mkfifo fifo
exec 9<>fifo
"$TRUTH" hold fifo >out &
target=$!

run "$SONDE" record -v -o pid --pid $target --duration 1s
is '--pid: it ends after its time' "$status" 0
is 'the run says what was observed' "$(jq .observed.pid pid/run.json)" $target
is 'the tracer was off' "$(jq -r '.probes[] | select(.name == "trace").state' pid/run.json)" off
"$SONDE" export --to folded -o folded pid
ok 'its stacks are there, though it ran before' grep -q '^truth;_start;.*main;.*burn' folded
ok 'and its CPU time' test "$("$SONDE" events pid --table task --json | jq "select(.tid == $target).run_ns")" -gt 0

if (($(id -u) == 0)); then
	run "$SONDE" record -q -o all --all-cpus --duration 1s
	is '--all-cpus: fine' "$status" 0
	ok 'the process is among all' test "$("$SONDE" events all --table sample --json | jq -c "select(.pid == $target)" | wc -l)" -gt 0
	group=
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[[ $(stat -f -c %T $root) == cgroup2fs ]] && mkdir $root/sonde-test.$$ 2>/dev/null && group=$root/sonde-test.$$ && break
	done
	if [[ $group ]] && echo $target >"$group/cgroup.procs"; then
		run "$SONDE" record -q -o group --cgroup "$group" --duration 1s
		is '--cgroup: fine' "$status" 0
		is 'only its processes' "$("$SONDE" events group --table sample --json | jq .pid | sort -u)" $target
	else
		skip '--cgroup' 'no control group can be made here'
	fi
else
	skip '--all-cpus' 'needs root'
fi
echo >&9
wait $target
[[ -z ${group-} ]] || wait_for rmdir "$group"

# Until it ends.
"$TRUTH" hold fifo >out &
target=$!
"$SONDE" record -q -o whole --pid $target &
recorder=$!
ok 'without --duration it goes on' wait_for test -s whole/run.json
echo >&9
wait $target
wait $recorder
is 'until the process ends' "$(jq -r .state whole/run.json)" complete

# Until Ctrl-C.
"$SONDE" record -q -o ctrl --probes system --all-cpus &
recorder=$!
wait_for test -s ctrl/run.json
kill -TERM $recorder
wait $recorder
is 'a signal ends it' "$?" 0
is 'and the run is whole' "$(jq -r .state ctrl/run.json)" complete

run "$SONDE" record --pid $$ -- true
is 'a program and a process: a usage error' "$status" 2
run "$SONDE" record --pid $$ --all-cpus
is 'two targets: a usage error' "$status" 2
run "$SONDE" record --duration 1s -- true
is '--duration of a program: a usage error' "$status" 2
run "$SONDE" record -q -o seconds --probes system --all-cpus --duration 0.2
is 'seconds may be without their unit' "$status $(jq '.wall_ns >= 200000000' seconds/run.json)" '0 true'
run "$SONDE" record -q -o seconds2 --probes system --all-cpus --duration 0.2x
is 'but nothing else' "$status" 2
run "$SONDE" record -o nobody --pid 999999999
is 'a process that there is not: a failure' "$status" 125
run "$SONDE" record -o nobody --cgroup "$TEST_DIR/none" --duration 0.1s
is 'a control group that there is not: a failure' "$status" 125
like 'which says so' "$err" "cannot observe the control group '.*/none': No such file or directory"
run "$SONDE" record -o nobody --cgroup "$TEST_DIR" --duration 0.1s
is 'a directory that is none: a failure' "$status" 125
like 'which says so, too' "$err" 'not a cgroup'
ok 'and there is no run of them' test ! -e nobody
done_testing
