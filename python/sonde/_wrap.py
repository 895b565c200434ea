"""Functions that run inside a span, loops whose iterations are steps, and what takes time as a metric."""
import functools
import inspect
import time

try:
    from ._sonde import is_on, metric_observe, step
except ImportError:
    from ._off import is_on, metric_observe, step


def decorate(span, function):
    """`function` run inside a span like `span` each time it is called.

    Of a coroutine or a generator the span lasts from its first step to its end.
    """
    again = span._again

    if inspect.iscoroutinefunction(function):

        async def wrapper(*args, **kwargs):
            with again():
                return await function(*args, **kwargs)

    elif inspect.isasyncgenfunction(function):

        async def wrapper(*args, **kwargs):
            with again():
                async for item in function(*args, **kwargs):
                    yield item

    elif inspect.isgeneratorfunction(function):

        def wrapper(*args, **kwargs):
            with again():
                return (yield from function(*args, **kwargs))

    elif isinstance(function, type) or not callable(function):
        return function

    else:

        def wrapper(*args, **kwargs):
            with again():
                return function(*args, **kwargs)

    return functools.update_wrapper(wrapper, function)


def _steps(iterable, name):
    index = 0
    for item in iterable:
        try:
            yield item
        finally:
            step(name, index)
        index += 1


def iterate(iterable, name):
    """`iterable`, with a step of `name` at the end of each iteration of the loop over it."""
    return _steps(iterable, name) if is_on() else iter(iterable)


class timer:
    """The seconds of a block, or of each call of a function, as a histogram of this name."""

    __slots__ = ("name", "_begun")

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self._begun = time.perf_counter()
        return self

    def __exit__(self, *exception):
        metric_observe(self.name, time.perf_counter() - self._begun)

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with timer(self.name):
                return function(*args, **kwargs)

        return wrapper
