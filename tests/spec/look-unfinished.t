#!/bin/bash
# A run that is being recorded, and one whose recorder was killed: what is on disk is shown, the rest is said to be missing.
. "$(dirname "$0")/../lib/tap.sh"

holds() { jq -e "$1" <<<"$out" >/dev/null; }

cat >program.py <<'PROGRAM'
import os, time
for i in range(3000):
    os.stat("/")
while not os.path.exists("stop"):
    time.sleep(0.01)
os.rename("stop", "stopped")
PROGRAM
"$SONDE" record -o live -- /usr/bin/python3 program.py 2>/dev/null &
recorder=$!

# The recorder writes what it has every now and then.
for _ in $(seq 100); do
	run "$SONDE" events --json live
	[[ $(wc -l <<<"$out") -gt 3000 ]] && break
	sleep 0.1
done
is 'events of a run that is being recorded' "$status" 0
ok 'there are some' test "$(wc -l <<<"$out")" -gt 3000
is 'they are valid and in order' "$(jq -s '([.[].ts_ns] | . == sort) and all(.[]; .call != null)' <<<"$out")" true
run "$SONDE" info live
is 'info of it' "$status" 0
like 'it says that it is not finished' "$out" 'the recorder has not finished'
run "$SONDE" info --json live
ok 'the state is in JSON' holds '.state == "recording" and .exit == null and (.loss | length > 0)'
run "$SONDE" export live
ok 'a trace of it is valid' holds .

kill -9 $recorder
{ wait $recorder; } 2>/dev/null
run "$SONDE" info live
is 'info after the recorder was killed' "$status" 0
like 'it says how to finish it' "$out" 'sonde recover'
run "$SONDE" events --json live
is 'events after it' "$status" 0
ok 'what was on disk is still there' test "$(wc -l <<<"$out")" -gt 3000

# The program lives on; let it end, and take the rings away.
touch stop
for _ in $(seq 100); do
	[[ -e stopped ]] && break
	sleep 0.1
done
run "$SONDE" recover --now live
is 'it can be recovered' "$status" 0
run "$SONDE" info --json live
ok 'and then says so' holds '.state == "recovered"'

done_testing
