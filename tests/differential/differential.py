#!/usr/bin/python3
"""What sonde recorded of five real programs is what strace saw: nothing is missing, nothing is invented.

strace runs around `sonde record`; match.py says what counts as explained. A system call that no event explains,
or an event without its system call, fails. What the comparison would do if a hook were missing, or an event
invented, is tried too, so that its silence means something.

    differential.py [PROGRAM...]      some of tar, sqlite3, python3, git, gcc
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
import match
import programs
import straced
import tap

SHOWN = 40
LIMIT_SECONDS = 240


def real_minus_mono_ns():
    """Distance of the two clocks, from the tightest of several readings."""
    best = None
    for _ in range(50):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        real = time.clock_gettime_ns(time.CLOCK_REALTIME)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if best is None or after - before < best[0]:
            best = after - before, real - (before + after) // 2
    return best[1]


def observe(name, scratch):
    """Run one program under both; the trace, the events and what went wrong."""
    work, run, log = (os.path.join(scratch, part) for part in ("work", "run", "log"))
    os.mkdir(work)
    argv, extra = programs.PROGRAMS[name](work)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8", "TMPDIR": scratch} | extra
    with open(os.path.join(scratch, "output"), "wb") as output:
        done = straced.run([tap.SONDE, "record", "-o", run, "--overflow", "block", "--", *argv], log, cwd=work, env=env,
                           stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=LIMIT_SECONDS)
    problems = []
    if done.returncode:
        with open(os.path.join(scratch, "output"), encoding="utf-8", errors="replace") as output:
            problems.append(f"status {done.returncode}: {output.read()[-800:]}")
    probe = tap.trace_probe(run)
    problems += [f"{key}: {probe[key]}" for key in ("dropped", "damaged", "unfinished", "blind_processes") if probe[key]]
    return straced.Trace(log), tap.events(run), problems


def describe(compared):
    counts = ", ".join(f"{compared.counts[kind]} {kind}" for kind in ("matched", "inside", "loader", "own", "excepted", "unexplained"))
    tap.diag(counts)
    tap.diag("inside: " + ", ".join(f"{n} {name}" for name, n in compared.inside.most_common()))
    tap.diag("own: " + ", ".join(f"{n} {name}" for name, n in compared.own.most_common()))
    for reason, n in compared.exceptions.items():
        tap.diag(f"excepted: {n}, {reason}")


def without(events, call):
    return [e for e in events if match.plain_name(e["call"]) != call]


def invented(events):
    """The events and one more: a close in a quiet moment."""
    last = max((e for e in events if e["dur_ns"] is not None), key=lambda e: e["ts_ns"])
    return events + [last | {"call": "close", "ts_ns": last["ts_ns"] + last["dur_ns"] + 1000, "dur_ns": 10, "fd": 3, "ret": 0, "errno": 0}]


def compare(name, scratch):
    offset = real_minus_mono_ns()
    trace, events, problems = observe(name, scratch)
    compared = match.Comparison(trace, events, offset)
    tap.diag(f"{name}: {len(events)} events")
    describe(compared)
    if not compared.counts["matched"]:
        problems.append("no system call matches any event")
    problems += [f"not traced: {call.tid} {call.text[:200]}" for call in compared.blind]
    problems += [f"unexplained: {call.tid} {call.text[:200]}: {why[:200]}" for call, why in compared.unexplained[:SHOWN]]
    tap.check(f"{name}: every file system call that strace saw is explained", problems)
    tap.check(f"{name}: strace saw every call that was recorded", [f"phantom: {event}"[:300] for event in compared.phantoms[:SHOWN]])
    blind = match.Comparison(trace, without(events, "close"), offset)
    tap.check(f"{name}: a missing hook would be noticed", [] if blind.counts["unexplained"] > compared.counts["unexplained"] else ["it is not"])
    dreaming = match.Comparison(trace, invented(events), offset)
    tap.check(f"{name}: an invented event would be noticed", [] if len(dreaming.phantoms) == len(compared.phantoms) + 1 else ["it is not"])


def main():
    if not shutil.which("strace"):
        tap.skip_service("strace is not installed")
    for name in programs.PROGRAMS:
        if not sys.argv[1:] or name.split()[0] in sys.argv[1:]:
            with tempfile.TemporaryDirectory(prefix="sonde-differential.") as scratch:
                compare(name, scratch)
    return tap.done()


sys.exit(main())
