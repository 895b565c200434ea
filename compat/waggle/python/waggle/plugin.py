"""pywaggle's Plugin for the laboratory: what is published goes to sonde's board and, with PYWAGGLE_LOG_DIR, to
data.ndjson as pywaggle writes it. Nothing is sent to a message broker.
"""
import contextlib
import json
import os
import re
import shutil
import time

import sonde

_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_NAME_MAX = 128
_TIMESTAMP_MIN_NS = 946684800 * 10**9  # the year 2000: seconds or milliseconds given by mistake are before it


def _check(name, value, meta, timestamp):
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > _NAME_MAX:
        raise ValueError(f"publish name {name!r} must be parts of a-z, 0-9 and _ joined by dots, at most {_NAME_MAX} characters")
    if name == "upload":
        raise ValueError("the name 'upload' is reserved: use upload_file")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(f"publish value must be an int, float or str, not {type(value).__name__}")
    if not isinstance(meta, dict) or not all(isinstance(k, str) and isinstance(v, str) for k, v in meta.items()):
        raise TypeError("publish meta must be a dictionary of strings to strings")
    if not isinstance(timestamp, int) or timestamp < _TIMESTAMP_MIN_NS:
        raise ValueError("publish timestamp must be an int of nanoseconds since the epoch")


def _iso(timestamp_ns):
    seconds, ns = divmod(timestamp_ns, 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{ns:09d}Z"


class Plugin:
    """Publishes; a context manager as pywaggle's is."""

    def __init__(self):
        self._dir = os.environ.get("PYWAGGLE_LOG_DIR")
        if self._dir:
            os.makedirs(os.path.join(self._dir, "uploads"), exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None

    def _write(self, name, value, meta, timestamp):
        if not self._dir:
            return
        line = json.dumps({"name": name, "timestamp": _iso(timestamp), "meta": meta, "value": value})
        with open(os.path.join(self._dir, "data.ndjson"), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def publish(self, name, value, meta=None, timestamp=None, scope="all"):
        """A measurement. Numbers are gauges of the application, their names with _ for dots."""
        meta = {} if meta is None else meta
        timestamp = time.time_ns() if timestamp is None else timestamp
        _check(name, value, meta, timestamp)
        if not isinstance(value, str):
            try:
                sonde.metric_set(name.replace(".", "_"), float(value))
            except OverflowError:
                sonde.metric_set(name.replace(".", "_"), float("nan"))  # rejected there, and counted
        self._write(name, value, meta, timestamp)

    def upload_file(self, path, meta=None, timestamp=None, keep=False):
        """Into uploads/ below PYWAGGLE_LOG_DIR, as <ns>-<name>; the file is moved unless it is to be kept."""
        timestamp = time.time_ns() if timestamp is None else timestamp
        if not self._dir:
            return
        target = os.path.join(self._dir, "uploads", f"{timestamp}-{os.path.basename(path)}")
        (shutil.copyfile if keep else shutil.move)(path, target)
        self._write("upload", target, {} if meta is None else meta, timestamp)

    @contextlib.contextmanager
    def timeit(self, name, meta=None):
        """Publish how long the block took, in nanoseconds; also when it raised."""
        start = time.perf_counter_ns()
        try:
            with sonde.span(name, "waggle"):
                yield
        finally:
            self.publish(name, time.perf_counter_ns() - start, meta)
