#!/usr/bin/python3
"""Records the fixture, serves it, and lets a script use the page in a real browser: page.py page.mjs | views.mjs."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
from browsing import browse  # noqa: E402
from serving import Server, events, record, tap  # noqa: E402


def boxes(run, start):
    """What the page must show: every span, call and mark, and one that is searched for."""
    spans, calls = events(run, "span"), events(run, "io")
    rows = [[e["name"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)] for e in spans]
    rows += [[e["call"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)] for e in calls]
    rows += [[e["name"], e["ts_ns"] - start, e["ts_ns"] - start] for e in events(run, "mark")]
    needle = [e for e in spans if e["name"] == "needle"][0]
    return {"boxes": rows, "needle": {"start_ns": needle["ts_ns"] - start, "dur_ns": needle["dur_ns"], "tid": needle["tid"]}}


def sum_inside(rows, start, end):
    """The time of rows [ts, dur] that lies inside the run; None when there are no rows."""
    total = 0
    for ts_ns, dur_ns in rows:
        total += max(0, min(ts_ns + dur_ns, end) - max(ts_ns, start))
    return total if rows else None


def step_start(run, index):
    """When the iteration that ends with this step began: with the step before."""
    return [e["ts_ns"] for e in events(run, "step") if e["index"] == index - 1][0]


class Live:
    """A run that goes on, starting a process now and then, until a file appears."""

    def __init__(self, where):
        self.stop_file, run = os.path.join(where, "stop"), os.path.join(where, "live")
        script = f'n=0; while [ ! -e "{self.stop_file}" ] && [ $n -lt 3000 ]; do /bin/true; sleep 0.05; n=$((n+1)); done'
        self.process = subprocess.Popen([tap.SONDE, "record", "-q", "-o", run, "--", "/bin/sh", "-c", script], cwd=where)
        until = time.monotonic() + tap.LIMIT_SECONDS
        while not os.path.exists(os.path.join(run, "run.json")) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)
        self.server = Server(run)
        threading.Thread(target=self.process.wait, daemon=True).start()

    def stop(self):
        with open(self.stop_file, "w", encoding="utf-8"):
            pass
        self.process.wait(timeout=tap.LIMIT_SECONDS)
        self.server.stop()


LOOP = """
import os, time
fd = os.open("data", os.O_RDWR | os.O_CREAT, 0o600)
for i in range(24):
    for k in range(20):
        os.pwrite(fd, b"x", k)
    os.ftruncate(fd, 64)
    time.sleep(0.004)
"""


def record_loop(where):
    """A loop that nobody announces, and its iterations as `sonde summary` has them."""
    run = os.path.join(where, "loop")
    subprocess.run([tap.SONDE, "record", "-q", "-o", run, "--", "/usr/bin/python3", "-c", LOOP], cwd=where, check=True)
    said = subprocess.run([tap.SONDE, "summary", "--json", run], check=True, capture_output=True).stdout
    return run, json.loads(said)["iterations"]


def views_truth(run, other, server, live):
    """What the views must add up to, from the tables alone."""
    info = server.api("run")
    start, end = info["start_mono_ns"], info["start_mono_ns"] + info["duration_ns"] + 1
    samples = [e["weight_ns"] for e in events(run, "sample") if e["weight_ns"] and start <= e["ts_ns"] < end]
    waits = [(e["ts_ns"], e["dur_ns"]) for e in events(run, "sched") if (e["dur_ns"] or 0) > 0 and e["ts_ns"] < end]
    other_start = json.loads(server.ask("/api/run?run=b")[2])["start_mono_ns"]
    page = b"".join(gzip.compress(server.ask(path)[2], 9) for path in ("/", "/app.js", "/app.css"))
    return {"start_ns": start, "calls": len(events(run, "io")), "samples_ns": sum(samples) if samples else None,
            "waits_ns": sum_inside(waits, start, end), "page_bytes": len(page), "live_url": live.server.link(),
            "stop": live.stop_file, "step_offset_ns": (step_start(run, 3) - start) - (step_start(other, 3) - other_start)}


def main():
    script = sys.argv[1] if len(sys.argv) > 1 else "page.mjs"
    live = None
    with tempfile.TemporaryDirectory() as where:
        browser = browse(where)
        run, facts = record(where), os.path.join(where, "truth.json")
        if script == "page.mjs":
            server = Server(run)
            report = os.path.join(where, "r.html")
            subprocess.run([tap.SONDE, "report", "-o", report, run], check=True, stdout=subprocess.DEVNULL)
            truth = {"report": report, **boxes(run, server.api("run")["start_mono_ns"])}
        else:
            second = os.path.join(where, "second")
            os.mkdir(second)
            other, live = record(second), Live(where)
            server = Server(run, "--with", other)
            loop, iterations = record_loop(where)
            loop_server = Server(loop)
            truth = {**views_truth(run, other, server, live), "loop_url": loop_server.link(), "iterations": iterations}
        with open(facts, "w", encoding="utf-8") as f:
            json.dump(truth, f)
        status = browser(script, server.link(), facts)
        server.stop()
        if live:
            live.stop()
            loop_server.stop()
    sys.exit(status)


main()
