#!/bin/bash
# Parameter servers of the shipped jobs: balanced by bytes, moved while training, nothing lost.
. "$(dirname "$0")/train.sh"

$PYTHON -c 'import numpy' 2>/dev/null || skip_service 'python3-numpy is not installed'
export PYTHONPATH=$PYTHONPATH:$SONDE_STAGE/share/sonde/jobs
cat >check.py <<'PY'
import random
import sys
import numpy as np
import paramserver
from sonde import job

def balanced():
    """However sizes and servers change: none has more than the largest parameter above another, and little moves."""
    source = random.Random(1)
    for _ in range(200):
        sizes = {("p", i): source.choice([4, 64, 4096, 65536]) for i in range(source.randint(1, 60))}
        where = {}
        for count in [1, *(source.randint(1, 9) for _ in range(6))]:
            servers = [f"s{i}" for i in range(count)]
            new = paramserver.place(sizes, where, servers)
            load = {s: sum(sizes[k] for k in new if new[k] == s) for s in servers}
            assert set(new) == set(sizes) and set(new.values()) <= set(servers)
            assert max(load.values()) - min(load.values()) <= max(sizes.values()), (load, sizes)
            assert paramserver.place(sizes, new, servers) == new
            where = new
    print("balanced")

class Model:
    """Wants everything, changes each parameter by a known amount."""
    def __init__(self, seed):
        self.keys = list(paramserver.cut(START))
    def set_threads(self, count):
        pass
    def wanted(self):
        return dict.fromkeys(self.keys)
    def gradients(self, values):
        assert set(values) == set(self.keys)
        return 1.0, {key: np.ones_like(value) for key, value in values.items()}

START = {"large": np.zeros(100000, np.float32), "small": np.arange(7, dtype=np.float32), "middle": np.zeros((50, 40), np.float32)}

def moved():
    """Each gradient counts once, wherever the parameters are at the time."""
    chief = paramserver.Chief(Model, START, paramserver.Sgd(1, 0), preload=["paramserver"])
    for ps, workers in [(1, 1), (3, 2), (2, 3), (4, 1), (1, 3), (2, 0)]:
        chief.reconfigure(ps=ps, workers=workers, threads=1)
        assert len(chief.crew.members["ps"]) == ps and len(chief.crew.members["worker"]) == workers
        sizes = {key: part.nbytes for key, part in chief.parts.items()}
        load = [sum(sizes[k] for k in chief.where if chief.where[k] == path) for path in chief.paths]
        assert max(load) - min(load) <= paramserver.PART_BYTES, load
        until = chief.step + 20 * workers
        while chief.step < until:
            for worker in chief.crew.members["worker"]:
                chief._hear(worker)
    held = chief.parameters()
    values = {name: paramserver.join({key: held[key][0] for key in held}, name) for name in START}
    steps = -values["large"][0]
    assert steps >= chief.step and steps <= chief.step + 12, (steps, chief.step)
    for name in START:
        assert np.array_equal(values[name], START[name].reshape(-1) - steps), name
    chief.save("checkpoint")
    other = paramserver.Chief(Model, START, paramserver.Sgd(1, 0))
    other.load("checkpoint")
    assert other.step == chief.step and all(np.array_equal(other.parts[key], held[key][0]) for key in held)
    print("moved")

if __name__ == "__main__":
    {"balanced": balanced, "moved": moved}[sys.argv[1]]()
PY
for check in balanced moved; do
	run timeout 120 $PYTHON check.py $check
	is "$check" "$status $out" "0 $check"
	((status == 0)) || diag "$err"
done

done_testing
