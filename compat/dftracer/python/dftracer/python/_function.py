"""dft_fn: functions, constructors, loops and regions of one category."""
import functools
import inspect
import threading

from . import _core
from ._args import NAMES, pair, put
from ._entity import EntityRelation, is_of_event, with_relations
from ._tracer import DFTRACER_ENABLE, dftracer


class Starts(threading.local):
    """When the regions that this thread has open began."""

    def __init__(self):
        self.times = []


def run_timed(name, cat, args, func, positional, named):
    """Call func, and log one event for it however it ends."""
    start = _core.get_time()
    _core.enter_event()
    try:
        return func(*positional, **named)
    finally:
        _core.log_event(name, cat, start, _core.get_time() - start, args)
        _core.exit_event()


def log_loop(iterable, cat, names, args, count_name, is_enabled):
    """Yield each item, and log two events for it: names[0] for getting it, names[1] for what is done with it."""
    count = 1
    items = iter(iterable)
    while True:
        is_on = is_enabled()
        start = _core.get_time() if is_on else 0
        try:
            item = next(items)
        except StopIteration:
            return
        middle = _core.get_time() if is_on else 0
        numbered = {**args(), count_name: (0, count)} if is_on else None
        if is_on and names[0]:
            log_flat(names[0], cat, start, middle, numbered)
        yield from body(item, cat, names[1], middle, numbered) if is_on else (item,)
        count += 1


def body(item, cat, name, start, args):
    """What is done with an item: the events of its time are inside it, however it is left."""
    _core.enter_event()
    try:
        yield item
    finally:
        if name:
            _core.log_event(name, cat, start, _core.get_time() - start, args)
        _core.exit_event()


def log_flat(name, cat, start, end, args):
    _core.enter_event()
    _core.log_event(name, cat, start, end - start, args)
    _core.exit_event()


class dft_fn:
    """Events of a category. The time of a region runs from its constructor, reset() or `with` to flush() or the end."""

    def __init__(self, cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        self._cat = cat
        self._enable = enable and DFTRACER_ENABLE
        self._name = name or (inspect.currentframe().f_back.f_code.co_name if self._enable else "")
        self._args = put({}, epoch, step, image_idx, image_size)
        self._relations = {}
        self._starts = Starts()
        self._start = dftracer.get_instance().get_time()
        self._is_flushed = False

    def __enter__(self):
        if self._enable:
            self._starts.times.append(_core.get_time())
            self._is_flushed = False
            _core.enter_event()
        return self

    def __exit__(self, *exception):
        if self._enable and self._starts.times:
            start = self._starts.times.pop()
            if not self._is_flushed:
                _core.log_event(self._name, self._cat, start, _core.get_time() - start, self._whole_args())
            _core.exit_event()
            self._is_flushed = False
            self._relations = {}

    def update(self, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        if self._enable:
            put(self._args, epoch, step, image_idx, image_size, args)
        return self

    def flush(self):
        """Log the region up to now."""
        if self._enable:
            times = self._starts.times
            start = times[-1] if times else self._start
            if times:
                _core.log_event(self._name, self._cat, start, _core.get_time() - start, self._whole_args())
            else:
                log_flat(self._name, self._cat, start, _core.get_time(), self._whole_args())
            self._is_flushed = True
        return self

    def reset(self):
        """The region begins now."""
        if self._enable:
            self._relations = {}
            self._start = _core.get_time()
            if self._starts.times:
                self._starts.times[-1] = self._start
            self._is_flushed = False
        return self

    def _whole_args(self):
        return with_relations(self._args, self._relations)

    def relate(self, relation, entity):
        """The event is related to an entity in this way."""
        if self._enable and entity and is_of_event(relation):
            self._relations.setdefault(EntityRelation(relation), []).append(entity)
        return self

    def _relate_to(self, relation, type_name, key, store, uri):
        entity = dftracer.get_instance().declare_entity(type_name, key, store, uri) if self._enable else 0
        self.relate(relation, entity)
        return entity

    def relate_entity(self, relation, type_name, key, store=0, uri=""):
        """Declare an entity that the event is related to; its id."""
        return self._relate_to(relation, type_name, key, store, uri)

    def uses(self, type_name, key, store=0, uri=""):
        """Declare an entity that the event uses; its id."""
        return self._relate_to(EntityRelation.USED, type_name, key, store, uri)

    def generates(self, type_name, key, store=0, uri=""):
        """Declare an entity that the event makes; its id."""
        return self._relate_to(EntityRelation.GENERATED, type_name, key, store, uri)

    def log_metadata(self, key, value):
        if self._enable:
            _core.log_metadata_event(key, str(value))

    def iter(self, func, name="loop", iter_name="step"):
        """Go through an iterable and log two events an item: <name>.iter for getting it, <name>.yield for the body."""
        if not self._enable:
            return iter(func)
        return log_loop(func, self._cat, (f"{name}.iter", f"{name}.yield"), lambda: self._args, iter_name, lambda: True)

    def log(self, func=None, name=None):
        """Decorate a function or method; its arguments epoch, step, image_idx and image_size are the event's."""
        if func is None:
            return lambda f: self.log(f, name)
        if not self._enable:
            return func
        event, find = name or func.__qualname__, finder_of(func)

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            return run_timed(event, self._cat, {**self._args, **find(args, kwargs)}, func, args, kwargs)

        return wrapper

    def log_init(self, init=None, name=None):
        """Decorate a constructor."""
        return self.log(init, name)

    def log_static(self, func=None, name=None):
        """Decorate a static method, below @staticmethod or above."""
        if isinstance(func, staticmethod):
            return staticmethod(self.log(func.__func__, name))
        return self.log(func, name)


def finder_of(func):
    """A function that finds the known arguments in a call of func: its parameters, then what `self` has."""
    try:
        parameters = inspect.signature(func).parameters
    except (TypeError, ValueError):
        return lambda args, kwargs: {}
    places = {name: (i, p.default) for i, (name, p) in enumerate(parameters.items()) if name in NAMES}
    has_self = next(iter(parameters), "") == "self"
    if not places and not has_self:
        return lambda args, kwargs: {}

    def find(args, kwargs):
        found = {}
        for name in NAMES if has_self and args else ():
            value = getattr(args[0], name, None)
            if isinstance(value, (int, float, str)):
                found[name] = pair(value)
        for name, (at, default) in places.items():
            value = args[at] if at < len(args) else kwargs.get(name, default)
            if value is not None and value is not inspect.Parameter.empty:
                found[name] = pair(value)
        return found

    return find
