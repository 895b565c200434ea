#!/usr/bin/python3
"""Records the fixture, serves it, and lets a script use the page in a real browser: page.py page.mjs | views.mjs | report.mjs."""
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
from serving import FIXTURE, Server, events, record, tap  # noqa: E402


def boxes(run, start):
    """What the page must show: every span, call and mark, one that is searched for, and the one that follows it at once."""
    spans, calls = events(run, "span"), events(run, "io")
    rows = [[e["name"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)] for e in spans]
    rows += [[e["call"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)] for e in calls]
    rows += [[e["name"], e["ts_ns"] - start, e["ts_ns"] - start] for e in events(run, "mark")]

    def one(name):
        e = [e for e in spans if e["name"] == name][0]
        return {"start_ns": e["ts_ns"] - start, "dur_ns": e["dur_ns"], "tid": e["tid"]}
    return {"boxes": rows, "needle": one("needle"), "after": one("<img src=x onerror=alert(1)>")}


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


TALK = """
import os, socket, subprocess, sys, time
server = socket.create_server(("127.0.0.1", 0))
for k in range(3):                                      # each says something of its own length, and is answered with more
    if os.fork() == 0:
        with socket.create_connection(server.getsockname()) as s:
            s.sendall(b"q" * (1000 * (k + 1)))
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass
            time.sleep(1)                               # whose it is can be seen while it is there
        os._exit(0)
for k in range(3):
    client, _ = server.accept()
    said = 0
    while data := client.recv(65536):
        said += len(data)
    client.sendall(b"a" * (20 * said))
    client.close()
for k in range(3):
    os.wait()
subprocess.run([sys.argv[1]], check=True)
"""


def record_talk(where):
    """Processes that talk to each other, and the fixture; where nobody else talks, if that can be had."""
    run, own = os.path.join(where, "talk"), ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if subprocess.run([*own, "true"], capture_output=True, check=False).returncode:
        own = []
    subprocess.run([*own, tap.SONDE, "record", "-q", "--net", "-o", run, "--", "/usr/bin/python3", "-c", TALK, FIXTURE],
                   cwd=where, check=True)
    return run


def report_truth(run, where):
    """A report of the run, and what it must show, from the tables alone."""
    pairs, report = {}, os.path.join(where, "r.html")
    subprocess.run([tap.SONDE, "report", "-o", report, run], check=True, stdout=subprocess.DEVNULL)
    for e in events(run, "flow"):
        if None in (e["process"], e["peer_process"], e["name"], e["peer_name"]):  # not seen: the matrix has its address
            continue
        ends = [f"{e['name']} {e['pid']}", f"{e['peer_name']} {e['peer_pid']}"]
        for a, b, way in ((*ends, "out"), (*reversed(ends), "in")):
            pairs[f"{a} > {b}"] = pairs.get(f"{a} > {b}", 0) + e["bytes_" + way]
    with open(os.path.join(run, "run.json"), encoding="utf-8") as f:
        reason = [p.get("reason", "no packets") for p in json.load(f)["probes"] if p["name"] == "net"]
    needle = [e["dur_ns"] for e in events(run, "span") if e["name"] == "needle"][0]
    return {"report": report, "pairs": pairs or None, "reason": " ".join(reason), "needle_ns": needle}


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
        facts = os.path.join(where, "truth.json")
        run = record_talk(where) if script == "report.mjs" else record(where)
        if script == "report.mjs":
            server = Server(run)
            truth = report_truth(run, where)
        elif script == "page.mjs":
            server = Server(run)
            truth = boxes(run, server.api("run")["start_mono_ns"])
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
