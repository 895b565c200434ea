"""PyTorch's profiler into the same trace.

    with torch.profiler.profile(on_trace_ready=trace_handler): ...
"""
from . import _core
from ._tracer import DFTRACER_ENABLE, get_time_scale

CATEGORY = "PP"


def _start_us(profile):
    """When the profiler's clock was zero, in microseconds of the epoch; its name changed between releases."""
    results = profile.profiler.kineto_results
    if hasattr(results, "trace_start_ns"):
        return results.trace_start_ns() / 1e3
    return results.trace_start_us()


def trace_handler(profile):
    """Log each operator that torch.profiler saw as an event."""
    if not DFTRACER_ENABLE:
        return
    zero, scale = _start_us(profile), get_time_scale() / 1e6
    for event in profile.events():
        start, end = event.time_range.start, event.time_range.end
        args = {"thread": (0, int(event.thread)), "device": (0, event.device_type.name)}
        if event.input_shapes:
            args["shapes"] = (0, str(event.input_shapes))
        _core.log_event(event.name, CATEGORY, int((zero + start) * scale), int((end - start) * scale), args)
