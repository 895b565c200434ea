#!/bin/bash
# Trials that lag behind are stopped early: by steps they report, and by the time they take.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

cat >prog <<'SH'
#!/bin/sh
# 64 steps towards a loss of $1; slow trials would go on for long after the 16th step
for i in $(seq 64); do
	echo "step $i loss $(( $1 + 100 / i ))"
	[ "$1" -gt 40 ] && [ "$i" -ge 16 ] && sleep 0.2
done
echo "done" >>"$2"
SH
chmod +x prog
cat >study.yml <<YML
name: steps
command: [./prog, "{x}", $TEST_DIR/finished]
params: [{name: x, type: int, low: 0, high: 99, default: 5}]
objective: {name: loss, from: step, goal: minimize}
steps: 'step ([0-9]+) loss ([0-9.]+)'
early_stop: median
method: sobol
budget: {trials: 16}
confirm: 0
YML
run "$SONDE" tune study.yml --json
is 'the study ends well' "$status" 0
diag "$err"
cut=$(jq .cut <<<"$out")
ok 'some trials were cut' test "$cut" -ge 1
is 'those were not run to their end' "$(($(wc -l <finished) + cut))" 16
ok 'none of the better half was cut' holds '[.trials[] | select(.state == "cut") | .params.x] | all(. > 20)' "$out"

cat >slow.yml <<'YML'
name: slow
command: [sleep, "{t}"]
params: [{name: t, type: ordinal, choices: [0.1, 30], default: 0.1}, {name: n, type: int, low: 1, high: 9, env: N}]
objective: {name: wall}
method: sobol
budget: {trials: 6}
confirm: 0
YML
run "$SONDE" tune slow.yml --json
is 'a study of times ends well' "$status" 0
ok 'what takes far longer than the best is cut' holds '[.trials[] | select(.params.t == 30)] | length > 0 and all(.state == "cut")' "$out"

sed 's/name: slow/name: limited/; s/^objective/timeout: 300ms\ncap: no\nobjective/' slow.yml >limited.yml
run "$SONDE" tune limited.yml --json
ok 'without a cap the timeout fails it' holds '[.trials[] | select(.params.t == 30)] | length > 0 and all(.state == "failed")' "$out"

done_testing
