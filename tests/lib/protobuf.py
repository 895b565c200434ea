"""Protocol Buffers as somebody else reads them: for tests of what sonde writes."""
import collections


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at += 1
        if not data[at - 1] & 0x80:
            return value, at
        shift += 7


def fields(data):
    """The fields of a message: number -> list of values."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif tag & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
            assert len(value) == n
        else:
            raise ValueError(tag)
        found[tag >> 3].append(value)
    return found
