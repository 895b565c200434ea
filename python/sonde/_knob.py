"""Knobs: values that may be changed from outside, by a tuner or a controller."""
try:
    from ._sonde import knob_choice, knob_int, knob_real
except ImportError:
    from ._off import knob_choice, knob_int, knob_real

INT_LOW, INT_HIGH = -(2**63), 2**63 - 1


def _int(value):
    return max(INT_LOW, min(INT_HIGH, int(value)))


def knob(name, default, low=None, high=None, choices=None):
    """The value now in force: `default` until somebody asks for another.

    A knob is an integer or a real as its default is, within `low` and `high`, or one of
    `choices` (strings without '|', at most 127 bytes together). Ask where the program can
    take up a change.
    """
    if choices is not None:
        choices = list(choices)
        if default not in choices:
            return default
        return choices[knob_choice(name, choices.index(default), "|".join(map(str, choices)))]
    if isinstance(default, bool):
        return bool(knob_int(name, int(default), 0, 1))
    if isinstance(default, int):
        if _int(default) != default:
            return default
        return knob_int(name, default, INT_LOW if low is None else _int(low), INT_HIGH if high is None else _int(high))
    if isinstance(default, float):
        return knob_real(name, default, float("-inf") if low is None else low, float("inf") if high is None else high)
    return default
