#!/bin/bash
# record-places: recording with a time limit, limits and a sandbox: exact ends, and nothing of the program is left.
. "$(dirname "$0")/../lib/tap.sh"

# leaves PID: the control groups that this recorder made; others make theirs meanwhile.
leaves() { find /sys/fs/cgroup -maxdepth 6 -name "sonde-$1-*" 2>/dev/null; }
# wait_gone PID: until it is dead, or a minute has passed.
wait_gone() {
	for _ in $(seq 600); do
		[ -d "/proc/$1" ] && ! grep -q '^State:.*[ZX] ' "/proc/$1/status" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}


run "$SONDE" record -o in-time --timeout 100s -- sh -c 'echo out; exit 5'
is 'a program that ends in time keeps its code' "$status" 5
is 'and its output' "$out" out
run "$SONDE" record -o killed --timeout 100s -- sh -c 'kill -USR1 $$'
is 'and its signal' "$status" 138
run "$SONDE" record -o missing --timeout 100s -- /no/such/program
is 'one that is not there is 127' "$status" 127

run "$SONDE" record -o asked --timeout 1s -- sh -c 'trap "echo asked; exit 3" INT; while :; do sleep 0.1; done'
is 'a timeout is 124' "$status" 124
is 'and asks first' "$out" asked
like 'the bundle has the real status' "$("$SONDE" info --json asked)" '"exit_code": *3'

run "$SONDE" record -o deaf --timeout 1s -- "$SONDE_TEST_ACTS" daemon-and-wait
is 'a deaf daemon: 124' "$status" 124
is 'its pid was told' "$(wc -l <<<"$out")" 1
ok 'and it is gone' wait_gone "$out"

run "$SONDE" record -o left --timeout 100s -- sh -c 'sleep 100 >/dev/null 2>&1 & echo $!'
is 'what a program leaves running in time' "$status" 0
ok 'goes on' kill -0 "$out"
kill "$out"

if "$SONDE" record -o probe --pids-limit 100 -- true 2>limits.log; then
	run "$SONDE" record -o pids --pids-limit 10 -- "$SONDE_TEST_ACTS" bomb
	is 'a limit of processes holds' "$out" 9
	run "$SONDE" record -o memory --memory-limit 64M -- "$SONDE_TEST_ACTS" grow
	is 'who takes too much memory is killed' "$status" 137
	like 'by whom is said, and what the limit was' "$("$SONDE" info memory)" 'killed by SIGKILL \(out-of-memory killer\) \(limit 64[.0]* MiB\)'
	run "$SONDE" record -v -o child --memory-limit 64M -- sh -c '"$0" grow; exit 3' "$SONDE_TEST_ACTS"
	is 'when it is a child the code is the program'"'"'s' "$status" 3
	like 'and it is said too' "$err" 'processes of the program were killed by the out-of-memory killer'
	run "$SONDE" record -o shot --memory-limit 64M -- sh -c 'kill -KILL $$'
	is 'another SIGKILL' "$status" 137
	unlike 'is just that' "$("$SONDE" info shot)" 'out-of-memory'
	"$SONDE" record -q -o outer --probes none --memory-limit 100M -- "$SONDE" record -q -o within -- "$SONDE_TEST_ACTS" grow
	like 'a limit that somebody else has set is known too' "$("$SONDE" info within)" 'SIGKILL \(out-of-memory killer\) \(limit 100[.0]* MiB\)'
	if "$SONDE" record -o box --sandbox --memory-limit 64M -- true 2>/dev/null; then
		"$SONDE" record -f -o box --sandbox --memory-limit 64M -- "$SONDE_TEST_ACTS" grow
		like 'in a sandbox too' "$("$SONDE" info box)" 'SIGKILL \(out-of-memory killer\)'
	else
		skip 'in a sandbox too' 'no sandbox here'
	fi
	run "$SONDE" record -o cpus --cpus 0.5 -- sh -c 'exit 4'
	is 'a program with a part of a CPU keeps its code' "$status" 4
	ok 'and is traced' grep -q . <("$SONDE" events cpus)
	"$SONDE" record -o leaf --cpus 1 -- find /sys/fs/cgroup -maxdepth 6 -name 'sonde-*' >during.log &
	recorder=$!
	wait "$recorder"
	like 'it has a leaf' "$(cat during.log)" "sonde-$recorder-"
	is 'which is not left' "$(leaves "$recorder")" ''
else
	skip 'limits' "$(head -1 limits.log)"
fi

if "$SONDE" record -o sandbox --sandbox -- true 2>sandbox.log; then
	echo before >file
	run "$SONDE" record -o boxed --sandbox -- sh -c 'echo x >file; cat file; exit 7'
	is 'a sandbox keeps the code' "$status" 7
	is 'shows what was written' "$out" x
	is 'and lets it vanish' "$(cat file)" before
	like 'and is traced' "$("$SONDE" events boxed)" 'file'
	"$SONDE" record -o boxed-timeout --sandbox --timeout 1s -- "$SONDE_TEST_ACTS" daemon-and-wait >/dev/null &
	recorder=$!
	wait "$recorder"
	is 'a timeout there is 124 too' "$?" 124
	is 'no leaf is left of it' "$(leaves "$recorder")" ''
else
	skip 'sandbox' "$(head -1 sandbox.log)"
fi

is 'no mount is left' "$(grep -c upperdir=/proc/u /proc/self/mountinfo)" 0
run "$SONDE" record --sandbox --image x -- true
is 'a sandbox in an image is refused' "$status" 2
run "$SONDE" record --cpus none -- true
is 'no number of CPUs is refused' "$status" 2
done_testing
