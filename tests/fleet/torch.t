#!/bin/bash
# A training with parameter servers and workers on real torch: whoever is killed, it is not lost and nobody is left.
. "$(dirname "$0")/fleet.sh"

/usr/bin/python3 -c 'import torch' 2>/dev/null || skip_service 'python3-torch is not installed'
sonde fleet up --lease 4s >/dev/null || fail 'a fleet comes up'
train() { # SEED TARGET
	sonde submit --name torch --target-loss "$2" --env "PYTHONPATH=$SONDE_STAGE/lib/sonde/python" -- \
		/usr/bin/python3 "$SONDE_STAGE/share/sonde/jobs/sparse.py" --features 20000 --batch 64 --seed "$1"
}
# crew SEED: its processes, the chief first
crew() { pgrep -f "sparse.py --features 20000 --batch 64 --seed $1\$"; }
reports() { [[ $(field "$job" reports) -gt 3 ]]; }
nobody() { [[ -z $(crew "$1") ]]; }

job=$(train "90${$}1" 0.62)
ok 'a training reports' wait_for reports
kill -9 "$(processes agent)"
ok 'its agent killed, nobody of its crew is left' wait_for nobody "90${$}1"
sonde fleet add
for _ in {1..300}; do # it may take long where others are at work
	is_now "$job" "done" && break
	sleep 1
done
is 'started again, it reaches its target' "$(field "$job" state) $(field "$job" has_reached_target) $(field "$job" attempts)" 'done True 2'
ok 'and nobody is left' wait_for nobody "90${$}1"

job=$(train "90${$}2" 0.00001)
ok 'another one reports' wait_for reports
kill -9 "$(crew "90${$}2" | head -n 1)"
ok 'its chief killed, it has failed' wait_for is_now "$job" failed
is 'with its signal' "$(field "$job" exit_code)" 137
ok 'and nobody is left' nobody "90${$}2"

sonde fleet down
done_testing
