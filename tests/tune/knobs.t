#!/bin/bash
# A program that takes part: parameters reach its knobs before it first asks, its steps and metrics are measured.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

cat >study.yml <<YML
name: knobs
command: [sh, -c, '"\$PART" 20 | tee -a $TEST_DIR/said']
environment: {PART: "$SONDE_PART"}
params:
  - {name: threads, type: int, low: 1, high: 64, default: 2, knob: threads, class: live}
  - {name: rate, type: float, low: 0, high: 1, default: 0.25, knob: rate}
  - {name: mode, type: categorical, choices: [tiles, columns, rows], knob: mode}
  - {name: quick, type: bool, knob: quick}
objective: {name: loss, from: step}
limits:
  - {name: work, from: metric, min: 0}
  - {name: slow, metric: latency, min: 0}
  - {name: floor, from: metric, min: 0}
  - {name: samples, from: metric, min: 0}
budget: {trials: 6}
confirm: 0
YML
run "$SONDE" tune study.yml --json
is 'the study ends well' "$status" 0
diag "$err"
is 'all trials worked' "$(jq .done <<<"$out")" 6
is 'the knobs were what the trials said, from the first question on' "$(cat said)" \
	"$(jq -r '.trials[].params | "knobs \(.threads) \(.rate) \({"rows": 0, "columns": 1, "tiles": 2}[.mode]) \(if .quick then 1 else 0 end)"' <<<"$out" |
		/usr/bin/python3 -c 'import sys
for line in sys.stdin:
    a = line.split()
    print(a[0], a[1], "%.17g" % float(a[2]), a[3], a[4])')"
ok 'the objective is the last step of the first loop' holds '[.trials[] | (.values.loss - .values.floor - 0.4) | fabs < 1e-9] | all' "$out"
ok 'a counter is a sum' holds '[.trials[].values.work == 5] | all' "$out"
ok 'a rate is how many a second, which pauses of a millisecond bound' holds '[.trials[].values.samples | . > 0 and . <= 10000] | all' "$out"
ok 'a histogram is its mean' holds '[.trials[].values.slow == 1.5] | all' "$out"

sed 's/^objective.*/objective: {name: seconds, target: 3}/; /^limits/,/samples/d; s/name: knobs/name: target/; s/PART" 20/PART" 100000/; s/default: 2,/default: 18,/; s/\[tiles, columns, rows\]/[rows, columns]/' study.yml >target.yml
run "$SONDE" tune target.yml --trials 1 --json
is 'the time to a target is measured' "$(jq .done <<<"$out")" 1
ok 'and the run ends when it is known' holds '.trials[0].values.seconds > 0 and .trials[0].values.seconds < 90' "$out"
sed 's/target: 3/target: 0.001/; s/100000/5/; s/name: target/name: never/' target.yml >never.yml
run "$SONDE" tune never.yml --trials 6
is 'a target that is never reached fails' "$status" 1
like 'with words' "$err" 'it ended before its steps reached 0.001; the last was'

sed 's/high: 64/high: 99/; s/low: 1,/low: 90,/; s/default: 2,/default: 95,/; s/name: knobs/name: refused/' study.yml >refused.yml
run "$SONDE" tune refused.yml
like 'a value that the program refuses fails the trial' "$err" "knob 'threads' of the program does not accept this value"
sed 's/knob: threads/knob: thread/; s/name: knobs/name: typo/' study.yml >typo.yml
run "$SONDE" tune typo.yml --trials 1
like 'a knob that nobody asks for is told' "$out" "no run has read the knob 'thread'"
sed 's/, knob: rate/, class: live, env: RATE/; s/name: knobs/name: live/' study.yml >live.yml
run "$SONDE" tune live.yml
like 'what is live is a knob' "$err" "live.yml:6: parameter 'rate' cannot change while the program runs: it has no 'knob'"

cat >window.yml <<YML
name: window
command: ["$SONDE_PART", "0", $TEST_DIR/pids]
params: [{name: threads, type: int, low: 1, high: 64, default: 2, knob: threads, class: live}]
objective: {name: distance, from: step}
window: 10
timeout: 60s
budget: {trials: 12}
confirm: 3
YML
run "$SONDE" tune window.yml --json
is 'a program that keeps running is tuned' "$status" 0
diag "$err"
is 'it was started once' "$(wc -l <pids)" 1
is 'each trial has its own value' "$(jq '[.trials[] | .values.distance == ((.params.threads - 20) | fabs)] | all' <<<"$out")" true
ok 'the best is found' holds '(.best.params.threads - 20) | fabs <= 2' "$out"
ok 'and proven, by a difference since a distance can be 0' holds '.gain == "proven" and .difference.n == 3 and .ratio == null' "$out"
ok 'the program has ended' bash -c "! kill -0 $(cat pids) 2>/dev/null"
sed 's/from: step/from: pace/; s/name: window/name: pace/' window.yml >pace.yml
run "$SONDE" tune pace.yml --trials 2 --confirm 0 --json
ok 'the time from step to step is measured' holds '[.trials[].values.distance] | all(. > 0.0005 and . < 10)' "$out"
sed 's/, class: live//' window.yml >restart.yml
run "$SONDE" tune restart.yml
like 'all parameters must be live then' "$err" "restart.yml:3: parameter 'threads' does not go with 'window'"
sed 's/"0", .*\/pids\]/"1"]/; s/name: window/name: short/' window.yml >short.yml
run "$SONDE" tune short.yml
like 'a program that ends too soon fails' "$err" 'it ended before the window was complete'

cat >prog.py <<'PY'
import sonde
x = sonde.knob("x", 0.5, low=0.0, high=1.0)
for i in range(3):
    sonde.step("fit", i, (x - 0.3) ** 2)
PY
cat >python.yml <<YML
name: python
command: [/usr/bin/python3, $TEST_DIR/prog.py]
environment: {PYTHONPATH: "$SONDE_STAGE/lib/sonde/python"}
params: [{name: x, type: float, low: 0, high: 1, default: 0.9, knob: x}]
objective: {name: step}
confirm: 0
YML
run "$SONDE" tune python.yml --trials 2 --json
ok 'the same from Python' holds '[.trials[] | (.values.step - (.params.x - 0.3) * (.params.x - 0.3)) | fabs < 1e-9] | all' "$out"

done_testing
