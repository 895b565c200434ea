"""ai: the conventions for events of machine learning, as a tree that is used in place.

    @ai.compute.forward               a function
    with ai.comm.all_reduce: ...      a region
    for batch in ai.dataloader.fetch.iter(loader): ...
    ai.pipeline.epoch.start() ... .stop()

Each node stands for one event of its category. update(), enable() and disable()
go for a whole subtree, derive(name) makes a further node below one.
"""
import functools

from . import _core
from ._args import put
from ._function import Starts, log_loop, run_timed
from ._tracer import DFTRACER_ENABLE

# Category -> its events.
TREE = {
    "compute": ("forward", "backward", "step"),
    "data": ("preprocess", "item"),
    "dataloader": ("fetch",),
    "comm": ("send", "receive", "barrier", "bcast", "reduce", "all_reduce", "gather", "all_gather", "scatter",
             "reduce_scatter", "all_to_all"),
    "device": ("transfer",),
    "checkpoint": ("capture", "restart"),
    "pipeline": ("epoch", "train", "evaluate", "test"),
    "io": ("open", "read", "write", "close", "stat", "sync"),
    "other": (),
}
# Below these, too: what is done to files on their behalf, named data.io.open and so on.
WITH_IO = ("data", "checkpoint", "other")
IO_EVENTS = ("open", "read", "write", "close")


class DFTracerAI:
    def __init__(self, *, cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        self._cat = cat
        self._name = name or cat
        self._args = put({}, epoch, step, image_idx, image_size)
        self._enable = enable
        self._children = {}
        self._starts = Starts()

    @property
    def cat(self):
        return self._cat

    @property
    def name(self):
        return self._name

    def _is_on(self):
        return DFTRACER_ENABLE and self._enable

    def _child(self, attribute, name):
        child = self._children.get(attribute)
        if child is None:
            child = self._children[attribute] = DFTracerAI(cat=self._cat, name=name, enable=self._enable)
            child._args.update(self._args)
        return child

    def derive(self, name):
        """The node <this name>.<name>."""
        full = f"{self._name}.{name}"
        return self._child(full, full)

    def __call__(self, fn=None, *, enable=None, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """As a decorator, or with arguments: a node of its own that has them."""
        if fn is not None:
            return self._decorate(fn, enable, put({}, epoch, step, image_idx, image_size, args))
        node = DFTracerAI(cat=self._cat, name=self._name, enable=self._enable if enable is None else enable)
        node._args.update(self._args)
        put(node._args, epoch, step, image_idx, image_size, args)
        return node

    def _decorate(self, fn, enable, own):
        if not DFTRACER_ENABLE or enable is False:
            return fn

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            if not self._enable:
                return fn(*args, **kwargs)
            return run_timed(self._name, self._cat, {**self._args, **own}, fn, args, kwargs)

        return wrapper

    def init(self, fn=None, **how):
        """The node <name>.init: for a constructor."""
        return self.derive("init")(fn, **how)

    def __enter__(self):
        on = self._is_on()
        self._starts.times.append(_core.get_time() if on else None)
        if on:
            _core.enter_event()
        return self

    def __exit__(self, *exception):
        start = self._starts.times.pop() if self._starts.times else None
        if start is not None:
            _core.log_event(self._name, self._cat, start, _core.get_time() - start, self._args)
            _core.exit_event()

    def start(self, metadata=False):
        self._mark("start", self.__enter__, metadata)

    def stop(self, metadata=False):
        self._mark("end", self.__exit__, metadata)

    def _mark(self, word, otherwise, is_metadata):
        """As metadata only the instant is kept: what happens within need not nest."""
        if not is_metadata:
            otherwise()
        elif self._is_on():
            _core.log_metadata_event(f"{self._name}.{word}", str(_core.get_time()))

    def iter(self, iterator, *, include_block=True, include_iter=True, iter_name=None, block_name=None):
        """Go through an iterable; an item is two events: <name>.iter for getting it, <name>.block for the body."""
        if not DFTRACER_ENABLE:
            return iter(iterator)
        names = (include_iter and (iter_name or self._suffixed("iter")), include_block and (block_name or self._suffixed("block")))
        return log_loop(iterator, self._cat, names, lambda: self._args, "count", self._is_on)

    def _suffixed(self, word):
        return self._name if self._name.endswith("." + word) else f"{self._name}.{word}"

    def update(self, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        if self._is_on():
            put(self._args, epoch, step, image_idx, image_size, args)
        for child in self._children.values():
            child.update(epoch, step, image_idx, image_size, args)
        return self

    def reset(self):
        if self._starts.times and self._starts.times[-1] is not None:
            self._starts.times[-1] = _core.get_time()

    def get_time(self):
        return _core.get_time() if DFTRACER_ENABLE else 0

    def _switch(self, enable):
        self._enable = enable
        for child in self._children.values():
            child._switch(enable)

    def enable(self):
        self._switch(True)

    def disable(self):
        self._switch(False)


def make_tree():
    root = DFTracerAI(cat="ai_root", name="ai_root")
    for category, events in TREE.items():
        node = root._children[category] = DFTracerAI(cat=category)
        setattr(root, category, node)
        for event in events:
            setattr(node, event, node._child(event, event))
        if category in WITH_IO:
            node.io = node.derive("io")
            for event in IO_EVENTS:
                setattr(node.io, event, node.io.derive(event))
    root.other.log = root.other.derive("log")
    return root


ai = make_tree()
