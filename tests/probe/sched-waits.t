#!/bin/bash
# Context switches account for every moment that a thread did not run.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

"$SONDE" record -q -o run -- "$TRUTH" sleeps 5 100 >truth
"$SONDE" events run --table sched --json >sched.rows
"$SONDE" events run --table task --json >task.rows

# Each sleep holds one wait of at least its length, and no longer than the program saw.
jq -r '.sleeps[] | "\(.[0]) \(.[1])"' truth >sleeps
while read -r from to; do
	wait=$(jq -s "map(select(.state == \"wait\" or .state == \"sleep\") | select(.ts_ns >= $from and .ts_ns + .dur_ns <= $to).dur_ns) | max // 0" sched.rows)
	ok "a sleep of 100 ms is a wait of as much" test "$wait" -ge 99000000
	ok 'and of no more than it took' test "$wait" -le $((to - from))
done <sleeps

# Conservation: what it ran and what it did not is its whole life.
off=$(jq -s 'map(.dur_ns) | add' sched.rows)
ran=$(jq .run_ns task.rows)
near 'time on and off the CPUs is the life of the thread' $((off + ran)) "$(jq '.end_ns - .start_ns' task.rows)" 0.02

# Waits for a lock: off the CPU for as long as the program waited, and the stack says for what.
"$SONDE" record -q -o locks -- "$TRUTH" locks 6 800 >truth
tid=$(jq .tid truth)
"$SONDE" events locks --table sched --json | jq -c "select(.tid == $tid)" >sched.rows
jq -r '.waits[] | "\(.[0]) \(.[1])"' truth >waits
while read -r from to; do
	off=$(jq -s "map(([.ts_ns + .dur_ns, $to] | min) - ([.ts_ns, $from] | max) | select(. > 0)) | add // 0" sched.rows)
	near 'a wait for a lock is time off the CPU' "$off" $((to - from)) 0.02
done <waits
is 'there were six' "$(wc -l <waits)" 6
# Long waits have a stack, and each names the lock: sampled as the thread was switched out, or seen while it waited.
stacks=$(jq 'select(.dur_ns >= 700000000).stack' sched.rows)
ok 'some are long' test -n "$stacks"
while read -r stack; do
	like 'its stack names the lock' "$("$SONDE" query --json locks "select function from frame where stack = $stack")" 'mutex_lock|lll_lock|futex'
done < <(sort -u <<<"$stacks")

# States: what each thread ran and what it did not is its life, and what it ran is what its own clock says.
"$SONDE" record -q -o states -- "$TRUTH" threads >truth
"$SONDE" query --json states "select tid, sum(ns) ns, sum(case state when 'running' then ns else 0 end) running from states group by tid" >states.json
"$SONDE" events states --table task --json >task.rows
for tid in $(jq .tid task.rows); do
	life=$(jq "select(.tid == $tid) | .end_ns - .start_ns" task.rows)
	near 'the states of a thread add up to its life' "$(jq ".[] | select(.tid == $tid).ns" states.json)" "$life" 0.02
done
jq -r '"\(.tid) \(.cpu_ns)"' truth >tids
while read -r tid cpu; do
	within 'running is what its own clock says' "$(jq ".[] | select(.tid == $tid).running" states.json)" "$cpu" "$(cpu_bound states "$cpu")"
done <tids

# has_begun RECORDER: its child is the program.
has_begun() { grep -qsx truth "/proc/$(tr -d ' ' <"/proc/$1/task/$1/children")/comm"; }

# hold_up RECORDER: for a while, once the program runs; its status is the recorder's.
hold_up() {
	wait_for has_begun "$1"
	kill -STOP "$1"
	sleep 1
	kill -CONT "$1"
	wait "$1"
}

# A recorder that is held up loses switches: states still add up, and nobody ran for longer than his CPU time.
"$SONDE" record -q -o lossy --probes cpu,sched,system -- "$TRUTH" echo 100000 >truth &
hold_up $!
is "lost switches: the program ended well" "$?" 0
diag "lost: $(jq '.probes[] | select(.name == "sched").lost' lossy/run.json)"
# Of a thread whose end was lost too its life is until the end of the run, and its CPU time may not be known.
"$SONDE" query --json lossy "select t.tid, coalesce(t.end_ns, r.end_ns) - coalesce(t.start_ns, r.start_ns) life, t.run_ns, sum(s.ns) ns,
	sum(case s.state when 'running' then s.ns else 0 end) running from run r, task t join states s on s.tid = t.tid group by t.tid" >lossy.json
ok 'lost switches: there are threads' test "$(jq length lossy.json)" -ge 1
is 'lost switches: states add up to lives' "$(jq '[.[] | select((.ns - .life | fabs) > .life * 0.02 + 1000000)] | length' lossy.json)" 0
is 'lost switches: nobody ran for longer than his CPU time' \
	"$(jq '[.[] | select(.run_ns != null and .running > .run_ns * 1.02 + 1000001)] | length' lossy.json)" 0
is 'lost switches: and nobody for less' \
	"$(jq '[.[] | select(.run_ns != null and .run_ns <= .life and .running < .run_ns * 0.98 - 1000001)] | length' lossy.json)" 0
is 'lost switches: the summary says the same' "$("$SONDE" summary lossy --json |
	jq --argjson n "$(jq 'map(.running) | add' lossy.json)" '(.states.running_ns - $n | fabs) <= $n * 0.02 + 2000000')" true

# One that is held up until the program is over: what did not fit is counted, though no record tells of it.
"$SONDE" record -q -o full --probes sched -- "$TRUTH" echo 60000 >truth &
hold_up $!
is 'a full ring: rows or losses, one of them' "$(jq '.probes[] | select(.name == "sched") | .lost > 0 or .events >= 60000' full/run.json)" true

# With the tracepoints: reasons and wakers, seen through a mount of our own.
first='pid:[4026531836]' # the PID namespace whose ids tracepoints have
if [ "$(readlink /proc/self/ns/pid)" != "$first" ]; then
	skip 'reasons and wakers' 'this is not the first PID namespace'
elif unshare -m sh -c 'mount -t tracefs nodev /sys/kernel/tracing && test -r /sys/kernel/tracing/events/sched/sched_switch/id' 2>/dev/null; then
	unshare -m sh -c "mount -t tracefs nodev /sys/kernel/tracing && '$SONDE' record -q -o echo -- '$TRUTH' echo 200" >truth
	parent=$(jq .parent truth) child=$(jq .child truth)
	"$SONDE" events echo --table sched --json >sched.rows
	is 'the recording says how it knows' "$(jq -r '.probes[] | select(.name == "sched").reasons' echo/run.json)" tracepoints
	woken() { jq -s "map(select(.pid == $1 and .state == \"sleep\" and .waker_pid == $2)) | length" sched.rows; }
	ok 'the child woke the parent' test "$(woken "$parent" "$child")" -gt 0
	ok 'the parent woke the child' test "$(woken "$child" "$parent")" -gt 0
	is 'nobody ran before he was woken' "$(jq -s 'map(select(.wake_ns != null and (.wake_ns < .ts_ns or .wake_ns > .ts_ns + .dur_ns))) | length' sched.rows)" 0
else
	skip 'reasons and wakers' 'tracefs cannot be mounted here'
fi
if unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
	unshare --mount --pid --fork --mount-proc sh -c "mount -t tracefs nodev /sys/kernel/tracing; '$SONDE' record -q -o inner -- '$TRUTH' echo 20" >/dev/null
	like 'in another PID namespace they are unknown' "$(jq -r '.probes[] | select(.name == "sched").reason' inner/run.json)" 'another PID namespace'
	is 'and no row has a waker' "$("$SONDE" events inner --table sched --json | jq -s 'map(select(.waker_pid != null)) | length')" 0
else
	skip 'wakers in another PID namespace' 'no PID namespace can be made here'
fi
done_testing
