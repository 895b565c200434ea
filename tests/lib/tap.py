"""tap: for tests that are Python scripts and speak TAP; the Python half of tap.sh.

    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
    import tap

    tap.check("the sum is right", [] if 1 + 1 == 2 else ["1 + 1 is not 2"])
    sys.exit(tap.done())

A result is a name and a list of problems; without problems it is ok. A test is given
SONDE_STAGE, the staged prefix; SONDE is the program in it, LIBRARY its libsonde.
"""
import json
import os
import subprocess
import sys

SOURCE_DIR = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
STAGE = os.environ.get("SONDE_STAGE", os.path.join(SOURCE_DIR, "build"))
SONDE = os.path.join(STAGE, "bin/sonde")
LIBRARY = os.path.join(STAGE, "lib/libsonde.so")
LIMIT_SECONDS = 120

_results = {"count": 0, "failed": 0}


def _say(line):
    print(line, flush=True)


def diag(text):
    """Lines for the reader of a failure."""
    for line in str(text).splitlines():
        _say("# " + line)


def check(name, problems):
    """One result: ok when there are no problems."""
    _results["count"] += 1
    _results["failed"] += bool(problems)
    _say(f"{'not ' if problems else ''}ok {_results['count']} - {name}")
    for problem in problems:
        diag(problem)
    return not problems


def skip(name, reason):
    """This result cannot be had here."""
    _results["count"] += 1
    _say(f"ok {_results['count']} - {name} # SKIP {reason}")


def skip_missing(name, reason):
    """The same, but a failure where the machine has to offer it."""
    if os.environ.get("CI") == "true":
        check(name, [f"needs what this machine must offer: {reason}"])
    else:
        skip(name, reason)


def skip_service(reason):
    """None of this file's results can be had; ends the test, as skip_missing would."""
    if os.environ.get("CI") == "true":
        skip_missing("needs what this machine must offer", reason)
        sys.exit(done())
    _say(f"1..0 # SKIP {reason}")
    sys.exit(0)


def done():
    """Print the plan; the script's exit status."""
    _say(f"1..{_results['count']}")
    return 1 if _results["failed"] else 0


def record(run, command, *options, **keywords):
    """Record a command quietly into the bundle `run`; a subprocess.CompletedProcess."""
    keywords.setdefault("timeout", LIMIT_SECONDS)
    return subprocess.run([SONDE, "record", "-o", run, *options, "--", *command], check=False, **keywords)


def info(run):
    """What `sonde info --json` says of a run."""
    out = subprocess.run([SONDE, "info", run, "--json"], stdout=subprocess.PIPE, check=True, timeout=LIMIT_SECONDS).stdout
    return json.loads(out)


def trace_probe(run):
    """The tracer's part of it."""
    return next(probe for probe in info(run)["probes"] if probe["name"] == "trace")


def events(run, table="io"):
    """Rows of a table, as dictionaries."""
    out = subprocess.run([SONDE, "events", run, "--table", table, "--json"], stdout=subprocess.PIPE, check=True,
                         timeout=LIMIT_SECONDS).stdout
    return [json.loads(line) for line in out.decode(errors="surrogateescape").splitlines()]
