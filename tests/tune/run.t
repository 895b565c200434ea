#!/bin/bash
# sonde tune: trials reach the program in every way, are measured, and the best is proven against the default.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

cat >prog <<'SH'
#!/bin/sh
# value = (x - 3)^2 + y from the file + 1 for the slow mode; leaves a file
. "$2"
echo "$1 $MODE $y" >>"$SONDE_TUNE_DIR/../../calls"
head -c "$1" /dev/zero >"$SONDE_TUNE_DIR/out"
echo "warm 99"
echo "value $(( ($1 - 3) * ($1 - 3) + y + $( [ "$MODE" = slow ] && echo 10 || echo 0 ) + 1 ))"
SH
chmod +x prog
cat >study.yml <<YML
name: demo
command: [./prog, "{x}", "{dir}/conf"]
files: [{path: conf, template: "y={y}\n"}]
params:
  - {name: x, type: int, low: 0, high: 9, default: 9}
  - {name: mode, type: categorical, choices: [slow, quick], env: MODE, gives_up: {quick: correctness}}
  - {name: y, type: int, low: 0, high: 3, default: 2}
objective: {name: value, goal: minimize, regex: '^value ([0-9]+)'}
limits: [{name: size, file: out, max: 8}]
budget: {trials: 14}
confirm: 3
YML
run "$SONDE" tune study.yml
is 'the study ends well' "$status" 0
diag "$err"
like 'it says how many trials' "$out" 'demo: 14 trials done, 0 pruned, 0 failed'
like 'the best is better than the default' "$out" 'better than the default: [0-9.]+ % \[[0-9.]+, [0-9.]+\] less value \(3 pairs'
like 'what it gives up is said' "$out" 'mode = quick gives up: correctness'
result=$(<sonde-tune/demo/result.json)
is 'the report has it' "$(jq -r .gain <<<"$result")" proven
ok 'the best is within the limit' holds '.best.params.x <= 8' "$result"
is 'the default was first' "$(jq -c '.trials[0].params' <<<"$result")" '{"x":9,"mode":"slow","y":2}'
is 'trials and pairs ran once each' "$(wc -l <sonde-tune/demo/calls)" 20
is 'the CSV has a line a trial' "$(wc -l <sonde-tune/demo/trials.csv)" 15
like 'and the columns' "$(head -1 sonde-tune/demo/trials.csv)" '^id,state,repeats,value,size,x,mode,y$'
html=$(<sonde-tune/demo/report.html)
like 'the page has the verdict' "$html" 'better than the default'
like 'and pictures' "$html" '<svg'
unlike 'and needs nothing else' "$html" 'src=|href=|<script|http'

sql() { sqlite3 sonde-tune/demo/study.db "$1" 2>/dev/null || /usr/bin/python3 -c 'import sqlite3, sys
for row in sqlite3.connect("sonde-tune/demo/study.db").execute(sys.argv[1]): print(*row, sep="|")' "$1"; }
is 'the database has the trials' "$(sql "SELECT count(*), sum(state = 'done') FROM trial")" '14|14'
is 'with their parameters and values' "$(sql "SELECT (SELECT count(*) FROM param), (SELECT count(*) FROM value), (SELECT count(*) FROM pair)")" '42|28|3'
is 'the default among them' "$(sql 'SELECT name, value FROM param WHERE trial = 1 ORDER BY name' | tr '\n' ' ')" 'mode|slow x|9 y|2 '
is 'parameters have their type' "$(sql "SELECT DISTINCT typeof(value) FROM param WHERE name = 'x'")" integer

run "$SONDE" tune study.yml
is 'a finished study is not run again' "$(wc -l <sonde-tune/demo/calls)" 20
like 'it says so' "$out" 'demo: resuming after 14 trials'
run "$SONDE" tune --report --json study.yml
is 'its report can be had again' "$(jq -c '[.done, .gain]' <<<"$out")" '[14,"proven"]'

sed 's/name: demo/name: flat/; s/^command:.*/command: [sh, -c, "echo value 5; : {x} {mode} {y} {dir}"]/; /^limits/d' study.yml >flat.yml
run "$SONDE" tune flat.yml --trials 6
like 'a study with nothing to gain says so' "$out" 'no improvement'
is 'and has an exit code of 0' "$status" 0

sed 's/name: demo/name: warm/; s/^command:.*/command: [.\/prog, "{x}", "{dir}\/conf"]/' study.yml >warm.yml
echo 'warm_start: [sonde-tune/demo/journal.jsonl]' >>warm.yml
run "$SONDE" tune warm.yml --trials 2 --confirm 0 --json
is 'a warm start tries the best of before right after the default' "$(jq -c '.trials[1].params' <<<"$out")" \
	"$(jq -s -c '(map(select(.ask)) | map({key: (.ask|tostring), value: .params}) | from_entries) as $p | map(select(.values)) | sort_by(.values[0])[0].tell | tostring | $p[.]' sonde-tune/demo/journal.jsonl)"

# A build is made once for all runs that have it.
cat >build.yml <<YML
name: build
prepare: [sh, -c, 'echo "{level} {id}" >>$TEST_DIR/builds; echo {level} >{build}/level']
command: [sh, -c, 'echo "value \$((\$(cat {build}/level) * 10 + {x}))"']
params:
  - {name: level, type: int, low: 1, high: 2, default: 2, class: rebuild}
  - {name: x, type: int, low: 1, high: 4, default: 4}
objective: {name: value, regex: 'value ([0-9]+)'}
budget: {trials: 6}
repeats: 2
confirm: 3
YML
run "$SONDE" tune build.yml --json
is 'a study with builds ends well' "$status" 0
diag "$err"
is 'each trial has its own build' "$(jq '[.trials[] | .values.value == .params.level * 10 + .params.x] | all' <<<"$out")" true
is 'each build was made once, in trials, repeats and proof' "$(cut -d' ' -f1 builds | sort | xargs)" "$(jq -r '[.trials[].params.level] | unique | map(tostring) | join(" ")' <<<"$out")"
sed 's/, class: rebuild//; s/name: build/name: stale/' build.yml >stale.yml
run "$SONDE" tune stale.yml
like 'what goes into a build must be of its class' "$err" "stale.yml:5: parameter 'level' is used by the build, but is not of class rebuild"

# Arguments of their own, three objectives, a budget of time.
cat >say <<'SH'
#!/bin/sh
n=${1#--n=}
echo "args $*" >>"$SONDE_TUNE_DIR/../../said"
echo "a $n"
echo "b $((n * (9 - n)))"
echo "c $((n * n))"
SH
chmod +x say
cat >three.yml <<'YML'
name: three
command: [./say]
params:
  - {name: n, type: int, low: 1, high: 8, default: 8, arg: "--n={}"}
  - {name: extra, type: bool, default: false, env: EXTRA}
  - {name: m, type: int, low: 3, high: 5, active_if: {extra: true}, arg: "--m={}"}
objectives:
  - {name: a, regex: '^a ([0-9]+)'}
  - {name: b, regex: '^b ([0-9]+)', goal: maximize}
  - {name: c, regex: '^c ([0-9]+)'}
budget: {trials: 12}
YML
run "$SONDE" tune three.yml --json
is 'three objectives end well' "$status" 0
diag "$err"
is 'arguments reach the program, those of inactive parameters do not' "$(sort sonde-tune/three/said)" \
	"$(jq -r '.trials[].params | "args --n=\(.n)" + (if .m then " --m=\(.m)" else "" end)' <<<"$out" | sort)"
is 'the front has what nothing beats' "$(jq '[.front[] as $f | (.trials[] | select(.id == $f) | .values) as $v | .trials[].values | select(.a < $v.a and .b > $v.b and .c < $v.c)] | length' <<<"$out") $(jq '.front | length > 1' <<<"$out")" '0 true'
run "$SONDE" tune three.yml --report
is 'the front is shown with the configurations' "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+  n=[0-9] extra=(false|true m=[345])$' <<<"$out")" \
	"$(jq '.front | length' sonde-tune/three/result.json)"
unlike 'a report does not go on' "$out" 'goes on'
sed 's/^budget.*/budget: {trials: 100000, time: 2s}\nmethod: random/; s/name: three/name: timed/' three.yml >timed.yml
run "$SONDE" tune timed.yml --json
is 'a budget of time ends a study' "$status $(jq '.done < 100000 and .failed == 0' <<<"$out")" '0 true'

done_testing
