#!/usr/bin/python3
"""However a traced program ends, its log holds what it did, under the right pid, and it ends as it would alone.

The victim announces on stdout what it writes ("PID N"). Where a process was killed `sonde recover` finishes its log.
"""
import collections
import os
import subprocess
import sys
import tempfile

import dft
import tap

VICTIMS = {"preload": os.environ["VICTIM"], "function": os.environ["VICTIM_FUNCTION"]}
# As with DFTracer itself, programs are told to trace by the environment they get: where there is none they are not.
UNTRACED = {"exec-empty-env", "clearenv"}


def announced(text):
    want = collections.Counter()
    for line in text.decode().splitlines():
        pid, count = line.split()
        want[int(pid)] += int(count)
    return want


def written(prefix, path):
    have = collections.Counter()
    known = dft.names(prefix)
    for event in dft.events(prefix):
        if event["name"] == "write" and known.get(event["args"].get("fhash")) == path:
            have[event["pid"]] += 1
    return have


def incomplete(prefix):
    problems = []
    for path in dft.logs(prefix):
        found = dft.lines(path)
        if found[-1]["name"] != "end":
            problems.append(f"{path} has no end")
        if dft.text(path)[:2] != b"[\n" or dft.text(path)[-1:] != b"]":
            problems.append(f"{path} has no brackets")
    return problems


def empty(path):
    with open(path, "w", encoding="utf-8"):
        pass
    os.chmod(path, 0o666)


def one(case, mode, scratch):
    victim = VICTIMS[mode]
    path, prefix = os.path.join(scratch, "out"), os.path.join(scratch, "logs", "trace")
    os.mkdir(os.path.join(scratch, "logs"))
    os.chmod(os.path.join(scratch, "logs"), 0o777)
    empty(path)
    bare = subprocess.run([VICTIMS["preload"], case, path], stdout=subprocess.PIPE, timeout=dft.LIMIT, check=False)
    empty(path)
    done = dft.run([victim, case, path], mode, prefix)
    want = announced(done.stdout)
    recovered = dft.recover(os.path.dirname(prefix)) if dft.rings(prefix) else None
    problems = dft.differ("status", done.returncode, bare.returncode)
    if done.stderr:
        problems.append(f"stderr {done.stderr[:300]!r}")
    if recovered and recovered.returncode:
        problems.append(f"recover: {recovered.stderr.decode()[:300]}")
    try:
        have = written(prefix, path)
        problems += incomplete(prefix)
    except ValueError as error:
        have = None
        problems.append(str(error))
    if case in UNTRACED and have and sum(have.values()) == sum(want.values()) - 5:
        want = have
    if have != want:
        problems.append(f"announced {dict(want)}, logged {dict(have or {})}"[:400])
    if dft.rings(prefix):
        problems.append(f"left over: {dft.rings(prefix)}")
    return problems


def main():
    cases = subprocess.run([VICTIMS["preload"], "list"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    for mode in ("preload", "function"):
        for case in sys.argv[1:] or cases:
            with tempfile.TemporaryDirectory() as scratch:
                os.chmod(scratch, 0o755)
                tap.check(f"{mode}: {case}", one(case, mode, scratch))
    return tap.done()


sys.exit(main())
