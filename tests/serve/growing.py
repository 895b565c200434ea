#!/usr/bin/python3
"""A run that is looked at while it is recorded: news of its growth and of its end."""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from serving import FIXTURE, Server, tap  # noqa: E402


def wait_for_run(run):
    until = time.monotonic() + tap.LIMIT_SECONDS
    while time.monotonic() < until:
        if os.path.exists(os.path.join(run, "run.json")):
            return True
        time.sleep(0.05)
    return False


def news(server):
    """The stream's messages, one by one, until it ends."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=tap.LIMIT_SECONDS)
    connection.request("GET", "/api/stream", headers={"Cookie": server.cookie})
    response = connection.getresponse()
    assert response.status == 200
    while True:
        line = response.readline()
        if not line:
            return
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def main():
    with tempfile.TemporaryDirectory() as where:
        run = os.path.join(where, "run")
        recorder = subprocess.Popen([tap.SONDE, "record", "-o", run, "--", FIXTURE, "on"], cwd=where, stdin=subprocess.PIPE)
        tap.check("the run is there while it is recorded", [] if wait_for_run(run) else ["no run.json"])
        server = Server(run)
        stream = news(server)
        first = next(stream)
        tap.check("the first news says that it grows", [] if first["is_growing"] else [str(first)])
        for _ in range(50):
            recorder.stdin.write(b"x")
        recorder.stdin.close()
        recorder.wait(timeout=tap.LIMIT_SECONDS)
        last = first
        for message in stream:
            last = message
        problems = [] if not last["is_growing"] and last["generation"] > first["generation"] else [f"{first} then {last}"]
        tap.check("the last news says that it has ended, and the stream ends", problems)
        rows = {r["name"]: r["count"] for r in server.api("stats", limit=1000)["rows"]}
        tap.check("everything is there then", [] if rows.get("outer") == 70 else [str(rows.get("outer"))])
        server.stop()
    sys.exit(tap.done())


main()
