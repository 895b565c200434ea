#!/bin/bash
# sonde train: a job is tuned while it trains, by telling it; what it leaves behind; the baseline.
. "$(dirname "$0")/train.sh"

plan_of live 'target_loss: 0.3' 'window: 5' 'settings: {batch_size: 32, optimizer: Adam}' >job.yml
run train --seed 1 -o out job.yml -- "$PYTHON" job.py
is 'the job reaches its target' "$status" 0
like 'and says so' "$out" 'target reached after [0-9.]+ s: [0-9]+ iterations, [0-9]+ configurations'
is 'the program is started once' "$(grep -c '^start' <<<"$out")" 1
is 'with what the job file says' "$(grep '^start' <<<"$out")" "start 0 {'batch_size': 32, 'optimizer': 'Adam', 'w': 1}"
ok 'it takes up configurations while it runs' test "$(grep -c '^take' <<<"$out")" -ge 2
like 'and what was best' "$out" 'best: w=[0-9]+, [0-9.e-]+ s per iteration'
is 'it ends in good order' "$(tail -n 4 <<<"$out" | grep -c '^end')" 1

is 'iterations have the columns of SelfTF' "$(head -n 1 out/iteration_training_data.csv)" \
	'step,local_step,timestamp,elapsed_time_sec,loss,config_idx,ps_num,worker_num,intra,inter,optimizer,learning_rate,batch_size'
is 'every one is there' "$(column step out/iteration_training_data.csv | sort -n | uniq | wc -l)" "$(tail -n +2 out/iteration_training_data.csv | wc -l)"
is 'with the settings' "$(column optimizer out/iteration_training_data.csv | sort -u) $(column batch_size out/iteration_training_data.csv | sort -u)" 'Adam 32'
is 'the summary has the columns of SelfTF' "$(head -n 1 out/summary.csv)" \
	'job_id,runtime_sec,avg_recovery_time_sec,target_loss,ml_model,batch_size,learning_rate,final_loss,os_size,n_iter_per_os,online_os_size,online_n_iter_per_os,check_reconfig,do_reconfig,total_iteration,init_duration,estimation_func,run_mode,total_reconfiguration_time'
is 'the summary counts' "$(column total_iteration out/summary.csv) $(column run_mode out/summary.csv) $(column estimation_func out/summary.csv)" \
	"$(field iterations out/result.json) selftf ensemble"
is 'configurations and journal agree' "$(($(wc -l <out/configs.csv) - 1))" "$(grep -c '"event":"config"' out/journal.jsonl)"
ok 'the remaining time has an interval' grep -q '"remaining_s":[0-9].*"remaining_lo_s":[0-9].*"remaining_hi_s":[0-9]' out/journal.jsonl
is 'the target was reached' "$(field reached out/result.json)" True

sed '/job\.changed/,+1d' job.py >plain.py
run train --seed 1 -o plain job.yml -- "$PYTHON" plain.py
is 'a program that only looks at its knobs, each time, reaches it too' "$status $(grep -c '^take' <<<"$out")" '0 0'
ok 'and its configurations are measured' test "$(column config_idx plain/iteration_training_data.csv | sort -u | wc -l)" -ge 3
sed 's/    w = job.knob.*/    w = 1/' plain.py >deaf.py
run train --seed 1 -o deaf job.yml -- "$PYTHON" deaf.py
like 'one that never looks is told of it' "$out" 'did not apply new settings'

run train --json --fixed --set w=4 -o fixed job.yml -- "$PYTHON" job.py
is 'the baseline' "$status $(field configurations fixed/result.json) $(field moves fixed/result.json)" '0 1 0'
is 'has one object on stdout' "$("$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["best"]["params"]["w"])' <<<"$out")" 4
like 'the program prints elsewhere' "$err" "start 0"
is 'its mode is told' "$(column run_mode fixed/summary.csv)" dry_run

for rule in average all once most; do
	plan_of live 'target_loss: 1' "finish: $rule" 'mode: fixed' >rule.yml
	run train -o "rule-$rule" rule.yml -- "$PYTHON" job.py
	is "finish: $rule" "$status $(field reached "rule-$rule/result.json")" '0 True'
done
for curve in selftf optimus exponential power; do
	plan_of live 'target_loss: 0.6' "curve: $curve" 'explore: 3' >curve.yml
	run train -o "curve-$curve" curve.yml -- "$PYTHON" job.py
	is "curve: $curve" "$status $(column estimation_func "curve-$curve/summary.csv")" "0 $curve"
done

plan_of live >free.yml
run env STEPS=50 timeout 60 "$SONDE" train -o free free.yml -- "$PYTHON" job.py
is 'a job without a target ends by itself' "$status $(field reached free/result.json)" '0 False'
like 'and says so' "$out" 'ended after'

done_testing
