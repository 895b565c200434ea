"""Functions, loops and regions of a Python program as events of a DFTracer trace.

    log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)

    @dft_fn("COMPUTE").log
    def work(step): ...

    with ai.compute.forward(step=3): ...

    log.finalize()

Nothing is written, and decorators give back the function itself, unless the trace
is enabled: DFTRACER_ENABLE=1, or `enable: true` in the file that
DFTRACER_CONFIGURATION names. PyTorch is not needed; dftracer.python.torch and
dftracer.python.dynamo want it when they are used.

Arguments of an event are its own: what one call was given is never seen in
another, and ints, floats and strings stay what they are.
"""
from ._args import TagDType, TagType, TagValue
from ._ai import DFTracerAI, ai
from ._entity import EntityRelation, EntityRole, EntityStore
from ._function import dft_fn
from ._tracer import DFTRACER_ENABLE, dftracer, get_time_scale

__all__ = ["DFTRACER_ENABLE", "DFTracerAI", "EntityRelation", "EntityRole", "EntityStore", "TagDType", "TagType", "TagValue", "ai",
           "dft_fn", "dftracer", "get_time_scale"]
