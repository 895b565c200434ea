#!/bin/bash
# Trials as jobs of Slurm: two slurmd on this machine run a study.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/lib/slurm.sh"
sonde() { timeout 240 "$SONDE" "$@"; }

cat >study.yml <<YML
name: cluster
command: [sh, -c, 'echo "{id} \$SLURMD_NODENAME \$SLURM_JOB_ID \$SONDE_TUNE_DIR" >>$TEST_DIR/calls; while [ \$(wc -l <$TEST_DIR/calls) -lt 2 ]; do sleep 0.05; done; echo "value {x}"']
params:
  - {name: x, type: float, low: 0, high: 1}
objective: {name: value, regex: 'value ([0-9.e-]+)'}
limits:
  - {name: cpu, from: cpu, max: 1000}
  - {name: memory, from: memory, max: 1000000000000}
parallel: 2
budget: {trials: 8}
confirm: 2
YML
run sonde tune study.yml --launcher magic
is 'a launcher that is none' "$status" 1
like 'the right one is named' "$err" "unknown launcher 'magic' .supported: slurm"
run sonde tune study.yml --launcher slurm --paired
is 'paired trials are for one machine' "$status" 2
slurm_start
idle() { [[ -z $(squeue -h) ]]; }
wait_for() {
	for _ in {1..600}; do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

# The first two wait for each other, each with a node to itself.
run sonde tune study.yml --launcher 'slurm --exclusive' --json
is 'a study runs as jobs of Slurm' "$status" 0
[[ -z $err ]] || diag "$err"
is 'all trials are done' "$(jq .done <<<"$out")" 8
is 'on both nodes' "$(awk '{ print $2 }' calls | sort -u | xargs)" 'n1 n2'
is 'each run in a job of its own' "$(awk '{ print $3 }' calls | sort | uniq -d | wc -l)" 0
is 'the best is the least' "$(jq -r '.best.value < 0.5' <<<"$out")" true

cat >time.yml <<'YML'
name: wall
command: [sh, -c, 'sleep 0.{n}']
params:
  - {name: n, type: int, low: 1, high: 3, default: 3}
objective: {name: seconds, from: wall}
parallel: 2
budget: {trials: 3}
confirm: 0
YML
# With one job at a time on the cluster all others wait, which must not count.
run sonde tune time.yml --launcher 'slurm --exclusive -w n1' --csv
is 'a study of wall time runs' "$status" 0
[[ -z $err ]] || diag "$err"
diag "$out"

cat >fail.yml <<'YML'
name: fail
command: [sh, -c, 'echo broken >&2; exit 7; : {x}']
params:
  - {name: x, type: float, low: 0, high: 1}
objective: {name: value, regex: 'value (.*)'}
budget: {trials: 8}
YML
run sonde tune fail.yml --launcher slurm
is 'trials that all fail end the study' "$status" 1
like 'with the words of the last' "$err" 'status 7: broken'
run sonde tune fail.yml -o missing --launcher 'slurm -p nowhere'
like 'and so does Slurm that refuses' "$err" 'Invalid partition'
sed 's/^command:.*/command: [sh, -c, "sleep 1000; : {x}"]/; s/^budget.*/timeout: 500ms\nbudget: {trials: 8}/; s/^name.*/name: slow/' fail.yml >slow.yml
run sonde tune slow.yml --launcher slurm
is 'the study fails' "$status" 1
like 'and trials whose time is up where they run' "$err" 'timed out'
ok 'nothing of them is left' wait_for idle

# Killed without a word: what runs elsewhere ends by itself; run again, it goes on.
cat >killed.yml <<YML
name: killed
command: [sh, -c, 'echo "{id} \$\$" >>$TEST_DIR/runs; while [ ! -e $TEST_DIR/go ]; do sleep 0.1; done; echo "value {x}"']
params:
  - {name: x, type: float, low: 0, high: 1}
objective: {name: value, regex: 'value ([0-9.e-]+)'}
parallel: 2
budget: {trials: 4}
confirm: 0
YML
"$SONDE" tune killed.yml --launcher slurm >/dev/null 2>&1 &
pid=$!
both() { [[ -e runs && $(wc -l <runs) -ge 2 ]]; }
ok 'two trials run' wait_for both
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok 'its driver killed, they end' wait_for idle
all_gone() {
	local shell
	while read -r _ shell; do [[ ! -e /proc/$shell ]] || return 1; done <runs
}
ok 'no process of theirs is left' wait_for all_gone
touch go
run sonde tune killed.yml --launcher slurm --json
is 'run again, it goes on' "$status $(jq .done <<<"$out")" '0 4'
is 'each trial is told once' "$(jq -r 'select(.tell) | .tell' sonde-tune/killed/journal.jsonl | sort | uniq -d | wc -l)" 0

run timeout 200 salloc -Q -N2 "$SONDE" tune study.yml -o steps --launcher slurm --json
is 'within an allocation trials are its steps' "$status $(jq .done <<<"$out")" '0 8'
is 'all in one job' "$(tail -n 8 calls | awk '{ print $3 }' | sort -u | wc -l)" 1
done_testing
