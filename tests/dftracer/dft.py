"""dft: running programs under libdftracer, and reading what they leave.

A log's lines are read by json.loads, strictly: a line that is no JSON object is a failure of its own.
"""
import glob
import gzip
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

LAYER = os.path.join(tap.STAGE, "lib/sonde/compat/dftracer")
PRELOAD = os.path.join(LAYER, "lib/libdftracer_preload.so")
LIBRARY = os.path.join(LAYER, "lib/libdftracer.so")
LIMIT = 300


def environment(mode, prefix, **more):
    """The environment of a traced program: mode is preload, function, none or off."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("DFTRACER_", "LD_PRELOAD"))}
    env["LD_LIBRARY_PATH"] = os.path.join(LAYER, "lib")
    env["DFTRACER_ENABLE"] = "0" if mode == "off" else "1"
    env["DFTRACER_INC_METADATA"] = "1"
    env["DFTRACER_LOG_FILE"] = prefix
    if mode == "preload":
        env["LD_PRELOAD"] = PRELOAD
        env["DFTRACER_INIT"] = "PRELOAD"
    if mode == "none":
        env["DFTRACER_INIT"] = "HYBRID"
    for key, value in more.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


def run(command, mode, prefix, cwd=None, **more):
    """Run a program; its subprocess.CompletedProcess, output as bytes."""
    return subprocess.run(command, env=environment(mode, prefix, **more), cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT, check=False)


def logs(prefix):
    """The logs that were left, without rings."""
    return sorted(path for path in glob.glob(glob.escape(prefix) + "*") if path.endswith((".pfw", ".pfw.gz")))


def rings(prefix):
    return sorted(glob.glob(glob.escape(prefix) + "*.ring"))


def recover(directory):
    return subprocess.run([tap.SONDE, "recover", directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                          check=False)


def text(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return file.read()


def lines(path):
    """Every record of a log as a dictionary; ValueError names a line that is none. Brackets must be where they belong."""
    raw = text(path).decode("utf-8").split("\n")
    if raw and raw[0] == "[":
        if raw[-1] != "]":
            raise ValueError(f"{path} begins with a bracket and ends with {raw[-1][:80]!r}")
        raw = raw[1:-1]
    elif raw and raw[-1] == "":
        raw = raw[:-1]
    records = []
    for number, line in enumerate(raw, 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}: {line[:200]!r}") from error
        if not isinstance(record, dict):
            raise ValueError(f"{path}:{number}: no object: {line[:200]!r}")
        records.append(record)
    return records


def records(prefix):
    return [record for path in logs(prefix) for record in lines(path)]


def is_data(record):
    return record.get("ph") in ("X", 1) and record["cat"] != "dftracer"


def events(prefix):
    return [record for record in records(prefix) if is_data(record)]


def names(prefix):
    """FH records: hash to path."""
    return {record["args"]["value"]: record["args"]["name"] for record in records(prefix) if record["name"] == "FH"}


def histogram(found):
    counts = {}
    for event in found:
        counts[event["name"]] = counts.get(event["name"], 0) + 1
    return counts


def differ(what, have, want):
    return [] if have == want else [f"{what}: have {have!r}, want {want!r}"]


def check(name, problems):
    return tap.check(name, problems)
