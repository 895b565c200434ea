"""Every kind of annotation in Python; prints what must be recorded, as ring.line shows it."""
import enum
import sys

import sonde

TEXT = "\u65e5\u672c 'quoted' \"quoted\"\n"


def escaped(text):
    return "".join(chr(c) if 33 <= c < 127 and c != 92 else "\\x%02x" % c for c in text.encode()) or '""'


def expect(kind, name, cat, depth, *words):
    print(kind, escaped(name), "-" if cat is None else escaped(cat), depth, *words)


class Awkward:
    """What conversion must survive."""

    def __str__(self):
        raise ValueError("no text")

    def __index__(self):
        raise OverflowError("no number")


class Colour(enum.IntEnum):
    RED = 3


def arguments():
    with sonde.span("plain"):
        expect("span", "plain", None, 0)
    with sonde.span("typed", "cat", i=-(2**63), u=2**64 - 1, huge=2**70, r=0.5, t=TEXT, b=b"\xff\0", yes=True, none=None,
                    e=Colour.RED, l=[1, "a"]) as s:
        expect("span", "typed", "cat", 0, "i=i:-9223372036854775808", "u=u:18446744073709551615", "huge=s:%d" % 2**70,
               "r=r:0.5", "t=s:" + escaped(TEXT), "b=s:\\xff\\x00", "yes=i:1", "none=s:None", "e=i:3", "l=s:[1,\\x20'a']",
               "late=r:nan", "later=i:2", "last=i:3")
        s.arg("late", float("nan")).update(later=2).arg("last", 3)
    with sonde.span("keywords", cat="named", name=1):
        expect("span", "keywords", "named", 0, "name=i:1")
    with sonde.span("awkward", a=Awkward(), n=1):
        expect("span", "awkward", None, 0, "n=i:1")
    with sonde.span(17, None):
        expect("span", "17", None, 0)
    with sonde.span("lone \ud800 surrogate", x="\udcff"):
        expect("span", "lone \\ud800 surrogate", None, 0, "x=s:" + escaped("\\udcff"))
    with sonde.span("long", text="x" * 200000):
        expect("span", "long", None, 0, "text=s:" + "x" * 253 + "\\xe2\\x80\\xa6")
    with sonde.span(Awkward()):
        pass


def nesting():
    with sonde.span("outer"):
        expect("span", "outer", None, 0)
        with sonde.span("middle"):
            expect("span", "middle", None, 1)
            for _ in range(3):
                with sonde.span("inner"):
                    expect("span", "inner", None, 2)
        try:
            with sonde.span("raises"):
                expect("span", "raises", None, 1)
                raise KeyError
        except KeyError:
            pass
    again = sonde.span("again")
    for _ in range(2):
        with again, again:  # inside itself it is one
            expect("span", "again", None, 0)


@sonde.span("decorated", "deco", fixed=1)
def decorated(n):
    """Its own text."""
    expect("span", "decorated", "deco", n, "fixed=i:1")
    return decorated(n + 1) if n < 3 else "result"


@sonde.span
def bare():
    expect("span", "bare", None, 0)


class Thing:
    @sonde.span("method")
    def method(self):
        expect("span", "method", None, 0)
        return self

    @staticmethod
    @sonde.span
    def static():
        expect("span", "Thing.static", None, 0)


@sonde.span("generator")
def generator(n):
    expect("span", "generator", None, 0)
    got = yield from range(n)
    return got or "returned"


def decorators():
    assert decorated(0) == "result" and decorated.__doc__ == "Its own text." and decorated.__name__ == "decorated"
    bare()
    thing = Thing()
    assert thing.method() is thing
    Thing.static()
    assert list(generator(3)) == [0, 1, 2]
    unfinished = generator(3)
    next(unfinished)
    unfinished.close()


def interleaved():
    """Generators whose spans end in another order than they began."""
    def one(name):
        with sonde.span(name):
            yield

    first, second, third = one("first"), one("second"), one("third")
    for depth, (name, each) in enumerate((("first", first), ("second", second), ("third", third))):
        expect("span", name, None, depth)
        next(each)
    list(first)
    list(third)
    with sonde.span("on top"):
        expect("span", "on top", None, 1)
    list(second)
    with sonde.span("after"):
        expect("span", "after", None, 0)


def values():
    sonde.instant("now")
    expect("instant", "now", None, 0)
    sonde.instant("now", "cat", n=1)
    expect("instant", "now", "cat", 0, "n=i:1")
    sonde.instant("now", cat="cat", s="t")
    expect("instant", "now", "cat", 0, "s=s:t")
    sonde.counter("queue", 3)
    expect("counter", "queue", None, 0, "3")
    for not_a_number in (float("nan"), float("inf"), None, "three"):
        sonde.counter("queue", not_a_number)
    sonde.step("epoch", 0)
    expect("step", "epoch", None, 0, "0", "nan")
    sonde.step("epoch", index=1, value=0.25)
    expect("step", "epoch", None, 0, "1", "0.25")
    sonde.step("epoch", 2**80, "none")
    expect("step", "epoch", None, 0, str(2**63 - 1), "nan")
    sonde.step("epoch", "not an index")
    for n in sonde.iterate("abc", "letters"):
        if n == "c":
            expect("step", "letters", None, 0, "2", "nan")
            break
        expect("step", "letters", None, 0, str("abc".index(n)), "nan")
    sonde.meta("config", {"lr": 0.1})
    expect("meta", "config", None, 0, "config=s:" + escaped("{'lr': 0.1}"))
    sonde.metric_add("added")
    sonde.metric_add("added", 2)
    sonde.metric_set("set", 1.5)
    sonde.metric_observe("seen", 2)
    sonde.rate("paced")
    sonde.rate("paced", value=2.5)
    sonde.rate("paced", "word")
    with sonde.timer("took_seconds"):
        pass
    try:
        with sonde.timer("took_seconds"):
            raise ValueError
    except ValueError:
        pass
    assert sonde.timer("took_seconds")(lambda a, b=1: (a, b))(5, b=6) == (5, 6)
    assert [sonde.knob("i", 3), sonde.knob("r", 0.5, 0, 1), sonde.knob("b", True), sonde.knob("c", "y", choices="xyz")] == [
        3, 0.5, True, "y"]
    assert sonde.knob("big", 2**70) == 2**70 and sonde.knob("other", None) is None


def misuse():
    """The same whether or not anything records."""
    for wrong in (lambda: sonde.span(), lambda: sonde.step("x"), lambda: sonde.counter("x"), lambda: sonde.span("a", "b", "c")):
        try:
            wrong()
        except TypeError:
            continue
        sys.exit("a wrong call was accepted")


arguments()
nesting()
decorators()
interleaved()
values()
misuse()
print("on" if sonde.is_on() else "off", file=sys.stderr)
