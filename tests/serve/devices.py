#!/usr/bin/python3
"""What other probes record, as the page shows it: who talked to whom, commands of devices."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from serving import Server, events, tap  # noqa: E402

TALK = """
import os, socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
if os.fork() == 0:
    c = socket.create_connection(s.getsockname())
    for _ in range(20):
        c.sendall(b"x" * 5000)
    c.close()
    os._exit(0)
c, _ = s.accept()
while c.recv(65536):
    pass
os.wait()
"""


def run_of(where, name, *command):
    run = os.path.join(where, name)
    subprocess.run([tap.SONDE, "record", "-q", *command[:command.index("--")], "-o", run, *command[command.index("--"):]],
                   cwd=where, check=True, timeout=tap.LIMIT_SECONDS, stdout=subprocess.DEVNULL)
    return run


def check_network(where):
    run = run_of(where, "net", "--net", "--", "/usr/bin/python3", "-c", TALK)
    try:
        flows = events(run, "flow")
    except subprocess.CalledProcessError:
        flows = []
    if not flows:
        tap.diag("no flows were recorded here: nothing to compare")
    server = Server(run)
    pairs = server.api("network")["pairs"]
    narrow = server.api("network", **{"from": 0, "to": 1})["pairs"]
    server.stop()
    want = sum(f["bytes_out"] + f["bytes_in"] for f in flows)
    got = sum(p["bytes"] for p in pairs)
    problems = [] if got == want else [f"{got} bytes between ends, not {want}"]
    if any(p["bytes"] < q["bytes"] for p, q in zip(pairs, pairs[1:])):
        problems.append("not those with most bytes first")
    if narrow:
        problems.append(f"something in the first nanosecond: {narrow}")
    return problems


def check_commands(where, program):
    run = run_of(where, "gpu", "--", program, "plain")
    rows, server = events(run, "gpu"), Server(run)
    start = server.api("run")["start_mono_ns"]
    lanes = [x for p in server.api("tracks")["processes"] for t in p["threads"] for x in t["lanes"] if x["kind"] == "gpu"]
    problems = [] if sum(x["count"] for x in lanes) == len(rows) else [f"{lanes} for {len(rows)} commands"]
    for row in rows[:5]:
        lane = [x for x in lanes if x["name"] == row["device"]][0]
        got = server.api("event", lane=lane["lane"], at=row["ts_ns"] - start)["row"]
        if got.get("name") != row["name"] or got.get("kind") != row["kind"]:
            problems.append(f"{got}, not {row}")
    server.stop()
    return problems


def main():
    with tempfile.TemporaryDirectory() as where:
        tap.check("bytes between ends are those of the flows", check_network(where))
        program = os.environ.get("OPENCL", "")
        if program and subprocess.run([program], capture_output=True, timeout=tap.LIMIT_SECONDS, check=False).returncode != 77:
            os.environ["POCL_CACHE_DIR"] = os.path.join(where, "kernels")
            tap.check("commands of a device are events of its lane", check_commands(where, program))
    sys.exit(tap.done())


main()
