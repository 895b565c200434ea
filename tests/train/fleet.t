#!/bin/bash
# Jobs of a fleet that are tuned while they train: configurations, best, plot and knobs from afar; files of jobs; a killed agent.
. "$(dirname "$0")/../fleet/fleet.sh"

export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
cat >job.py <<'PY'
import os, time
from sonde import job
place = os.path.join(job.directory or ".", "step")
step = int(open(place).read()) if os.path.exists(place) else 0
limit = float(os.environ.get("SPEED", "0.01"))
while True:
    if job.changed():
        print("take", job.knob("w", 1, 1, 8), flush=True)
    w = job.knob("w", 1, 1, 8)
    time.sleep(0.002 + 0.002 * abs(w - 4))
    step += 1
    job.report(step, 2 / (1 + limit * step), worker=step % w)
    if step % 50 == 0:
        with open(place, "w") as file:
            file.write(str(step))
    if job.should_stop():
        break
PY
printf 'params: [{name: w, type: int, low: 1, high: 8, default: 1, class: live}]\ntarget_loss: 0.4\nmoving_share: 9\n' >job.yml
sonde fleet up --agents 1 --lease 5s >/dev/null
submit() { sonde submit --env "PYTHONPATH=$PYTHONPATH" "$@" -- /usr/bin/python3 job.py; }

job=$(submit --tune job.yml)
like 'the list has its program, not what tunes it' "$(sonde job list)" "$job .* [^ ]*python3 job\.py"
like 'the id has the name of the job file' "$job" '^job_[0-9]{4}_[0-9]{6}_'
ok 'it ends' wait_for is_now "$job" "done"
is 'at its target' "$(field "$job" has_reached_target)" True
run sonde job configs "$job"
like 'its configurations' "$out" '0 +start .*w=1'
is 'as many as the program took up' "$(sonde job --json configs "$job" | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" \
	"$(sonde job log "$job" | grep -c '^take')"
run sonde job best "$job"
like 'its best' "$out" '^w=[1-8]$'
run sonde job plot "$job"
is 'its losses, drawn' "$status $(grep -c '\*' <<<"$out" | awk '{ print ($1 > 5) }')" '0 1'
sonde job stats "$job" >stats.csv
is 'each report has its configuration and worker' "$(/usr/bin/python3 -c '
import csv
rows = list(csv.DictReader(open("stats.csv")))
print(all(r["config"].isdigit() and r["worker"].isdigit() for r in rows), len({r["config"] for r in rows}) > 1)')" 'True True'
run sonde job best nobody
is 'of a job that is not there' "$status" 1

job=$(submit --tune job.yml --target-loss 0.00001)
ok 'a long job reports' wait_for eval '[[ $(field "$job" step) -gt 20 ]]'
run sonde job knob "$job" w=7
is 'a knob is set from afar' "$status" 0
# It may be there already, by chance: then it does not move, but stays.
last_w() { sonde job --json configs "$1" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["params"]["w"])'; }
is_at_7() { [[ $(last_w "$1") == 7 ]]; }
ok 'the tuner obeys' wait_for is_at_7 "$job"
before=$(field "$job" step)
is_past() { [[ $(field "$job" step) -gt $1 ]]; }
ok 'the job goes on' wait_for is_past $((before + 200))
is 'the knob stays where it was set' "$(last_w "$job")" 7
sonde job cancel "$job"
ok 'it is cancelled' wait_for is_now "$job" cancelled

cat >jobs.yml <<Y
- {name: one, command: [sh, -c, 'echo \$WORD'], environment: {WORD: hello}}
- {name: two, command: [/usr/bin/python3, job.py], environment: {PYTHONPATH: '$PYTHONPATH', SPEED: '1'}, target_loss: 0.5, window: 3}
- {name: three, command: [/usr/bin/python3, job.py], environment: {PYTHONPATH: '$PYTHONPATH'}, tune: job.yml, target_loss: 1, times: 2}
Y
run sonde submit --batch jobs.yml
is 'a file of jobs' "$status $(wc -l <<<"$out")" '0 4'
mapfile -t ids <<<"$out"
for id in "${ids[@]}"; do ok "${id%%_*} ends" wait_for is_now "$id" "done"; done
is 'with its variables' "$(sonde job log "${ids[0]}")" hello
is 'at their targets' "$(field "${ids[1]}" has_reached_target) $(field "${ids[2]}" has_reached_target)" 'True True'

printf -- '- {name: x, comand: [true]}\n' >bad.yml
run sonde submit --batch bad.yml
is 'a file that is wrong' "$status" 1
like 'is named with line and word' "$err" "bad.yml:1: .*comand"
echo 'x: 1' >bad.yml
run sonde submit --batch bad.yml
like 'one that is no list' "$err" 'a job list must be a list'
run sonde submit job.yml -- /usr/bin/python3 job.py
is 'a job file in the place of the program is refused' "$status" 1
like 'with the way to give it' "$err" 'hint: to use a training job file: --tune job\.yml'
run sonde submit --tune bad.yml -- true
like 'a job file that is wrong is refused here, not there' "$err" 'bad.yml'
run sonde submit --batch jobs.yml -- true
is 'a batch and a program' "$status" 2

job=$(submit --tune job.yml --target-loss 0.05)
ok 'a job that will lose its agent' wait_for eval '[[ $(field "$job" step) -gt 100 ]]'
kill -KILL "$(processes agent)"
sonde fleet add >/dev/null 2>&1 || sonde fleet up --agents 1 >/dev/null 2>&1
ok 'ends on another' wait_for is_now "$job" "done"
is 'at its target, at the second attempt' "$(field "$job" has_reached_target) $(field "$job" attempts)" 'True 2'
like 'it went on with what it had learnt' "$(sonde job log "$job")" 'resuming after [0-9]+ configurations'

done_testing
