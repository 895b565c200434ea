"""The trace of this process: the class `dftracer`, of which there is one instance."""
import os
import re

from . import _core

_YES = ("1", "true", "on", "yes")


def _is_enabled():
    """DFTRACER_ENABLE, else what the configuration file says."""
    said = os.environ.get("DFTRACER_ENABLE")
    path = os.environ.get("DFTRACER_CONFIGURATION")
    if said is None and path:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                found = re.search(r"^enable:\s*(\w+)", file.read(), re.M)
        except OSError:
            found = None
        said = found and found[1]
    return bool(said) and said.lower() in _YES


DFTRACER_ENABLE = _is_enabled()
_UNITS_PER_SECOND = {"NS": 1e9, "US": 1e6, "MS": 1e3, "SEC": 1.0}


class dftracer:
    _instance = None

    @classmethod
    def get_instance(cls):
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    @staticmethod
    def initialize_log(logfile=None, data_dir=None, process_id=-1):
        """Begin the trace. What is not given comes from DFTRACER_LOG_FILE and DFTRACER_DATA_DIR."""
        if DFTRACER_ENABLE:
            if logfile and os.path.dirname(logfile):
                os.makedirs(os.path.dirname(logfile), exist_ok=True)
            _core.initialize(os.fspath(logfile) if logfile else None, data_dir, process_id)
        return dftracer.get_instance()

    def get_time(self):
        """Now, in the unit of the trace; 0 when it is off."""
        return _core.get_time() if DFTRACER_ENABLE else 0

    def enter_event(self):
        if DFTRACER_ENABLE:
            _core.enter_event()

    def exit_event(self):
        if DFTRACER_ENABLE:
            _core.exit_event()

    def log_event(self, name, cat, start_time, duration, int_args=None, float_args=None, string_args=None):
        """One event. Arguments are values, or (role, value) as TagValue.value() gives them."""
        if DFTRACER_ENABLE:
            args = {}
            for group in (int_args, float_args, string_args):
                for key, value in (group or {}).items():
                    args[key] = value if isinstance(value, tuple) else (0, value)
            _core.log_event(name, cat, start_time, duration, args)

    def log_metadata_event(self, key, value):
        if DFTRACER_ENABLE:
            _core.log_metadata_event(key, str(value))

    def finalize(self):
        """End the trace of this process; its file is complete."""
        if DFTRACER_ENABLE:
            _core.finalize()


def get_time_scale():
    """Units of get_time() in a second."""
    return _UNITS_PER_SECOND.get(os.environ.get("DFTRACER_TIME_METRIC", "US"), 1e6)
