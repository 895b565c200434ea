"""Read what libsonde left in a ring directory, by the layout of sonde/shm.h.

Everything is bounds-checked: a record that makes no sense ends its chunk and is
counted in Ring.broken. Times are raw ticks; names are resolved.
"""
import os
import struct

SEGMENT_MAGIC = 0x544E454D47455353
HEAD_BYTES, CHUNK_BYTES, CHUNKS_MAX, OPEN_MAX = 4096, 32768, 32, 32
CHUNK_FIRST = 64 + 16 * OPEN_MAX
OWNER_FULL = 0xFFFFFFFF
PENDING, DONE, RUNNING, END = 1, 2, 3, 4
KINDS = [None, "call", "run", "exec", "span", "instant", "counter", "step", "meta", "func", "string", "file", "process",
         "who", "module", "gpu", "brief"]
NOTES = ("span", "instant", "counter", "step", "meta", "func")


class Note:
    """An annotation or function call; `args` is a list of (key, type, value), text as bytes."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __repr__(self):
        return repr(self.__dict__)


class Process:
    def __init__(self, number):
        self.number = number
        self.pid = self.parent = 0
        self.dropped = self.filtered = 0
        self.strings, self.modules, self.notes, self.opens, self.calls = {}, [], [], [], 0
        self.board = None

    def name(self, string_id):
        return None if not string_id else self.strings.get(string_id, b"?%d" % string_id).decode("utf-8", "replace")


def read_strings(data, at, count):
    out = []
    for _ in range(count):
        (length,) = struct.unpack_from("<I", data, at)
        if at + 4 + length > len(data):
            raise ValueError("string beyond its record")
        out.append(bytes(data[at + 4:at + 4 + length]))
        at += (4 + length + 7) & ~7
    return out


def read_args(data, count):
    out, at = [], 56
    for _ in range(count):
        key, kind = struct.unpack_from("<II", data, at)
        if kind == 4:
            (length,) = struct.unpack_from("<Q", data, at + 8)
            if at + 16 + length > len(data):
                raise ValueError("argument beyond its record")
            value = bytes(data[at + 16:at + 16 + length])
            at += (length + 7) & ~7
        else:
            (value,) = struct.unpack_from({1: "<q", 2: "<Q", 3: "<d"}[kind], data, at + 8)
        out.append((key, "iurs"[kind - 1], value))
        at += 16
    return out


class Ring:
    def __init__(self, path):
        self.processes, self.broken, self.pending = {}, 0, 0
        for name in sorted(os.listdir(path)):
            process, _, number = name.partition(".")
            if process.isdigit() and number.isdigit():
                self.read_segment(open(os.path.join(path, name), "rb").read())
            elif process.isdigit() and number == "board":
                self.read_board(open(os.path.join(path, name), "rb").read())
        for p in self.processes.values():
            self.resolve(p)

    def process(self, number):
        return self.processes.setdefault(number, Process(number))

    def read_segment(self, data):
        magic, _, kind, number, _, pid, _, parent, chunks = struct.unpack_from("<QIIIIiiII", data)
        if magic != SEGMENT_MAGIC or kind != 1:
            return
        (dropped,) = struct.unpack_from("<Q", data, 56)
        owners = struct.unpack_from("<%dI" % CHUNKS_MAX, data, 112)
        p = self.process(number)
        p.pid, p.parent = pid, parent
        p.dropped += dropped
        for i in range(min(chunks, CHUNKS_MAX)):
            start = HEAD_BYTES + i * CHUNK_BYTES
            if owners[i] and start + CHUNK_BYTES <= len(data):
                self.read_chunk(p, data[start:start + CHUNK_BYTES], owners[i])

    def read_chunk(self, p, chunk, owner):
        _, tid, depth, _, _, filtered = struct.unpack_from("<QiIQqQ", chunk)
        p.filtered += filtered
        who, at = [p.pid, tid], CHUNK_FIRST
        while at + 8 <= CHUNK_BYTES:
            words, kind, state, call, _ = struct.unpack_from("<HBBHH", chunk, at)
            if not words:
                break
            if at + 8 * words > CHUNK_BYTES or kind >= len(KINDS):
                self.broken += 1
                break
            if state == PENDING:
                self.pending += 1
            elif state != END:
                try:
                    self.read_record(p, who, KINDS[kind], call, chunk[at:at + 8 * words])
                except (struct.error, ValueError, KeyError):
                    self.broken += 1
            at += 8 * words
        if owner != OWNER_FULL:
            for i in range(min(depth, OPEN_MAX)):
                ticks, what = struct.unpack_from("<QQ", chunk, 64 + 16 * i)
                p.opens.append(Note(tid=who[1], depth=i, ticks=ticks, what=what, total=depth))

    def read_record(self, p, who, kind, call, data):
        if kind == "brief":
            ticks, dur, category = struct.unpack_from("<QII", data, 8)
            depth, = struct.unpack_from("<H", data, 6)
            p.notes.append(Note(kind="span", pid=who[0], tid=who[1], ticks=ticks, dur=dur, id=call, cat=category, depth=depth,
                                index=0, value=0.0, args=[]))
        elif kind in NOTES:
            if kind in ("span", "instant", "func") and not call:
                data = data.ljust(56, b"\0")  # index and value may be left out
            ticks, dur, name, category, depth, index, value = struct.unpack_from("<QQQIIqd", data, 8)
            p.notes.append(Note(kind=kind, pid=who[0], tid=who[1], ticks=ticks, dur=dur, id=name, cat=category, depth=depth,
                                index=index, value=value, args=read_args(data, call)))
        elif kind in ("string", "module"):
            number, base = struct.unpack_from("<QQ", data, 8)
            text = read_strings(data, 24, call)[0]
            if kind == "string":
                if p.strings.setdefault(number, text) != text:
                    raise ValueError("one id, two strings")
            else:
                p.modules.append((number, base, text.decode()))
        elif kind == "who":
            who[:] = struct.unpack_from("<ii", data, 8)
        else:
            p.calls += 1

    def read_board(self, data):
        magic, _, kind, number = struct.unpack_from("<QIII", data)
        if magic == SEGMENT_MAGIC and kind == 2:
            self.process(number).board = Board(data[HEAD_BYTES:])

    @staticmethod
    def resolve(p):
        for n in p.notes:
            n.name = n.id if n.kind == "func" else p.name(n.id)
            n.cat = p.name(n.cat)
            n.args = [(p.name(key), kind, value) for key, kind, value in n.args]
        for o in p.opens:
            o.name = o.what & ~(1 << 63) if o.what >> 63 else p.name(o.what)
        p.notes.sort(key=lambda n: n.ticks)

    def notes(self, *kinds):
        return [n for p in sorted(self.processes.values(), key=lambda p: p.number) for n in p.notes if n.kind in kinds]

    def only(self):
        """The one process that left something."""
        (p,) = [p for p in self.processes.values() if p.notes or p.opens or p.board]
        return p


class Board:
    METRICS, KNOBS, HISTOGRAMS, BUCKETS = 256, 64, 64, 256
    METRIC_AT = 64
    KNOB_AT = METRIC_AT + METRICS * 128
    HISTOGRAM_AT = KNOB_AT + KNOBS * 256

    def __init__(self, data):
        self.metrics, self.knobs, self.knob_slots = {}, {}, {}
        for i in range(self.METRICS):
            name, kind, histogram, count, rejected, value, ticks, index, first_ticks, first_value = struct.unpack_from(
                "<64sIIQQdQqQd", data, self.METRIC_AT + 128 * i)
            if kind:
                self.metrics[text(name), kind] = Note(count=count, rejected=rejected, value=value, index=index, ticks=ticks,
                                                      first_ticks=first_ticks, first_value=first_value,
                                                      histogram=self.histogram(data, histogram))
        for i in range(self.KNOBS):
            at = self.KNOB_AT + 256 * i
            name, kind, generation = struct.unpack_from("<64sII", data, at)
            form = "<ddddd" if kind == 2 else "<qqqqq"
            value, wanted, low, high, fallback = struct.unpack_from(form, data, at + 72)
            seen, refused = struct.unpack_from("<II", data, at + 112)
            if kind:
                self.knobs[text(name)] = Note(kind=kind, generation=generation, value=value, low=low, high=high, fallback=fallback, seen=seen,
                                              refused=refused, choices=text(data[at + 128:at + 256]))
                self.knob_slots[text(name)] = HEAD_BYTES + at

    def histogram(self, data, number):
        if not 1 <= number <= self.HISTOGRAMS:
            return None
        at = self.HISTOGRAM_AT + (number - 1) * (32 + 8 * self.BUCKETS)
        total, low, high, count = struct.unpack_from("<dddQ", data, at)
        return Note(sum=total, low=low, high=high, count=count,
                    buckets=struct.unpack_from("<%dQ" % self.BUCKETS, data, at + 32))


def text(raw):
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def escaped(raw):
    """A text on one line without spaces, as expect.h prints it."""
    if raw is None:
        return "-"
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogateescape")
    return "".join(chr(c) if 33 <= c < 127 and c != 92 else "\\x%02x" % c for c in raw) or '""'


def line(note):
    """A note as expect.h prints it."""
    words = [note.kind, escaped(note.name), escaped(note.cat), str(note.depth)]
    if note.kind == "step":
        words.append(str(note.index))
    if note.kind in ("step", "counter"):
        words.append("%.17g" % note.value)
    for key, kind, value in note.args:
        shown = escaped(value) if kind == "s" else "%.17g" % value if kind == "r" else str(value)
        words.append("%s=%s:%s" % (escaped(key), kind, shown))
    return " ".join(words)
