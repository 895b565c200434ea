"""Arguments of events: a value and its role in aggregation."""
import enum


class TagType(enum.IntEnum):
    KEY = 0
    VALUE = 1
    IGNORE = 2


class TagDType(enum.IntEnum):
    INT = 0
    FLOAT = 1
    STRING = 2


_CONVERT = {TagDType.INT: int, TagDType.FLOAT: float, TagDType.STRING: str}


class TagValue:
    """A value with its type and its role, for update(args={"key": TagValue(3, TagDType.INT, TagType.VALUE)})."""

    def __init__(self, value, dtype=TagDType.STRING, tag_type=TagType.KEY):
        self._value = _CONVERT[dtype](value)
        self._dtype = dtype
        self._tag_type = tag_type

    def value(self):
        return int(self._tag_type), self._value


NAMES = ("epoch", "step", "image_idx", "image_size")  # arguments that have parameters of their own


def pair(value):
    """(role, plain value) of what a user gave; numbers of other libraries become ours."""
    if isinstance(value, TagValue):
        return value.value()
    if isinstance(value, (bool, int, float, str)):
        return int(TagType.KEY), int(value) if isinstance(value, bool) else value
    for convert in (lambda v: v.__index__(), lambda v: v.__float__()):  # numpy and torch scalars
        try:
            return int(TagType.KEY), convert(value)
        except (AttributeError, TypeError, ValueError, RuntimeError):
            pass
    return int(TagType.KEY), str(value)


def put(into, epoch=None, step=None, image_idx=None, image_size=None, args=None):
    """Add the given ones to a dictionary of (role, value)."""
    for name, value in zip(NAMES, (epoch, step, image_idx, image_size)):
        if value is not None:
            into[name] = pair(value)
    for name, value in (args or {}).items():
        into[str(name)] = pair(value)
    return into
