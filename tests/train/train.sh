# shellcheck shell=bash
# train.sh: a made-up training program, whose losses and times are known.
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"

export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
unset SONDE_JOB_FD SONDE_JOB_CONFIG SONDE_JOB_DIR SONDE_JOB_ID
PYTHON=/usr/bin/python3

# A loss that falls with the step; it goes on from a checkpoint, prints what it is told, and has a configuration that breaks it.
cat >job.py <<'PY'
import os, sys, time
from sonde import job
place = os.path.join(job.directory or ".", "step")
step = int(open(place).read()) if os.path.exists(place) else 0
print("start", step, job.knobs(), flush=True)
limit = int(os.environ.get("STEPS", "100000"))
while step < limit:
    if job.changed():
        print("take", job.knob("w", 1, 1, 8), flush=True)
    w = job.knob("w", 1, 1, 8)
    if w == int(os.environ.get("BROKEN", "-1")):
        sys.exit(7)
    time.sleep(0.002 + 0.002 * abs(w - 4))
    step += 1
    job.report(step, float(os.environ.get("LOSS", 2 / (1 + 0.01 * step))), worker=step % w)
    if job.should_stop():
        break
with open(place, "w") as file:
    file.write(str(step))
print("end", step, flush=True)
PY

# plan CLASS [LINE...] >FILE: a job file
plan_of() {
	printf 'params: [{name: w, type: int, low: 1, high: 8, default: 1, class: %s}]\n' "$1"
	shift
	((!$#)) || printf '%s\n' "$@"
}

# train ARGUMENT... -- PROGRAM...: with an end to its patience.
train() { timeout 120 "$SONDE" train "$@"; }

# field NAME FILE: of a JSON object.
field() { $PYTHON -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"; }

# column NAME FILE: of a CSV table, one a line.
column() { $PYTHON -c 'import csv, sys; [print(r[sys.argv[1]]) for r in csv.DictReader(open(sys.argv[2]))]' "$1" "$2"; }
