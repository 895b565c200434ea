#!/bin/bash
# A host that is cut off ends its job before another gets it, says nothing that counts later, and comes back.
. "$(dirname "$0")/fleet.sh"
. "$SOURCE_DIR/tests/lib/netns.sh"

agents=()
cut_exit() {
	local rc=$? pid
	for pid in "${agents[@]}"; do kill "$pid" 2>/dev/null; done
	wait "${agents[@]}" 2>/dev/null
	timeout 60 ip netns exec "$netns_tag-hub" "$SONDE" fleet down >/dev/null 2>&1
	netns_end
	(exit "$rc")
	tap_exit
}
trap cut_exit EXIT
netns_start 2
sonde() { timeout 60 ip netns exec "$netns_tag-hub" "$SONDE" "$@"; }

sonde fleet up --agents 0 --lease 3s --listen 10.98.0.1 >/dev/null || fail 'a fleet comes up'
like 'the server listens where it is told to' "$(fleet_json url)" '^nats://10\.98\.0\.1:[0-9]+$'
SONDE_FLEET_URL=$(fleet_json url)
SONDE_FLEET_TOKEN=$(fleet_json token)
agent() { # N; no function between, whose shell would be the process that is ended
	SONDE_FLEET_URL=$SONDE_FLEET_URL SONDE_FLEET_TOKEN=$SONDE_FLEET_TOKEN \
		ip netns exec "$netns_tag-$1" "$SONDE" agent --name "host$1" >"agent$1.log" 2>&1 &
	agents+=($!)
}

# Deaf to TERM; ends when the file `release` is there.
cat >work.sh <<'END'
trap '' TERM
[ ! -e attempts ] || ! kill -0 "$(head -n 1 attempts)" 2>/dev/null || touch overlap
echo "$$" >>attempts
env | grep -c '^SONDE_FLEET_TOKEN' >>tokens
while [ ! -e release ]; do sleep 0.05; done
END
agent 1
job=$(sonde submit -- sh work.sh)
ok 'the job runs on the first host' wait_for test -s attempts
is 'that is its agent' "$(field "$job" agent)" host1
netns_cut 1
agent 2
two() { [[ $(wc -l <attempts) == 2 ]]; }
ok 'cut off, another host gets it' wait_for two
first=$(head -n 1 attempts)
ok 'the first tree is gone by then' is_gone "$first"
ok 'and was when the second began' test ! -e overlap
netns_mend 1
ok 'the first agent is heard of again' wait_for is_heard host1 idle
touch release
ok 'the job ends' wait_for is_now "$job" "done"
is 'in its second attempt' "$(field "$job" attempts) $(field "$job" agent)" '2 host2'
is 'it was run twice, not more' "$(wc -l <attempts)" 2
is 'no job sees the token' "$(sort -u tokens)" 0

# A short cut is no loss: the agent renews in time, and all that was printed and reported meanwhile arrives, once.
kill "${agents[1]}"
wait "${agents[1]}" 2>/dev/null
cat >short.py <<'END'
import os, time
from sonde import job
for step in range(40):
    print(step, flush=True)
    job.report(step, step)
    if step == 5:
        open("short", "w").close()
    time.sleep(0.05)
END
job=$(sonde submit --env "PYTHONPATH=$SONDE_STAGE/lib/sonde/python" -- /usr/bin/python3 short.py)
ok 'another job runs' wait_for test -e short
netns_cut 1
sleep 1
netns_mend 1
ok 'cut off for a moment, it ends' wait_for is_now "$job" "done"
if [[ $(field "$job" attempts) == 1 ]]; then
	is 'all of its output is there, once' "$(sonde job log "$job")" "$(seq 0 39)"
	is 'and its reports' "$(sonde job stats "$job" | tail -n +2 | cut -d, -f2)" "$(seq 0 39)"
else # a machine that stood still for longer than the lease: the second attempt has all of it
	is 'all of its output is there, once' "$(sonde job log "$job")" "$(seq 0 39)"
	is 'and its reports' "$(sonde job stats "$job" | tail -n 40 | cut -d, -f2)" "$(seq 0 39)"
fi
done_testing
