#!/bin/bash
# sonde tune --paired: both sides of a pair see the same disturbance, which cancels.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

# A program whose value is disturbed by the moment it runs in: the pair reads the same moment from a file that
# changes with every trial's directory number.
cat >prog <<'PY'
#!/usr/bin/python3
import math, os, random, sys
x = float(sys.argv[1])
trial = os.path.basename(os.environ["SONDE_TUNE_DIR"]).split("-")[0]
common = random.Random("moment" + trial).gauss(0, 0.8)
print("value", (1 + 4 * (x - 0.3) ** 2) * math.exp(common))
PY
chmod +x prog
cat >study.yml <<'YML'
name: pair
command: [./prog, "{x}"]
params: [{name: x, type: float, low: 0, high: 1, default: 0.9}]
objective: {name: value, regex: 'value ([0-9.e-]+)'}
budget: {trials: 15}
confirm: 0
YML
run "$SONDE" tune --paired study.yml --json
is 'the study ends well' "$status" 0
diag "$err"
ok 'the best is near the truth, whatever the noise' holds '(.best.params.x - 0.3) | fabs < 0.1' "$out"
ok 'values are by the default' holds '(.trials[0].values.value - 1) | fabs < 1e-9' "$out"
ok 'and right' holds '(.best.value - 0.41) | fabs < 0.05' "$out"
is 'no trial runs beside its own configuration' "$(jq -s '(map(select(.ask)) | map({key: (.ask | tostring), value: .params}) | from_entries) as $p |
	[.[] | select(.beside and .beside != .tell) | select($p[.tell | tostring] == $p[.beside | tostring])] | length' sonde-tune/pair/journal.jsonl)" 0
is 'the journal has the ratios' "$(jq -s '[.[] | select(.tell) | has("ratio") and has("beside")] | all' sonde-tune/pair/journal.jsonl)" true
sed 's/^name:.*/name: speed/; s/^objective:.*/objective: {name: speed, regex: "value ([0-9.e-]+)", goal: maximize}/; s/trials: 15/trials: 8/; s/^command:.*/command: [.\/prog, "{x}", fails]/' study.yml >speed.yml
sed -i 's/^x = float.*/&\nif x == 0.9 and len(sys.argv) > 2: sys.exit(1)/' prog
run "$SONDE" tune --paired speed.yml --json
is 'a default that fails is one trial that failed' "$status $(jq -c '[.failed, .done]' <<<"$out")" '0 [1,7]'
ok 'more can be better' holds '.best.params.x as $x | [.trials[] | select(.state == "done") | (.params.x - 0.3) | fabs] | max as $far | ($x - 0.3 | fabs) > $far - 0.1' "$out"
run "$SONDE" tune study.yml -o alone --json
is 'the same without pairs ends well' "$status" 0
printf '%s\n' 'objectives: [{name: wall}, {name: cpu}]' 'command: [true]' 'params: [{name: x, type: bool, env: X}]' >two.yml
run "$SONDE" tune --paired two.yml
is 'two objectives cannot be paired' "$status" 2

# The first trial is alone, the second beside it; each counts how often it finds itself on another processor. Those of a
# pair go on until both have moved often, which is soon, or after a minute on a busy machine.
cat >places <<'PY'
#!/usr/bin/python3
import os, time
def processor():
    with open("/proc/self/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[36]
moves, last, all_of_it = 0, processor(), os.sched_getaffinity(0)
is_alone = not os.path.exists("moves.log")
end = time.monotonic() + (0.1 if is_alone else 100)
while time.monotonic() < end and len(os.listdir("often")) < 2:
    now = processor()
    moves, last = moves + (now != last), now
    if moves == 25:
        open("often/%d" % os.getpid(), "w").close()
assert os.sched_getaffinity(0) == all_of_it
open("moves.log", "a").write("%d\n" % moves)
PY
mkdir often
chmod +x places
printf '%s\n' 'name: places' 'command: [./places, "{x}"]' 'params: [{name: x, type: int, low: 1, high: 2}]' \
	'objective: {name: wall}' 'budget: {trials: 2}' 'confirm: 0' >places.yml
if [ "$(nproc)" -gt 1 ]; then
	run "$SONDE" tune --paired places.yml --json
	is 'a pair that computes ends well' "$status" 0
	diag "$err"
	diag "$(cat moves.log)"
	is 'both change places' "$(ls often | wc -l)" 2
else
	skip 'both change places' 'one processor'
fi
done_testing
