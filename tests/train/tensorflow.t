#!/bin/bash
# SelfTF's TFProgramUtil and MLJobFramework under sonde train, on a stub of TensorFlow that remembers what it was given.
. "$(dirname "$0")/train.sh"

export PYTHONPATH=$SONDE_STAGE/lib/sonde/compat/selftf/python:$PYTHONPATH:$TEST_DIR
mkdir tensorflow
cat >tensorflow/__init__.py <<'PY'
import contextlib, json, os, time, types
class ConfigProto:
    def __init__(self, **kw): self.__dict__.update(kw)
class Graph:
    def as_default(self): return contextlib.nullcontext()
def device(name): return contextlib.nullcontext()
def set_random_seed(seed): pass
class Optimizer:
    def __init__(self, rate, **kw): self.rate, self.kw = rate, kw
    def minimize(self, loss, global_step=None): return ("train", type(self).__name__, self.rate, loss, global_step)
class MonitoredTrainingSession:
    """A loss that falls with the step, which the checkpoint has; the more threads within an operation, the slower."""
    def __init__(self, master="", is_chief=False, config=None, checkpoint_dir=None):
        self.config, self.dir, self.step = config, checkpoint_dir, 0
        print("session", config.intra_op_parallelism_threads, config.inter_op_parallelism_threads, is_chief, flush=True)
    def __enter__(self):
        os.makedirs(self.dir, exist_ok=True)
        if os.path.exists(self.dir + "/step"): self.step = int(open(self.dir + "/step").read())
        return self
    def __exit__(self, *exc):
        with open(self.dir + "/step", "w") as file: file.write(str(self.step))
    def run(self, wanted, feed_dict=None):
        assert wanted[0][0] == "train" and wanted[1] == "loss" and wanted[2] == "step" and feed_dict == {"x": 1}
        time.sleep(0.002 * self.config.intra_op_parallelism_threads)
        self.step += 1
        return None, 2 / (1 + 0.01 * self.step), self.step
train = types.SimpleNamespace(MonitoredTrainingSession=MonitoredTrainingSession, **{name: type(name, (Optimizer,), {}) for name in (
    "GradientDescentOptimizer", "AdadeltaOptimizer", "AdamOptimizer", "RMSPropOptimizer", "MomentumOptimizer", "AdagradOptimizer", "FtrlOptimizer")},
    SyncReplicasOptimizer=lambda optimizer, **kw: optimizer, ClusterSpec=lambda spec: spec)
app = types.SimpleNamespace(flags=types.SimpleNamespace(FLAGS=types.SimpleNamespace(data_dir="/data")))
PY
cat >cnn.py <<'PY'
from selftf.lib.ml_job_framework import MLJobFramework

class Cnn(MLJobFramework):
    def model_definition(self, context):
        print("model", context.get_batch_size(), context.get_learning_rate(), context.get_n_partition(), context.get_num_ps(),
              context.get_num_worker(), context.is_ps(), context.is_chief(), context.get_tf_flag().data_dir, flush=True)
        context.set_global_step("step")
        print("op", context.set_train_op("loss"), flush=True)
    def get_feed_dict(self, context):
        return {"x": 1}

Cnn().run()
PY
cat >job.yml <<'Y'
params:
  - {name: ps_num, type: int, low: 1, high: 3, default: 1, class: live}
  - {name: intra, type: int, low: 1, high: 7, default: 1, class: live}
settings: {batch_size: 100, learning_rate: 0.0001, optimizer: Adam, node_num: 4, thread_num: 8, n_partition: 20}
target_loss: 0.1
moving_share: 9
Y
run train -o out --seed 1 job.yml -- "$PYTHON" cnn.py
is 'the program reaches its target' "$status $(field reached out/result.json)" '0 True'
like 'it has the settings' "$out" 'model 100 0.0001 20 1 3 False True /data'
like 'and the optimizer' "$out" "\\('train', 'AdamOptimizer', 0.0001, 'loss', 'step'\\)"
like 'a session with its thread pools' "$out" 'session 1 7 True'
ok 'another session a configuration' test "$(grep -c '^session' <<<"$out")" -ge 2
is 'which begins where the last one was' "$(column step out/iteration_training_data.csv | sort -n | uniq -d)" ''
is 'workers and parameter servers are all nodes' "$(grep '^model' <<<"$out" | awk '{ print $5 + $6 }' | sort -u)" 4

cat >roles.py <<'PY'
import sys
from selftf.lib.tf_program_util import TFProgramUtil, MLTunerUtil
for index in range(4):
    sys.argv[1:] = ["--node_list", "a:1,b:2,c:3,d:4", "--task_index", str(index), "--target_loss", "0.5", "--data_dir", "x"]
    util = TFProgramUtil()
    print(util.get_job_name(), util.get_task_index(), util.is_chief(), util.get_num_ps(), util.get_num_worker(), util.get_target_loss(), util.get_tf_cluster_spec())
print(util.get_intra_op_parallelism_threads(), util.get_optimizer().kw)
import tensorflow
MLTunerUtil().report_iter_loss(0.5)
print(MLTunerUtil().get_tf_session_config().intra_op_parallelism_threads)
PY
run env MLTUNER_CONF_DICT='{"ps_num": 2, "num_intra_thread": 3, "optimizer": "Momentum"}' "$PYTHON" roles.py
is 'roles of nodes, outside of a job' "$status $out" "0 ps 0 False 2 2 0.5 {'ps': ['a:1', 'b:2'], 'worker': ['c:3', 'd:4']}
ps 1 False 2 2 0.5 {'ps': ['a:1', 'b:2'], 'worker': ['c:3', 'd:4']}
worker 0 False 2 2 0.5 {'ps': ['a:1', 'b:2'], 'worker': ['c:3', 'd:4']}
worker 1 True 2 2 0.5 {'ps': ['a:1', 'b:2'], 'worker': ['c:3', 'd:4']}
3 {'momentum': 0.9}
3"
run env MLTUNER_CONF_DICT='{"optimizer": "Magic"}' "$PYTHON" -c 'from selftf.lib.tf_program_util import TFProgramUtil; TFProgramUtil().get_optimizer()'
like 'an optimizer that is none' "$err" "there is no optimizer 'Magic': there are Adadelta"

done_testing
