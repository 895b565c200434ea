"""Annotate a Python program; record, compare, tune and watch it with sonde.

    import sonde

    @sonde.span("load")
    def load(path): ...

    with sonde.span("train", "ml", epochs=3) as s:
        for batch in sonde.iterate(batches, "batch"):   # a step per iteration
            ...
        s.arg("loss", loss)

    sonde.step("epoch", 1, loss)
    sonde.counter("queue", len(queue))
    threads = sonde.knob("threads", 4)

Under `sonde record` the annotations are recorded; anywhere else they cost next to
nothing. They never raise because of a value, whatever it does when it is converted.
"""
try:
    from ._sonde import counter, instant, is_on, meta, metric_add, metric_observe, metric_set, rate, span, step
except ImportError:
    from ._off import counter, instant, is_on, meta, metric_add, metric_observe, metric_set, rate, span, step
from ._knob import knob
from ._wrap import iterate, timer

__all__ = [
    "counter",
    "instant",
    "is_on",
    "iterate",
    "knob",
    "meta",
    "metric_add",
    "metric_observe",
    "metric_set",
    "rate",
    "span",
    "step",
    "timer",
]
