"""A `with` span and nothing else; prints nanoseconds of CPU time each, the empty loop taken off."""
import sys
import time

import sonde

count = int(sys.argv[1])


def nothing():
    for _ in range(count):
        pass


def spans():
    for _ in range(count):
        with sonde.span("x"):
            pass


def cpu_ns(loop):
    start = time.thread_time_ns()
    loop()
    return time.thread_time_ns() - start


print((cpu_ns(spans) - cpu_ns(nothing)) / count)
