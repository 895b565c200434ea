#!/bin/bash
# Jobs of a fleet: run, fail, reach a target, are cancelled; and nothing is left.
. "$(dirname "$0")/fleet.sh"

run sonde job list
is 'without a fleet it fails' "$status" 1
like 'and says how to start one' "$err" 'sonde fleet up'

run sonde fleet up --agents 1 --lease 3s
is 'a fleet comes up' "$status" 0
like 'on loopback' "$out" '^nats://127\.0\.0\.1:[0-9]+$'
run sonde fleet up
is 'once' "$status" 1
is 'what holds the token is ours alone' "$(stat -c %a "$SONDE_FLEET_DIR/fleet.json" "$SONDE_FLEET_DIR/nats.conf" | sort -u)" 600
mapfile -t all < <(processes server; processes monitor; processes agent)
is 'server, monitor and agent' "${#all[@]}" 3

job=$(sonde submit --name greet --env 'WORD=two words' -- sh -c 'echo "$WORD"; pwd; echo oops >&2; exit 3')
like 'the id has the name and the time' "$job" '^greet_[0-9]{4}_[0-9]{6}_'
ok 'a job that exits with 3 has failed' wait_for is_now "$job" failed
is 'its code is told' "$(field "$job" exit_code)" 3
is 'what it printed is kept' "$(sonde job log "$job")" "two words
$TEST_DIR
oops"

job=$(sonde submit -- ./no-such-program)
ok 'a program that is not there: failed' wait_for is_now "$job" failed
is 'with 127' "$(field "$job" exit_code)" 127
like 'and the reason' "$(field "$job" why)" 'no-such-program'

job=$(sonde submit -- env -- seq 100000)
ok 'words that begin with a program' wait_for is_now "$job" "done"
run bash -c '"$0" job log "$1" | head -n 1; echo "${PIPESTATUS[0]}"' "$SONDE" "$job"
like 'whoever reads may have enough' "$out$err" '^1
(0|141)$'

cat >train.py <<'END'
import time
from sonde import job
for step in range(100000):
    job.report(step, 1 / (step + 1))
    if job.should_stop():
        print("stopped by word")
        break
    time.sleep(0.01)
END
job=$(sonde submit --target-loss 0.05 --window 5 --env "PYTHONPATH=$SONDE_STAGE/lib/sonde/python" -- /usr/bin/python3 train.py)
ok 'a training reaches its target' wait_for is_now "$job" "done"
is 'it says so' "$(field "$job" has_reached_target)" True
is 'the program ended by itself' "$(field "$job" exit_code) $(sonde job log "$job")" '0 stopped by word'
sonde job stats "$job" >stats.csv
is 'every step is in the CSV, once and in order' "$(/usr/bin/python3 -c '
import csv
rows = list(csv.DictReader(open("stats.csv")))
assert len(rows) >= 24 and [int(r["step"]) for r in rows] == list(range(len(rows)))
assert all(abs(float(r["loss"]) - 1 / (int(r["step"]) + 1)) < 1e-6 for r in rows)
print("yes")' 2>&1)" yes

# A server that is asked about a reader while it sends counts wrong how much is to come.
mapfile -t reports < <(for i in $(seq 2000); do echo "{\"epoch\":1,\"reports\":[[$i,1,0.5]]}"; done)
timeout 60 /usr/bin/python3 "$SOURCE_DIR/tests/fleet/nats.py" "$SONDE_FLEET_DIR/fleet.json" "sonde.job.$job.report" "${reports[@]}"
job=$(sonde submit -- true)
ok 'a job after many reports' wait_for is_now "$job" "done"
is 'is always in the list, as it is' "$(for _ in $(seq 40); do sonde job list | grep -c "^$job  *done"; done 2>&1 | sort -u)" 1

job=$(sonde submit -- bash -c 'trap "" TERM INT HUP; echo $$ >stubborn; setsid sh -c "trap \"\" TERM; echo \$\$ >daemon; while :; do sleep 1; done" & while :; do sleep 1; done')
ok 'a job that ignores TERM starts' wait_for test -s daemon
run sonde job cancel "$job"
is 'it can be cancelled' "$status" 0
like 'which is seen at once' "$(sonde job show "$job")" 'state +(stopping|cancelled)'
ok 'it ends' wait_for is_now "$job" cancelled
ok 'it is gone' is_gone "$(<stubborn)"
ok 'and its daemon' is_gone "$(<daemon)"
run sonde job cancel "$job"
is 'not twice' "$status" 1

sonde fleet drain
job=$(sonde submit -- touch never)
run sonde job cancel "$job"
ok 'cancelled before anybody took it' is_now "$job" cancelled
sonde fleet add
after=$(sonde submit -- true)
ok 'the next one runs' wait_for is_now "$after" "done"
ok 'the cancelled one does not' test ! -e never
run sonde job list
like 'the list has all' "$out" "$job +cancelled"
run sonde job show nobody
is 'a job that is not there' "$status" 1
run sonde job show 'a.*'
is 'is no pattern' "$status" 2

mapfile -t all < <(processes server; processes monitor; processes agent)
run sonde fleet down
is 'it goes down' "$status" 0
left=0
for pid in "${all[@]}"; do is_gone "$pid" || left=$((left + 1)); done
is 'nothing is left' "$left" 0
run sonde fleet down
is 'down twice is fine' "$status" 0

done_testing
