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
_ENTITY_RELATIONS = 16  # from here on a relation is between entities, below it is an event's


class dftracer:
    _instance = None
    start_time = 0  # when the trace was begun

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
            dftracer.get_instance().start_time = _core.get_time()
        return dftracer.get_instance()

    def get_time(self):
        """Now, in microseconds; 0 when the trace is off."""
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

    def get_config(self, key):
        """What the environment says of a variable; empty when it says nothing."""
        return os.environ.get(key, "") if DFTRACER_ENABLE else ""

    def declare_entity(self, type_name, key, store=0, uri=""):
        """Say that there is a thing of this type and key; its id, which is the same in every process. 0 when off."""
        return _core.declare_entity(str(type_name), str(key), int(store), str(uri)) if DFTRACER_ENABLE else 0

    def declare_entity_type(self, type_name, role=0, description=""):
        if DFTRACER_ENABLE:
            _core.declare_entity_type(str(type_name), int(role), str(description))

    def relate_entities(self, relation, subject, object_id):
        """Say how two entities are related; relations of events belong to events (dft_fn.relate)."""
        if DFTRACER_ENABLE and int(relation) >= _ENTITY_RELATIONS and subject and object_id:
            _core.relate_entities(int(relation), subject, object_id)

    def set_app_metadata_int(self, key, value):
        if DFTRACER_ENABLE:
            _core.set_app_metadata(key, int(value))

    def set_app_metadata_string(self, key, value):
        if DFTRACER_ENABLE:
            _core.set_app_metadata(key, str(value))

    def mark_used(self, name):
        if DFTRACER_ENABLE:
            _core.mark_used(name)

    def finalize(self):
        """End the trace of this process; its file is complete."""
        if DFTRACER_ENABLE:
            _core.finalize()


def get_time_scale():
    """Units of get_time() and log_event() in a second, whatever DFTRACER_TIME_METRIC says of the log."""
    return 1e6
