#!/bin/bash
# sonde session: runs what the file says, leaves a run and a profile, judges it.
. "$(dirname "$0")/../lib/tap.sh"

APP=$SONDE_TEST_APP
printf 'hello\n' >data.txt
sum=$(sha256sum data.txt | cut -d' ' -f1)

# profile FILE DIR: run that session; what it prints is kept for field.
profile() {
	run "$SONDE" session "$1" -o "$2" --json
	cp "$TEST_DIR/.out" "$TEST_DIR/profile"
}

# field EXPRESSION: of the profile that was printed (p).
field() { /usr/bin/python3 -c "import json,sys
p = json.load(open('$TEST_DIR/profile'))
v = {(x['name'], x.get('step') or x.get('metric') or x.get('phase')): x for x in p['values']}
print($1)"; }

cat >app.yml <<EOF
name: counter
command: [$APP]
args: 20 5 {dataset}
env: { COLOUR: green }
dataset: { source: "file:data.txt", sha256: $sum }
repeats: 2
timeout: 60s
outputs: [json, openmetrics, csv, html]
EOF
profile app.yml out
is 'a session ends well' "$status" 0
is 'both repeats ran' "$(field "len(p['repeats'])")" 2
is 'every step was counted' "$(field "v['steps','frame']['each']")" '[20, 20]'
# Steps take 5 ms at least, so there are 200 a second at most.
is 'steps a second are possible ones' "$(field "0 < v['steps_per_second','frame']['max'] <= 200")" True
is 'processor time and memory are there' "$(field "v['cpu_seconds',None]['min'] > 0 and v['max_rss_bytes',None]['min'] > 4096")" True
is 'it recommends more than it saw' \
	"$(field "p['recommended']['memory_bytes'] > v['max_rss_bytes',None]['max'] and p['recommended']['cpus'] > v['cpus',None]['max']")" True
is 'metrics are in the profile too' "$(field "[v['metric_total','boxes']['each'], v['metric_mean','latency_seconds']['each'], v['metric_rejected','latency_seconds']['each']]")" '[[42, 42], [0.5, 0.5], [1, 1]]'
# What is counted once in 5 ms at least is counted 200 times a second at most, of pairs 400.
is 'a counter has its rate' "$(field "0 < v['metric_per_second','frames']['min'] <= v['metric_per_second','frames']['max'] <= 200")" True
is 'so has a rate, and its sum' \
	"$(field "0 < v['metric_per_second','objects']['min'] <= v['metric_per_second','objects']['max'] <= 400, v['metric_total','objects']['each']")" \
	'True [40, 40]'
is 'phases: how often, and how long' \
	"$(field "v['phase_count','wait']['each'], v['phase_seconds','wait']['min'] >= 0.1, v['phase_mean_seconds','wait']['min'] >= 0.005")" \
	'[20, 20] True True'
is 'the dataset is known by its digest' "$(field "p['dataset']['sha256']")" "$sum"
like 'the application found its data' "$err" 'data: hello'
like 'and its environment' "$err" 'colour: green'
ok 'the profile is in the run' cmp -s out/profile.json profile
run "$SONDE" info out
is 'the run can be looked at' "$status" 0
run "$SONDE" info out/repeats/2
is 'so can the second' "$status" 0
is 'the CSV has a line for every value of every repeat' "$(wc -l <out/profile.csv)" "$(field "1 + 2 * len(p['values'])")"
like 'OpenMetrics has the rate' "$(<out/profile.om)" 'sonde_session_steps_per_second\{session="counter",step="frame"\} [0-9.]+'
like 'and that of the counter' "$(<out/profile.om)" 'sonde_session_metric_per_second\{session="counter",metric="frames"\} [0-9.]+'
is 'and ends as it must' "$(tail -n 1 out/profile.om)" '# EOF'
like 'CSV has it' "$(<out/profile.csv)" '2,metric_per_second,"frames",[0-9.]+'
like 'and the page' "$(<out/profile.html)" '<td>metric_per_second</td><td>frames</td><td class=n>2</td>'

# A burst in the warm-up is no part of the rate. A busy machine is late: then it is given more time, and tried again.
cat >burst.py <<'EOF'
import os
import sys
import time
import sonde
warm = float(sys.argv[1])
sonde.metric_add("work", 1e6)
if time.time() - float(os.environ["BEGUN"]) < warm / 2:
    open("in-time", "w").close()
for i in range(int(warm * 300)):
    sonde.metric_add("work", 1)
    time.sleep(0.01)
EOF
for warm in 1 2 4 8; do
	rm -rf in-time burst
	printf 'command: [/usr/bin/python3, burst.py, "%s"]\nwarm_up: %ss\nenv: { PYTHONPATH: %s, BEGUN: "%s" }\n' \
		"$warm" "$warm" "$SONDE_STAGE/lib/sonde/python" "$(date +%s.%N)" >burst.yml
	profile burst.yml burst
	rate=$(field "v['metric_per_second','work']['median']")
	[[ -e in-time && $rate != None ]] && awk -v r="$rate" 'BEGIN { exit !(r <= 101) }' && break
done
ok "what was counted in the warm-up is no part of the rate, $rate a second" awk -v r="$rate" 'BEGIN { exit !(r > 0 && r <= 101) }'
printf 'command: %s 5 5\nwarm_up: 1h\n' "$APP" >cold.yml
profile cold.yml cold
is 'what ends before it is warm has no rate' "$(field "v['metric_per_second','frames']['median']")" None

cat >fast.yml <<EOF
command: $APP 5 5
thresholds: { steps_per_second.frame: { min: 100000 }, wall_seconds: { max: 3600 } }
EOF
profile fast.yml fast
is 'a breached threshold is exit code 3' "$status" 3
is 'and only that one is named' "$(field "[b['metric'] for b in p['breaches']]")" "['steps_per_second.frame']"

printf 'command: "true"\nthresholds: { steps_per_second: { min: 0 } }\n' >none.yml
run "$SONDE" session none.yml -o none
is 'what was not measured keeps no threshold' "$status" 3
like 'and that is said' "$out" 'steps_per_second was not measured'

printf 'command: %s 2 1\nenv: { FAIL: 1 }\nrepeats: 3\n' "$APP" >fail.yml
profile fail.yml fail
is 'an application that fails fails the session' "$status" 1
is 'after its first repeat' "$(field "[r['exit_code'] for r in p['repeats']]")" '[7]'

printf 'command: %s 100000 5\nduration: 300ms\nladder: { interrupt: 5s }\n' "$APP" >cut.yml
profile cut.yml cut
is 'the end of its duration is no failure' "$status" 0
is 'and is told' "$(field "p['repeats'][0]['is_cut']")" True

printf 'command: [sh, -c, "trap : INT TERM; (trap : INT TERM; sleep 300) & while :; do sleep 300; done"]\ntimeout: 200ms\nladder: { interrupt: 100ms, terminate: 100ms }\n' >stubborn.yml
profile stubborn.yml stubborn
is 'a timeout is a failure' "$status" 1
like 'with words' "$err" 'timed out'
is 'and told' "$(field "p['repeats'][0]['has_timed_out']")" True

printf 'command: "true"\ndataset: { source: "file:data.txt", sha256: %064d }\n' 0 >wrong.yml
run "$SONDE" session wrong.yml -o wrong
is 'another dataset is refused' "$status" 1
like 'with its digest' "$err" "sha256 is $sum"
printf 'comand: "true"\n' >typo.yml
run "$SONDE" session typo.yml -o typo
is 'a wrong key is refused' "$status" 1
like 'where it stands, with what was meant' "$err" "typo.yml:1: unknown key 'comand' in a session.*did you mean 'command'"
done_testing
