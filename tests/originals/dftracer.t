#!/bin/bash
# DFTracer's introduction: its program, verbatim but for imports and paths, with its environment and without a preload.
. "$(dirname "$0")/../lib/tap.sh"

/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip_service 'numpy is not here'
eval "$("$SONDE" env dftracer)"

mkdir data
cat >intro.py <<'EOF'
import os
from multiprocessing import get_context
from time import sleep
import numpy as np
cwd = os.getcwd()

from dftracer.logger import dftracer, dft_fn
log_inst = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
dft_fn = dft_fn("COMPUTE")

# Example of using function decorators
@dft_fn.log
def log_events(index):
    sleep(1)

# Example of function spawning and implicit I/O calls
def posix_calls(val):
    index, is_spawn = val
    path = f"{cwd}/data/demofile{index}.txt"
    f = open(path, "w+")
    f.write("Now the file has more content!")
    f.close()
    if is_spawn:
        print(f"Calling spawn on {index} with pid {os.getpid()}")
        log_inst.finalize() # This need to be called to correctly finalize DFTracer.
    else:
        print(f"Not calling spawn on {index} with pid {os.getpid()}")

# NPZ calls internally calls POSIX calls.
def npz_calls(index):
    path = f"{cwd}/data/demofile{index}.npz"
    if os.path.exists(path):
        os.remove(path)
    records = np.random.randint(255, size=(8, 8, 1024), dtype=np.uint8)
    record_labels = [0] * 1024
    np.savez(path, x=records, y=record_labels)

def init():
    pass

def main():
    log_events(0)
    npz_calls(1)
    with get_context('spawn').Pool(1, initializer=init) as pool:
        pool.map(posix_calls, ((2, True),))
    log_inst.finalize()

if __name__ == "__main__":
    main()
EOF

export DFTRACER_LOG_FILE=$PWD/log_file DFTRACER_DATA_DIR=/dev/shm/:/p/gpfs1/${USER-nobody}/dataset:$PWD/data DFTRACER_ENABLE=1
unset LD_PRELOAD
run /usr/bin/python3 intro.py
is 'the program ends well' "$status" 0
like 'its output is its own' "$out" '^Calling spawn on 2 with pid [0-9]+$'
is 'nothing on stderr' "$err" ''

# of FILE FILTER: events of a trace that jq selects
of() { grep '^{' "$1" | jq -c "select($2)" | wc -l; }

is_json() { grep '^{' "$1" | jq -e . >/dev/null; }

traces=(log_file-*.pfw)
is 'a trace for parent and child at least' "$((${#traces[@]} >= 2))" 1
parent='' child=''
for trace in "${traces[@]}"; do
	ok "every line of ${trace##*/} is JSON" is_json "$trace"
	[[ $(of "$trace" '.name=="log_events"') == 0 ]] || parent=$trace
	grep -q 'demofile2.txt' "$trace" && child=$trace
done
ok 'the parent has a trace' test "$parent"
is 'COMPUTE in the parent' "$(of "$parent" '.cat=="COMPUTE" and .name=="log_events" and .dur>=1000000')" 1
is 'POSIX in the parent' "$(($(of "$parent" '.cat=="POSIX" and .ph=="X"') > 3))" 1
ok 'the archive is among its files' grep -q 'demofile1.npz' "$parent"
ok 'the spawned child has a trace' test "$child"
ok 'which is not the parent' test "$child" != "$parent"
is 'POSIX in the child' "$(($(of "$child" '.cat=="POSIX" and .ph=="X"') >= 3))" 1

run "$SONDE" import log_file-*.pfw -o run
is 'they become one run' "$status" 0
run "$SONDE" summary run
is 'and its summary' "$status" 0

DFTRACER_ENABLE=0 DFTRACER_LOG_FILE=$PWD/off run /usr/bin/python3 intro.py
is 'disabled, the program runs' "$status" 0
is 'and no trace is written' "$(echo off*)" 'off*'

done_testing
