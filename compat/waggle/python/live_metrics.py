"""Waggle's live metrics, on sonde's board: what an application pushes is there for `sonde live` at once.

    server = SageAppMetricsServer({"inference": METRIC_TIMER, "fps": METRIC_RATE, "cars": METRIC_NUMBER})
    server.start_timer("inference")
    ...
    server.stop_timer("inference")
    server.push_metric("cars", 3)

There is no queue and no thread: a push is a store into shared memory. A value that is no finite number is rejected
alone and counted (`sonde_rejected_updates_total`); nothing here raises because of a value or a name. `socket_path` is
taken for the sake of old programs and not used.
"""
import time

import sonde

METRIC_TIMER = "timer"
METRIC_RATE = "rate"
METRIC_NUMBER = "number"


def _number(value):
    """As a float; NaN, which the board rejects and counts, for what cannot be one (999! is too large)."""
    try:
        return float(value)
    except Exception:  # whatever a value does when it is converted
        return float("nan")


class SageAppMetricsServer:
    """Metrics by name and kind. Timers are histograms of seconds, rates steps and a gauge, numbers gauges."""

    def __init__(self, metrics, socket_path="/metrics/live_metrics.sock"):
        self.metrics = dict(metrics)
        self.socket_path = socket_path
        self.rejected = 0  # pushes under names that were not announced, and timers that nobody started
        self._started = {}
        self._steps = {}

    def push_metric(self, name, value):
        """Seconds of a timer, events a second of a rate, or a number."""
        kind = self.metrics.get(name)
        if kind == METRIC_TIMER:
            sonde.metric_observe(f"{name}_seconds", _number(value))
        elif kind == METRIC_RATE:
            index = self._steps[name] = self._steps.get(name, -1) + 1
            sonde.step(name, index)
            sonde.metric_set(f"{name}_per_second", _number(value))
        elif kind == METRIC_NUMBER:
            sonde.metric_set(name, _number(value))
        else:
            self.rejected += 1

    def start_timer(self, name):
        """Of a timer or a rate."""
        self._started[name] = time.perf_counter()

    def stop_timer(self, name):
        """Push the time since start_timer: seconds of a timer, one over them of a rate."""
        started = self._started.pop(name, None)
        if started is None:
            self.rejected += 1
            return
        elapsed_s = time.perf_counter() - started
        if self.metrics.get(name) == METRIC_RATE:
            self.push_metric(name, 1 / elapsed_s if elapsed_s > 0 else float("inf"))
        else:
            self.push_metric(name, elapsed_s)
