"""PyTorch's profiler into the same trace.

    with torch.profiler.profile(on_trace_ready=trace_handler): ...
"""
from . import _core
from ._tracer import DFTRACER_ENABLE

CATEGORY = "PP"


def _start_us(profile):
    """When the profiler's clock was zero, in microseconds of the epoch; its name changed between releases."""
    results = profile.profiler.kineto_results
    if hasattr(results, "trace_start_ns"):
        return results.trace_start_ns() / 1e3
    return results.trace_start_us()


def _args(event):
    """Names as DFTracer has them; not every release of PyTorch tells all."""
    found = {"thread": int(event.thread), "device": int(event.device_type.value),
             "cpu_memory": getattr(event, "cpu_memory_usage", None), "is_remote": getattr(event, "is_remote", None),
             "device_memory_usage": getattr(event, "device_memory_usage", getattr(event, "cuda_memory_usage", None)),
             "input_size": sum(len(shape) for shape in event.input_shapes or ())}
    return {name: (0, int(value)) for name, value in found.items() if value is not None}


def trace_handler(profile):
    """Log each operator that torch.profiler saw as an event."""
    if not DFTRACER_ENABLE:
        return
    _core.mark_used("torch_profiler")
    zero = _start_us(profile)
    for event in profile.events():
        start, end = event.time_range.start, event.time_range.end
        _core.log_event(event.name, CATEGORY, int(zero + start), int(end - start), _args(event))
