#!/usr/bin/python3
"""Runs two small studies, serves them, and looks at their page in a real browser: study.mjs."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
from browsing import browse  # noqa: E402
from serving import Server, tap  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>"
# Values are a function of the parameters alone, so what the page must show is known: best at x = 6, z = b.
STEPS = """
import sys
x, z, p = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
end = 1 + (x - 6) ** 2 / 8 + (0 if z == "b" else 1)
for i in range(1, 33):
    print("step", i, "loss", round(end + 4 / i, 6))
print("size", p + x)
"""
ONE = {"name": "one", "params": [{"name": "x", "type": "float", "low": 0, "high": 8, "default": 1},
                                 {"name": "z", "type": "categorical", "choices": ["a", "b"]},
                                 {"name": "p", "type": "int", "low": 1, "high": 64, "log": True}],
       "objective": {"name": "loss", "from": "step"}, "steps": "step ([0-9]+) loss ([0-9.]+)", "early_stop": "median",
       "budget": {"trials": 14}, "confirm": 4, "seed": 1}
TWO = {"name": HOSTILE, "params": [{"name": "x", "type": "float", "low": 0, "high": 8, "default": 1},
                                   {"name": "z", "type": "categorical", "choices": [HOSTILE, "b"]},
                                   {"name": "p", "type": "int", "low": 1, "high": 64, "log": True}],
       "objectives": [{"name": "loss", "regex": "step 32 loss ([0-9.]+)"}, {"name": "size", "regex": "size ([0-9.]+)"}],
       "budget": {"trials": 12}, "seed": 1}


def run(where, number, study):
    """The study's directory, and its result as `sonde tune --json` prints it."""
    place, path = os.path.join(where, f"out{number}"), os.path.join(where, f"{number}.yml")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**study, "command": ["/usr/bin/python3", os.path.join(where, "steps.py"), "{x}", "{z}", "{p}"]}, f)
    done = subprocess.run([tap.SONDE, "tune", path, "--json", "-o", place], cwd=where, check=True, capture_output=True,
                          timeout=tap.LIMIT_SECONDS)
    return place, json.loads(done.stdout)


def main():
    with tempfile.TemporaryDirectory() as where:
        browser, facts = browse(where), os.path.join(where, "facts.json")
        with open(os.path.join(where, "steps.py"), "w", encoding="utf-8") as f:
            f.write(STEPS)
        studies = [run(where, i, study) for i, study in enumerate((ONE, TWO))]
        servers = [Server(place) for place, _ in studies]
        with open(facts, "w", encoding="utf-8") as f:
            json.dump({"studies": [{"result": result, "urls": [server.link() for _ in range(3)]}
                                   for (_, result), server in zip(studies, servers)], "hostile": HOSTILE}, f)
        status = browser("study.mjs", facts)
        for server in servers:
            server.stop()
    sys.exit(status)


main()
