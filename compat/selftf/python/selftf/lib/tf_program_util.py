"""TFProgramUtil and MLTunerUtil: how SelfTF's training programs ask for settings and say how far they are.

The settings are those of sonde.job (sonde train changes them while the program trains) and, below them, MLTUNER_CONF_DICT. A
change of the numbers of parameter servers and workers or of thread pools ends the session, which leaves a checkpoint, and opens
another: TensorFlow as it is cannot do it in a session. Programs run on the nodes of --node_list (host:port, with commas between)
as --task_index says: the first ps_num of them are parameter servers, the last is the chief. Without, all is one process.
"""
import argparse
import json
import os
import sys
import time

import tensorflow as tf

from sonde import job

_v1 = getattr(getattr(tf, "compat", tf), "v1", tf)  # TensorFlow 2 keeps the old names there


def _number(value, default):
    return default if value is None else int(value)


class Settings:
    """What is asked for now: by who tunes, else as given at the start."""

    def __init__(self):
        self._given = json.loads(os.environ.get("MLTUNER_CONF_DICT", "{}"))

    def get(self, *names, default=None):
        """The first of the names that has a value."""
        asked = job.knobs()
        for source in (asked, self._given):
            for name in names:
                if source.get(name) is not None:
                    return source[name]
        return default


class _Cluster:
    """Who is who."""

    def __init__(self, settings):
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--node_list", default="")
        parser.add_argument("--task_index", type=int, default=-1)
        parser.add_argument("--target_loss", type=float)
        parser.add_argument("--working_dir", default="")
        options, _ = parser.parse_known_args(sys.argv[1:])
        self._settings = settings
        self.nodes = [node for node in options.node_list.split(",") if node]
        self.index = options.task_index if options.task_index >= 0 else max(0, len(self.nodes) - 1)
        self.target_loss, self.directory = options.target_loss, options.working_dir or job.directory or os.getcwd()

    def size(self):
        return len(self.nodes) or _number(self._settings.get("node_num"), 2)

    def servers(self):
        return max(1, min(self.size() - 1, _number(self._settings.get("ps_num", "ps"), 1)))

    def is_server(self):
        return bool(self.nodes) and self.index < self.servers()


class TFProgramUtil:
    """What a training program of SelfTF calls."""

    OPTIMIZERS = {"SGD": "GradientDescentOptimizer", "Adadelta": "AdadeltaOptimizer", "Adam": "AdamOptimizer", "RMSProp": "RMSPropOptimizer",
                  "Momentum": "MomentumOptimizer", "Adagrad": "AdagradOptimizer", "Ftrl": "FtrlOptimizer"}

    def __init__(self):
        self.conf = Settings()
        self.cluster = _Cluster(self.conf)
        self.flag_end_process = False
        self._train_op = self._loss = self._global_step = self._target = None
        self._is_moving, self._moving_since = False, time.time()
        job.changed(is_settled=False)

    # Settings

    @property
    def FLAGS(self):
        return self.get_tf_flag()

    def get_tf_flag(self):
        return _v1.app.flags.FLAGS

    def get_batch_size(self):
        return _number(self.conf.get("batch_size"), 100)

    def get_learning_rate(self):
        return float(self.conf.get("learning_rate", default=0.001))

    def get_n_partition(self):
        return _number(self.conf.get("n_partition"), 20)

    def get_target_loss(self):
        return self.cluster.target_loss

    def get_num_ps(self):
        return self.cluster.servers()

    def get_num_worker(self):
        return self.cluster.size() - self.cluster.servers()

    def get_intra_op_parallelism_threads(self):
        return max(1, _number(self.conf.get("intra", "intra_op_parallelism_threads", "num_intra_thread", "threads"), 1))

    def get_inter_op_parallelism_threads(self):
        threads = _number(self.conf.get("thread_num"), os.cpu_count() or 2)
        return max(1, _number(self.conf.get("inter", "inter_op_parallelism_threads"), threads - self.get_intra_op_parallelism_threads()))

    def get_tf_config_proto(self):
        return _v1.ConfigProto(intra_op_parallelism_threads=self.get_intra_op_parallelism_threads(),
                               inter_op_parallelism_threads=self.get_inter_op_parallelism_threads(), allow_soft_placement=True)

    def get_optimizer(self):
        name = self.conf.get("optimizer", default="SGD")
        if name not in self.OPTIMIZERS:
            raise ValueError(f"there is no optimizer '{name}': there are {', '.join(sorted(self.OPTIMIZERS))}")
        more = {"momentum": 0.9} if name == "Momentum" else {}
        return getattr(_v1.train, self.OPTIMIZERS[name])(self.get_learning_rate(), **more)

    # Roles

    def get_job_name(self):
        return "ps" if self.is_ps() else "worker"

    def get_task_index(self):
        return self.cluster.index if self.is_ps() or not self.cluster.nodes else self.cluster.index - self.cluster.servers()

    def get_worker_index(self):
        return self.get_task_index()

    def is_ps(self):
        return self.cluster.is_server()

    def is_worker(self):
        return not self.is_ps()

    def is_chief(self):
        return self.cluster.index == max(0, len(self.cluster.nodes) - 1)

    get_is_chief = is_chief

    def get_tf_cluster_spec(self):
        servers = self.cluster.servers()
        return _v1.train.ClusterSpec({"ps": self.cluster.nodes[:servers], "worker": self.cluster.nodes[servers:]})

    def device_setter(self):
        if not self.cluster.nodes:
            return None
        return _v1.train.replica_device_setter(worker_device=f"/job:worker/task:{self.get_task_index()}", cluster=self.get_tf_cluster_spec(),
                                               ps_strategy=_v1.contrib.training.GreedyLoadBalancingStrategy(
                                                   self.get_num_ps(), _v1.contrib.training.byte_size_load_fn)
                                               if hasattr(_v1, "contrib") else None)

    # Graph

    def set_tf_server_target(self, target):
        self._target = target

    def set_global_step(self, step):
        self._global_step = step

    def get_tf_variable_global_step(self):
        return self._global_step

    def set_train_op(self, loss, sync=False):
        """Minimise the loss; sync: gradients of all workers together."""
        optimizer = self.get_optimizer()
        if sync:
            optimizer = _v1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=self.get_num_worker(),
                                                        total_num_replicas=self.get_num_worker())
        self._loss = loss
        self._train_op = optimizer.minimize(loss, global_step=self._global_step)
        return self._train_op

    def get_train_op(self):
        return self._train_op

    def get_tf_variable_loss(self):
        return self._loss

    def get_monitored_training_session(self):
        """A session that begins where the last one left its checkpoint."""
        return _v1.train.MonitoredTrainingSession(master=self._target or "", is_chief=self.is_chief(), config=self.get_tf_config_proto(),
                                                  checkpoint_dir=os.path.join(self.cluster.directory, "selftf-checkpoint"))

    # Iterations

    def pre_recovery(self):
        self._moving_since = time.time()

    def post_recovery(self, sess=None):
        """The session is there: what is reported from now on is of the new settings."""
        self._is_moving = False
        job.settle()

    def recovery_time(self):
        return time.time() - self._moving_since

    def pre_do_all_iteration(self, sess=None):
        pass

    def post_do_iteration(self, steps, loss, timestamp=None, duration=None):
        job.report(int(steps), float(loss), worker=max(0, self.get_task_index()))

    def should_stop_iteration(self, step=None, loss=None):
        """Leave the session: for good (flag_end_process), or to come back with other settings."""
        self.flag_end_process = self.flag_end_process or job.should_stop()
        self._is_moving = self._is_moving or job.changed(is_settled=False)
        return self.flag_end_process or self._is_moving

    def post_do_all_iteration(self, sess=None):
        pass


class MLTunerUtil:
    """For programs that take their settings once: one trial a process."""

    def __init__(self):
        self.conf, self._step = Settings(), 0

    def get_tf_session_config(self):
        return TFProgramUtil().get_tf_config_proto()

    def set_pytorch_hardware_param(self):
        import torch

        torch.set_num_threads(max(1, _number(self.conf.get("intra", "intra_op_parallelism_threads", "threads"), 1)))
        inter = self.conf.get("inter", "inter_op_parallelism_threads")
        if inter is not None:
            torch.set_num_interop_threads(max(1, int(inter)))

    def set_mxnet_hardware_param(self):
        """MXNet reads its variables when it is imported: call this before."""
        for source in (json.loads(os.environ.get("MLTUNER_CONF_DICT", "{}")), job.knobs()):
            os.environ.update({name: str(value) for name, value in source.items() if name.startswith(("MXNET_", "OMP_", "KMP_", "MKL_"))})

    def report_iter_loss(self, loss, step=None):
        self._step = self._step + 1 if step is None else int(step)
        job.report(self._step, float(loss))
