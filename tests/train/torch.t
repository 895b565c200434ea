#!/bin/bash
# The shipped jobs on real torch: parameter servers and workers come and go while they train, and they reach their targets.
. "$(dirname "$0")/train.sh"

"$PYTHON" -c 'import torch' 2>/dev/null || skip_service 'python3-torch is not installed'
jobs=$SONDE_STAGE/share/sonde/jobs

# In the place of who decides: the same changes for every job, each as soon as the one before is in force.
cat >changes.py <<'PY'
import json, os, socket, subprocess, sys
ours, theirs = socket.socketpair()
settings = [{"ps": 1, "workers": 1, "threads": 1}, {"ps": 3, "workers": 2, "threads": 1}, {"ps": 2, "workers": 3, "threads": 2}, {"ps": 1, "workers": 1, "threads": 1}]
env = dict(os.environ, SONDE_JOB_FD=str(theirs.fileno()), SONDE_JOB_CONFIG="0 " + json.dumps(settings[0]))
job = subprocess.Popen(sys.argv[1:], env=env, pass_fds=[theirs.fileno()])
theirs.close()
now, seen = 0, 0
for line in ours.makefile():
    word, *rest = line.split()
    seen += word == "report" and rest[3:] == [str(now)]
    if seen == 10:
        now, seen = now + 1, 0
        ours.sendall(b"stop\n" if now == len(settings) else f"config {now} {json.dumps(settings[now])}\n".encode())
print(now, job.wait())
PY

# check NAME TARGET ARGUMENT...: tuned, with few iterations a configuration.
check() {
	local name=$1 target=$2
	shift 2
	sed 's/^iterations:.*/iterations: 15/; s/^explore:.*/explore: 5/; s/high: 8/high: 3/; s/high: [46]/high: 3/' "$jobs/$name.yml" >"$name.yml"
	echo 'moving_share: 9' >>"$name.yml"
	run timeout 400 "$SONDE" train -o "$name" --seed 1 --target-loss "$target" "$name.yml" -- "$PYTHON" "$jobs/$name.py" "$@"
	is "$name reaches its target" "$status $(field reached "$name/result.json")" '0 True'
	is "$name: no word of trouble" "$err" ''
	run timeout 300 "$PYTHON" changes.py "$PYTHON" "$jobs/$name.py" "$@"
	is "$name: parameter servers and workers come and go" "$status $out" '0 4 0'
	is "$name: nobody is left" "$(pgrep -f "$jobs/$name.py.*--seed 4711" || true)" ''
}
check cnn 1.5 --seed 4711
check sparse 0.62 --seed 4711 --features 20000 --batch 64
run timeout 300 "$SONDE" train -o svm --fixed --set workers=2 --set ps=2 --target-loss 0.8 sparse.yml -- "$PYTHON" "$jobs/sparse.py" --loss svm --features 20000 --batch 64
is 'a support vector machine with one configuration' "$status $(field reached svm/result.json)" '0 True'
is 'has two workers' "$(column worker_num svm/iteration_training_data.csv | sort -u)" 2

done_testing
