#!/bin/bash
# sonde train: parameters that want a restart, configurations that break the program, and lives cut short.
. "$(dirname "$0")/train.sh"

plan_of restart 'target_loss: 0.3' 'window: 5' 'explore: 3' 'iterations: 20' >job.yml
run train -o out job.yml -- "$PYTHON" job.py
is 'the job reaches its target' "$status" 0
starts=$(grep -c '^start' <<<"$out")
ok 'it was started again for configurations' test "$starts" -ge 2
is 'each start goes on from the checkpoint' "$(grep -E '^(start|end)' <<<"$out" | awk '$1 == "end" { e = $2 } $1 == "start" && $2 != e + 0 { print }')" ''
is 'as many lives as configurations' "$starts" "$(field configurations out/result.json)"
is 'the cost of each was measured' "$(column reconfiguration_s out/configs.csv | tail -n +2 | grep -c '^[0-9]')" "$((starts - 1))"

plan_of live 'target_loss: 0.3' 'window: 5' >live.yml
run env BROKEN=2 timeout 120 "$SONDE" train -o broken --seed 3 live.yml -- "$PYTHON" job.py
is 'a configuration that breaks the program' "$status" 0
if grep -q '"failed":true' broken/journal.jsonl; then
	is 'is not taken again' "$(column w broken/configs.csv | grep -cx 2)" 1
else
	is 'was not met' "$(column w broken/configs.csv | grep -cx 2)" 0
fi
run env BROKEN=1 timeout 60 "$SONDE" train -o first live.yml -- "$PYTHON" job.py
is 'a program that breaks by itself has its own status' "$status" 7
like 'and is called failed' "$out" 'failed after'
run train -o none live.yml -- ./nothing-here
is 'a program that is not there' "$status" 1
like 'is named' "$err" 'nothing-here'

# pid_of DIR: of the program that runs; what it has reported by then is in the journal.
plan_of live 'target_loss: 0.0001' 'explore: 3' 'iterations: 20' >long.yml
start_long() {
	"$SONDE" train -o long long.yml -- "$PYTHON" -c "import os; open('pid', 'w').write(str(os.getpid())); exec(open('job.py').read())" >long.out 2>&1 &
	trainer=$!
}
wait_for() {
	for _ in {1..600}; do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}
knows() { [[ $(grep -c '"event":"known"' long/journal.jsonl 2>/dev/null) -ge $1 ]]; }
is_gone() { [[ ! -e /proc/$1 ]] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

start_long
ok 'a job learns' wait_for knows 2
kill -KILL "$trainer"
wait "$trainer" 2>/dev/null
ok 'killed without a word, its program goes too' wait_for is_gone "$(<pid)"
known=$(grep -c '"event":"known"' long/journal.jsonl)
start_long
ok 'it goes on where it was' wait_for grep -q 'resuming after' long.out
ok 'and learns more' wait_for knows "$((known + 1))"
kill -TERM "$trainer"
wait "$trainer"
is 'asked to end, it does' "$?" 1
ok 'with its program' is_gone "$(<pid)"
ok 'in good order' grep -q '^end' long.out
like 'and says so' "$(<long.out)" 'interrupted after'
is 'nothing that was known was tried twice to begin with' "$(column reason long/configs.csv | grep -cx start)" 1

done_testing
