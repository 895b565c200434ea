"""Iterations of a loop inside a program, for `sonde duet --iterations fd`.

    from sonde import duet

    for iteration in duet.iterations(100):
        work()
        iteration.value = 3.5    # optional, compared with --metric value

sonde decides when each iteration begins and when there are enough. Run without
sonde, the loop makes `most` iterations as any other would.
"""
import os
import time

__all__ = ["Iteration", "is_on", "iterations"]

_fd = int(os.environ["SONDE_DUET_FD"]) if os.environ.get("SONDE_DUET_FD") else -1


class Iteration:
    """One iteration: its number, and a value that it may be given."""

    def __init__(self, number):
        self.number = number
        self.value = None


def is_on():
    """Does a duet listen?"""
    return _fd >= 0


def _send(text):
    data = text.encode()
    while data:
        data = data[os.write(_fd, data):]


def _may_begin():
    if _fd < 0:
        return True
    answer = b""
    try:
        _send("begin\n")
        while not answer.endswith(b"\n"):
            byte = os.read(_fd, 1)
            if not byte:
                return False
            answer += byte
    except OSError:
        return False
    return answer == b"go\n"


def iterations(most=None):
    """Iterations until the duet has enough; without a duet, or at the latest, `most` of them."""
    number = 0
    if most is None and _fd < 0:
        most = 1
    while (most is None or number < most) and _may_begin():
        iteration = Iteration(number)
        cpu, start = time.process_time_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        yield iteration
        end, used = time.clock_gettime_ns(time.CLOCK_MONOTONIC), time.process_time_ns() - cpu
        number += 1
        if _fd >= 0:
            value = "-" if iteration.value is None else repr(float(iteration.value))
            try:
                _send(f"end {start} {end} {used} {value}\n")
            except OSError:
                return
