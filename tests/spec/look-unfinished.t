#!/bin/bash
# A run that is still being recorded, and one whose recorder was killed: what is on disk is shown, the rest is said to be missing.
. "$(dirname "$0")/../lib/tap.sh"

holds() { jq -e "$1" <<<"$out" >/dev/null; }

mkfifo gate
cat >program.sh <<'PROGRAM'
for i in $(seq 3000); do read line </proc/uptime; done
echo ready
while :; do read line </proc/uptime; done
PROGRAM
"$SONDE" record -o live -- bash program.sh >gate 2>/dev/null &
recorder=$!
read -r _ <gate

# The recorder flushes every now and then.
for _ in $(seq 100); do
	run "$SONDE" events --json live
	[[ $(wc -l <<<"$out") -gt 100 ]] && break
	sleep 0.1
done
is 'events of a run that is being recorded' "$status" 0
ok 'there are some' test "$(wc -l <<<"$out")" -gt 100
is 'they are valid and in order' "$(jq -s '([.[].ts_ns] | . == sort) and all(.[]; .call != null)' <<<"$out")" true
run "$SONDE" info live
is 'info of it' "$status" 0
like 'it says that it is not finished' "$out" 'the recorder has not finished'
run "$SONDE" info --json live
ok 'the state is in JSON' holds '.state == "recording" and .exit == null and (.loss | length > 0)'
run "$SONDE" export live
ok 'a trace of it is valid' holds .

program=$(pgrep -P "$(pgrep -P $recorder | head -n 1)" 2>/dev/null || :)
kill -9 $recorder $(pgrep -P $recorder) 2>/dev/null
wait $recorder 2>/dev/null
[[ -z $program ]] || kill -9 $program 2>/dev/null
run "$SONDE" info live
is 'info after the recorder was killed' "$status" 0
like 'it says how to finish it' "$out" 'sonde recover'
run "$SONDE" events --json live
is 'events after it' "$status" 0
ok 'what was on disk is still there' test "$(wc -l <<<"$out")" -gt 100

done_testing
