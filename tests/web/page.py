#!/usr/bin/python3
"""Records the fixture, serves it, and lets page.mjs use the page in a real browser."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
from serving import Server, events, record, tap  # noqa: E402


def cannot(reason):
    """A printed skip, or a failure where the machine must offer it."""
    if os.environ.get("CI") == "true":
        tap.check(f"needs what this machine must offer: {reason}", [reason])
        sys.exit(tap.done())
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def playwright(where):
    """Put playwright-core there, by lockfile."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), where)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=where,
                          capture_output=True, timeout=tap.LIMIT_SECONDS * 2, check=False)
    if done.returncode:
        cannot("npm cannot fetch playwright-core: " + done.stderr.decode(errors="replace")[-200:])



def truth(run, start):
    spans, calls = events(run, "span"), events(run, "io")
    rows = [[e["name"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)] for e in spans]
    rows += [[e["call"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)] for e in calls]
    rows += [[e["name"], e["ts_ns"] - start, e["ts_ns"] - start] for e in events(run, "mark")]
    needle = [e for e in spans if e["name"] == "needle"][0]
    return {"boxes": rows, "needle": {"start_ns": needle["ts_ns"] - start, "dur_ns": needle["dur_ns"], "tid": needle["tid"]}}


def main():
    chromium = shutil.which("chromium")
    if not chromium or not shutil.which("node") or not shutil.which("npm"):
        cannot("chromium, node or npm is not installed")
    with tempfile.TemporaryDirectory() as where:
        modules = os.path.join(where, "modules")
        os.makedirs(modules)
        playwright(modules)
        run = record(where)
        server = Server(run)
        facts, report = os.path.join(where, "truth.json"), os.path.join(where, "r.html")
        with open(facts, "w", encoding="utf-8") as f:
            json.dump(truth(run, server.api("run")["start_mono_ns"]), f)
        subprocess.run([tap.SONDE, "report", "-o", report, run], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["node", os.path.join(HERE, "page.mjs"), chromium, modules, server.link(), report, facts],
                              timeout=tap.LIMIT_SECONDS * 5, check=False)
        server.stop()
    sys.exit(done.returncode)


main()
