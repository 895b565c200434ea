#!/usr/bin/python3
"""Every committed event, under the right pid, however the program ends; and the program ends as it would alone.

The victim announces on stdout what it writes ("PID N"); the recorded run must hold exactly these writes.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

STAGE = os.environ["SONDE_STAGE"]
VICTIM = os.environ["VICTIM"]
SONDE = STAGE + "/bin/sonde"
LIMIT = 300


def empty(path):
    open(path, "w").close()
    os.chmod(path, 0o666)


def announced(text):
    want = collections.Counter()
    for line in text.splitlines():
        pid, n = line.split()
        want[int(pid)] += int(n)
    return want


def recorded(run, path):
    out = subprocess.run([SONDE, "events", run, "--table", "io", "--json"], stdout=subprocess.PIPE, check=True, timeout=LIMIT).stdout
    have = collections.Counter()
    for line in out.splitlines():
        e = json.loads(line)
        if e["call"] == "write" and e["path"] == path:
            have[e["pid"]] += 1
    return have


def one(case, scratch):
    path = os.path.join(scratch, case + ".out")
    run = os.path.join(scratch, case + ".run")
    empty(path)
    bare = subprocess.run([VICTIM, case, path], stdout=subprocess.PIPE, timeout=LIMIT)
    empty(path)
    done = subprocess.run([SONDE, "record", "-o", run, "--overflow", "block", "--", VICTIM, case, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
    want = announced(done.stdout.decode())
    have = recorded(run, path)
    problems = []
    if done.returncode != bare.returncode:
        problems.append(f"status {done.returncode}, alone {bare.returncode}")
    if done.stderr:
        problems.append(f"stderr {done.stderr[:300]!r}")
    if os.path.getsize(path) != sum(want.values()):
        problems.append(f"the victim wrote {os.path.getsize(path)} and announced {sum(want.values())}")
    if want != have:
        problems.append(f"announced {dict(want)}, recorded {dict(have)}"[:400])
    info = json.loads(subprocess.run([SONDE, "info", run, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    trace = [p for p in info["probes"] if p["name"] == "trace"][0]
    for key in ("dropped", "damaged"):
        if trace[key]:
            problems.append(f"{key} {trace[key]}")
    return problems, sum(want.values())


def main():
    cases = subprocess.run([VICTIM, "list"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    if len(sys.argv) > 1:
        cases = sys.argv[1:]
    failed = 0
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        for n, case in enumerate(cases, 1):
            problems, events = one(case, scratch)
            failed += bool(problems)
            print(f"{'not ' if problems else ''}ok {n} - {case}: {events} events", flush=True)
            for p in problems:
                print("# " + p)
    return 1 if failed else 0


sys.exit(main())
