#!/bin/bash
# The shipped jobs on real torch: parameter servers and workers come and go while they train, and they reach their targets.
. "$(dirname "$0")/train.sh"

$PYTHON -c 'import torch' 2>/dev/null || skip_service 'python3-torch is not installed'
jobs=$SONDE_STAGE/share/sonde/jobs

# check NAME TARGET ARGUMENT...: tuned, with few iterations a configuration.
check() {
	local name=$1 target=$2
	shift 2
	sed 's/^iterations:.*/iterations: 15/; s/^explore:.*/explore: 5/; s/high: 8/high: 3/; s/high: [46]/high: 3/' "$jobs/$name.yml" >"$name.yml"
	run timeout 400 "$SONDE" train -o "$name" --seed 1 --target-loss "$target" "$name.yml" -- $PYTHON "$jobs/$name.py" "$@"
	is "$name reaches its target" "$status $(field reached "$name/result.json")" '0 True'
	is "$name: no word of trouble" "$err" ''
	ok "$name: parameter servers came and went" test "$(column ps_num "$name/iteration_training_data.csv" | sort -u | wc -l)" -ge 2
	ok "$name: workers came and went" test "$(column worker_num "$name/iteration_training_data.csv" | sort -u | wc -l)" -ge 2
	is "$name: nobody is left" "$(pgrep -f "$jobs/$name.py.*--seed 4711" || true)" ''
}
check cnn 1.5 --seed 4711
check sparse 0.62 --seed 4711 --features 20000
run timeout 300 "$SONDE" train -o svm --fixed --set workers=2 --set ps=2 --target-loss 0.8 sparse.yml -- $PYTHON "$jobs/sparse.py" --loss svm --features 20000
is 'a support vector machine with one configuration' "$status $(field reached svm/result.json)" '0 True'
is 'has two workers' "$(column worker_num svm/iteration_training_data.csv | sort -u)" 2

done_testing
