"""The name that release 1 had for its native module."""
from dftracer.python._core import enter_event, exit_event, finalize, get_time, log_metadata_event
from dftracer.python import _core as _core
from dftracer.python._tracer import dftracer as _tracer


def initialize(log_file=None, data_dirs=None, process_id=-1):
    _core.initialize(log_file, data_dirs, process_id)


def log_event(name, cat, start_time, duration, string_args=None, int_args=None, float_args=None):
    _tracer.get_instance().log_event(name, cat, start_time, duration, int_args, float_args, string_args)
