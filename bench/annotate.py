"""What an annotation costs in Python: prints name, tab, nanoseconds of CPU time over an empty loop. Run by annotate.c."""
import time

import sonde

TIMES = 50000


@sonde.span("decorated")
def decorated():
    pass


def plain():
    pass


def measure(name, loop, empty=0):
    best = float("inf")
    for _ in range(5):
        start = time.thread_time_ns()
        loop()
        best = min(best, time.thread_time_ns() - start)
    if name:
        print("%s\t%.1f" % (name, (best - empty) / TIMES))
    return best


def nothing():
    for _ in range(TIMES):
        pass


def spans():
    for _ in range(TIMES):
        with sonde.span("x"):
            pass


def spans_with_argument():
    for i in range(TIMES):
        with sonde.span("x", i=i):
            pass


def calls():
    for _ in range(TIMES):
        plain()


def decorated_calls():
    for _ in range(TIMES):
        decorated()


def steps():
    for i in range(TIMES):
        sonde.step("x", i)


empty = measure(None, nothing)
measure("Python with-span", spans, empty)
measure("Python with-span, an argument", spans_with_argument, empty)
measure("Python decorator", decorated_calls, measure(None, calls))
measure("Python step", steps, empty)
