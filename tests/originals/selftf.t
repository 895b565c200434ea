#!/bin/bash
# SelfTF's introduction, line by line: start the monitor and the agents, submit, get the CSV, kill, stop.
. "$(dirname "$0")/../fleet/fleet.sh"

eval "$("$SONDE" env selftf)"
home=$SONDE_STAGE/lib/sonde/compat/selftf
cat >svm.py <<'END'
import argparse
import json
import os
import time
from sonde import job
parser = argparse.ArgumentParser()
parser.add_argument("--ML_model")
parser.add_argument("--num_Features", type=int)
options = parser.parse_args()
conf = json.loads(os.environ["MLTUNER_CONF_DICT"])
print(options.ML_model, options.num_Features, conf["batch_size"], conf["learning_rate"], os.environ["OS_SIZE"], flush=True)
for step in range(100000):
    job.report(step, 1 / (step + 1))
    job.changed()
    if job.should_stop():
        break
    time.sleep(0.01)
END

export KEY_ESTIMATION_FUNC="bo" ONLINE_NUM_ITER_PER_OS=500 ONLINE_OS_SIZE=100 OS_SIZE=20 NUM_ITER_PER_OS=60
script=$TEST_DIR/svm.py
printf 'localhost\n%s\n' "$(uname -n)" >slaves
export SELFTF_HOME=$TEST_DIR
introduction() (
	cd "$home" && sh bin/stop_monitor.sh && sh bin/stop_all_agent.sh && bin/start_monitor.sh >/dev/null &&
		sh bin/start_all_agent.sh && /usr/bin/python3 client.py --action submit_job --ml_model SVM --batch_size 2000 \
		--learning_rate 0.001 --target_loss 0.07 --script /usr/bin/python3 "$script" --ML_model=SVM --num_Features=3231961
)
run introduction
is 'the whole line works' "$status" 0
job=$out
like 'and prints a job id' "$job" '^SVM_[0-9]{4}_[0-9]{6}'
is 'an agent a line of slaves' "$(processes agent | wc -l)" 2
ok 'the job reaches its target' wait_for is_now "$job" "done"
is 'by the rule' "$(field "$job" has_reached_target)" True
is 'the program got its arguments and settings' "$(client.py --action dump_log "$job" | head -n 1)" 'SVM 3231961 2000 0.001 20'
is 'it was tuned meanwhile' "$(sonde job --json configs "$job" | grep -c '"start"')" 1

run client.py --action get_job "$job"
is 'get_job' "$status $out" "0 $job.csv"
is 'has the columns' "$(head -n 1 "$job.csv" | tr -d '\r')" 'epoch,n_ps,n_worker,intra,inter,loss,epoch_time'
is 'and every iteration' "$(/usr/bin/python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) > 14 and [int(r["epoch"]) for r in rows] == list(range(len(rows)))
assert float(rows[0]["loss"]) == 1 and float(rows[-1]["loss"]) <= 0.07 and rows[0]["n_ps"] == "1" and rows[0]["n_worker"] == "2" and rows[0]["intra"] == "1"
print("yes")' "$job.csv" 2>&1)" yes

job=$(client.py --action submit_job --mode dry_run --script sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 1; done')
ok 'a parameter server that cannot be killed' wait_for test -s pid
run client.py --action kill_job "$job"
is 'kill_job' "$status" 0
ok 'it is killed' wait_for is_now "$job" cancelled
ok 'really' is_gone "$(<pid)"
run client.py --action get_job
is 'get_job without a job' "$status" 2
run client.py --action get_job nobody
is 'of a job that is not there' "$status" 1

run stop_all_agent.sh
is 'stop_all_agent.sh' "$status $(processes agent)" '0 '
echo ssd07 >slaves
run start_all_agent.sh
is 'another machine is refused' "$status" 1
like 'with the reason' "$err" 'ssd07.*SELFTF_MASTER_NODE'
mapfile -t all < <(processes server; processes monitor)
run stop_monitor.sh
is 'stop_monitor.sh' "$status" 0
left=0
for pid in "${all[@]}"; do is_gone "$pid" || left=$((left + 1)); done
is 'nothing is left' "${#all[@]} $left" '2 0'

done_testing
