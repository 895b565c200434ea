#!/bin/bash
# The Python module sonde.tune: ask, tell, best; errors are exceptions.
. "$(dirname "$0")/../lib/tap.sh"

run env PYTHONPATH="$SONDE_STAGE/lib/sonde/python" /usr/bin/python3 - <<'PY'
from sonde import tune
space = {"params": [{"name": "x", "type": "float", "low": 0, "high": 1, "default": 0.9},
                    {"name": "mode", "type": "categorical", "choices": ["a", "b"]}],
         "objective": {"name": "value", "goal": "minimize"}}
with tune.Study(space, seed=1) as study:
    assert study.best().params is None
    for trial in study.trials(15):
        if trial.id == 4:
            trial.fail()
        elif trial.id == 5:
            trial.tell(float("nan"))
        else:
            trial.tell((trial.params["x"] - 0.4) ** 2 + (trial.params["mode"] == "a"))
    best = study.best()
    print("best", best.params["mode"], abs(best.params["x"] - 0.4) < 0.1, best.lo <= best.value <= best.hi)
    own = study.add(x=0.25)
    print("own", own.params)
    own.tell(3.0)
    try:
        own.tell(3.0)
    except tune.TuneError as e:
        print("twice:", e)
    a, b = study.ask(), study.ask()
    print("open", a.params != b.params)
for turn in range(2):
    with tune.Study(space, seed=1, keep="kept") as study:
        if turn:
            print("goes on", [t.id for t in study.open()], study.ask().id, study.best().params == first)
        else:
            for trial in study.trials(5):
                if trial.id != 3:
                    trial.tell(trial.params["x"])
            first = study.best().params
try:
    tune.Study({"params": [{"name": "x", "type": "flaot"}]}).ask()
except tune.TuneError as e:
    print("wrong:", e)
PY
is 'it runs' "$status" 0
diag "$err"
like 'it finds the best, with an interval' "$out" 'best b True True'
like 'own trials have defaults' "$out" "own \{'x': 0.25, 'mode': 'a'\}"
like 'telling twice is an error' "$out" 'twice: .*has a result already'
like 'open trials differ' "$out" 'open True'
like 'a journal goes on' "$out" 'goes on \[3\] 6 True'
like 'a wrong study is an error' "$out" "wrong: .*did you mean 'float'"

done_testing
