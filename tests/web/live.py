#!/usr/bin/python3
"""Applications, rules and a sonde live that watches them, and its page in a real browser: live.mjs."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from browsing import browse, tap  # noqa: E402

RULES = """
interval: 100ms
rules:
  - name: high
    when: sonde_app_level{app="detector"} > 5
    do: [ knob detector batch 16 ]
regulators:
  - name: fps
    measure: rate(sonde_steps_total{app="detector"}[2s])
    at_least: 1
    act: [ knob detector spare 1..2 ]
"""
NAMES = ("detector", "<img src=x onerror=alert(1)>")


def start_app(where, name):
    """The application of the rules' tests; it ends when its directory has a file `stop`."""
    place = os.path.join(where, f"app{NAMES.index(name)}")
    os.mkdir(place)
    with open(os.path.join(place, "level"), "w", encoding="utf-8") as f:
        f.write("1")
    env = dict(os.environ, PYTHONPATH=os.path.join(os.environ["SONDE_STAGE"], "lib/sonde/python"))
    return subprocess.Popen([tap.SONDE, "live", "run", "--name", name, "--", "/usr/bin/python3",
                             os.path.join(HERE, "../control/app.py"), place], env=env)


def main():
    with tempfile.TemporaryDirectory() as where:
        browser, socket = browse(where), os.path.join(where, "control.sock")
        with open(os.path.join(where, "rules.yml"), "w", encoding="utf-8") as f:
            f.write(RULES)
        apps = [start_app(where, name) for name in NAMES]
        live = subprocess.Popen([tap.SONDE, "live", "--listen", "127.0.0.1:0", "--rules", os.path.join(where, "rules.yml"),
                                 "--control", socket], stdout=subprocess.PIPE, text=True)
        try:
            address = live.stdout.readline().strip()
            said = subprocess.run([tap.SONDE, "view", "--live", socket, "--json"], capture_output=True, text=True,
                                  timeout=tap.LIMIT_SECONDS, check=True).stdout
            facts = os.path.join(where, "facts.json")
            with open(facts, "w", encoding="utf-8") as f:
                json.dump({"url": json.loads(said)["url"], "address": address, "where": where, "live": live.pid,
                           "names": NAMES}, f)
            status = browser("live.mjs", facts)
        finally:
            live.kill()
            live.wait()
            for i, app in enumerate(apps):
                with open(os.path.join(where, f"app{i}", "stop"), "w", encoding="utf-8"):
                    pass
                app.wait(timeout=tap.LIMIT_SECONDS)
    sys.exit(status)


main()
