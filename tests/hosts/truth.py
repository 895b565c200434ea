"""truth.py RUN MARKS: how far the marks of a joined run are from when they were made, beyond the run's own bound; in ns.

Prints: marks found, worst error in ns (0: all within their own bracket), the run's bound in ns."""
import glob
import json
import os
import subprocess
import sys

run, marks = sys.argv[1:]
facts = json.load(open(run + "/run.json"))
clock = facts["clock"]
opened = {}
out = subprocess.run([os.environ["SONDE"], "events", run, "--table", "io", "--json"], stdout=subprocess.PIPE, check=True).stdout
for line in out.decode().splitlines():
    e = json.loads(line)
    path = str(e.get("path") or "")
    if "mark-" in path and str(e.get("call", "")).startswith("open") and not path.endswith(".truth"):
        opened.setdefault(os.path.basename(path), e["ts_ns"])
found, worst = 0, 0
for name in glob.glob(marks + "/*.truth"):
    truth = json.load(open(name))
    ts = opened.get(os.path.basename(truth["path"]))
    if ts is None:
        continue
    found += 1
    real = clock["start_real_ns"] + ts - clock["start_mono_ns"]
    worst = max(worst, truth["before_ns"] - real, real - truth["after_ns"])
print(found, worst, clock["error_ns"])
