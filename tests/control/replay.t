#!/bin/bash
# sonde rules replay: what rules would have done in a recorded run, on its own clock.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python

cat >app.py <<'END'
import time
import sonde
for i in range(100):
    sonde.counter("temperature", 40 + i)
    sonde.step("frame", i, i / 10)
    time.sleep(0.01)
END
"$SONDE" record -o app --name app -- /usr/bin/python3 app.py >/dev/null 2>&1
cat >rules.yml <<'END'
interval: 20ms
rules:
  - name: hot
    when: temperature{app="app"} > 100
    do: [ cap app 0.5 ]
  - name: frames
    when: rate(sonde_steps_total{app="app",step="frame"}[500ms]) > 1
    for: 100ms
    do: [ report it steps ]
  - name: never
    when: sonde_step_value{app="app"} > 1000
    do: [ end app ]
END
run "$SONDE" rules replay rules.yml app --app app
is 'it replays' "$status" 0
like 'a rule fires when its condition holds' "$out" 'hot: cap app 0.5  \(temperature\{app="app"\} = 1[0-9][0-9]\)'
like 'steps are there as they are live' "$out" 'frames: report it steps'
unlike() { if [[ $2 =~ $3 ]]; then fail "$1"; else pass "$1"; fi; }
unlike 'one whose condition never holds does not' "$out" 'never:'
first=$out
run "$SONDE" rules replay rules.yml app --app app
is 'the same again: the clock is the run'"'"'s' "$out" "$first"
run "$SONDE" rules replay rules.yml app --app app --json
ok 'as JSON' jq -es 'length >= 2 and all(.[]; has("seconds") and has("why"))' <<<"$out"
hot=$(jq -rs '[.[] | select(.rule == "hot")][0].seconds' <<<"$out") # when that is depends on how long the program took to start
run "$SONDE" rules explain rules.yml --run app --app app --at "${hot}s"
like 'explained with the values then' "$out" 'temperature\{app="app"\} > 100 = true'
run "$SONDE" rules explain rules.yml
like 'explained in words' "$out" 'rule hot'
printf 'rules:\n  - name: x\n    when: ratte(a[1s]) > 1\n    do: [report y]\n' >bad.yml
run "$SONDE" rules check bad.yml
is 'a bad file fails' "$status" 1
like 'with place and advice' "$err" "bad.yml:3: column 1: unknown function 'ratte'.*did you mean 'rate'"
run "$SONDE" rules chek rules.yml
is 'a word that is none is a usage error' "$status" 2
done_testing
