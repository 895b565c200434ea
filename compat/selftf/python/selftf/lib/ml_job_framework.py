"""MLJobFramework: a training program is a subclass that says what the model is."""
import sys
import time

import tensorflow as tf

from selftf.lib import tf_program_util

_v1 = tf_program_util._v1


class MLJobFramework:
    """model_definition(context) makes the graph and calls context.set_global_step and context.set_train_op."""

    def __init__(self):
        self.sess = None

    def model_definition(self, context):
        raise NotImplementedError("model_definition says what the model is")

    def get_feed_dict(self, context):
        """What an iteration is fed; None: nothing."""
        return None

    def get_observe_loss_variable(self, context):
        return context.get_tf_variable_loss()

    def _serve(self, context):
        """A parameter server: it waits until the job, or the configuration, ends."""
        while not context.should_stop_iteration():
            time.sleep(0.1)

    def _iterate(self, context, sess):
        began = time.time()
        while True:
            wanted = [context.get_train_op(), self.get_observe_loss_variable(context), context.get_tf_variable_global_step()]
            _, loss, step = sess.run(wanted, feed_dict=self.get_feed_dict(context))
            now = time.time()
            context.post_do_iteration(steps=step, loss=loss, timestamp=now, duration=now - began)
            began = now
            if context.should_stop_iteration(step, loss):
                return

    def _train(self, context):
        """One configuration: a graph and a session of its own, from the last checkpoint on."""
        context.pre_recovery()
        with _v1.Graph().as_default():
            _v1.set_random_seed(context.get_task_index())
            with _v1.device(context.device_setter()):
                self.model_definition(context)
            with context.get_monitored_training_session() as sess:
                self.sess = sess
                context.post_recovery(sess=sess)
                context.pre_do_all_iteration(sess)
                self._iterate(context, sess)
                context.post_do_all_iteration(sess)

    def run(self):
        """Until the job has reached its target, or is ended."""
        context = tf_program_util.TFProgramUtil()
        if context.cluster.nodes:
            server = _v1.train.Server(context.get_tf_cluster_spec(), job_name=context.get_job_name(), task_index=context.get_task_index(),
                                      config=context.get_tf_config_proto())
            context.set_tf_server_target(server.target)
        while not context.flag_end_process:
            if context.is_ps():
                self._serve(context)
            else:
                self._train(context)
        sys.exit(0)
