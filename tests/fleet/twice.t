#!/bin/bash
# What is delivered or told twice counts once; what a stranger says counts for nothing.
. "$(dirname "$0")/fleet.sh"

nats() { timeout 60 /usr/bin/python3 "$SOURCE_DIR/tests/fleet/nats.py" "$SONDE_FLEET_DIR/fleet.json" "$@"; }
# queue JOB: once more
queue() { nats "sonde.queue.$1" "$1"; }

cat >once.sh <<'END'
echo $$ >>"$1.runs"
while [ ! -e "$1.go" ]; do sleep 0.05; done
END
lines() { wc -l <"$1"; }

sonde fleet up --agents 2 --lease 3s >/dev/null || fail 'a fleet comes up'
run env SONDE_TOKEN=guess timeout 60 /usr/bin/python3 "$SOURCE_DIR/tests/fleet/nats.py" "$SONDE_FLEET_DIR/fleet.json" sonde.queue.x x
like 'without the token nobody is let in' "$err" 'Authorization Violation'

job=$(sonde submit -- sh once.sh running)
ok 'a job runs' wait_for test -s running.runs
queue "$job"
queue "$job"
other=$(sonde submit -- true)
ok 'the second agent works on' wait_for is_now "$other" "done"
is 'delivered again while it runs, it is not run again' "$(lines running.runs) $(field "$job" attempts) $(field "$job" state)" '1 1 running'
touch running.go
ok 'it ends' wait_for is_now "$job" "done"
queue "$job"
other=$(sonde submit -- true)
ok 'the agents work on' wait_for is_now "$other" "done"
is 'delivered after its end, it is not run again' "$(lines running.runs) $(field "$job" attempts)" '1 1'

epoch=$(field "$job" epoch)
nats "sonde.job.$job.event" "{\"event\":\"end\",\"epoch\":$epoch,\"exit_code\":9}" \
	"{\"event\":\"claim\",\"agent\":\"x\"}" 'no JSON' '{"event":"end"}' '[]'
is 'an end told again is refused' "$(field "$job" state) $(field "$job" exit_code) $(field "$job" attempts)" 'done 0 1'

sonde fleet halt
job=$(sonde submit -- sh once.sh both)
is_queued() { is_now "$1" queued; }
ok 'a job waits' wait_for is_queued "$job"
queue "$job"
touch both.go
sonde fleet add --agents 3
ok 'queued twice, it ends' wait_for is_now "$job" "done"
is 'after one run' "$(lines both.runs) $(field "$job" attempts)" '1 1'

# Whoever has lost the lease: its words are counted, not taken.
job=$(sonde submit -- sh once.sh stale)
ok 'a job runs' wait_for test -s stale.runs
epoch=$(field "$job" epoch)
nats "sonde.job.$job.event" "{\"event\":\"end\",\"epoch\":$((epoch - 1)),\"exit_code\":0}"
nats "sonde.job.$job.report" "{\"event\":\"report\",\"epoch\":$((epoch - 1)),\"rows\":[[1,0.5,1]]}"
is 'results of another lease are refused' "$(field "$job" state) $(field "$job" reports) $(field "$job" refused)" 'running 0 2'
kill -9 "$(<stale.runs)"
ok 'a job that is killed has failed' wait_for is_now "$job" failed
is 'with its signal' "$(field "$job" exit_code) $(field "$job" attempts)" '137 1'
sonde fleet down
done_testing
