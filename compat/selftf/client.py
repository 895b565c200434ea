#!/usr/bin/env python3
"""SelfTF's client, done by sonde: client.py --action submit_job|get_job|kill_job|dump_log ...

The settings of the job reach the program as JSON in MLTUNER_CONF_DICT. The job runs with the settings given: it is not
reconfigured while it trains (the original's mode dry_run).
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys

SETTINGS = {"batch_size": int, "learning_rate": float, "optimizer": str, "num_worker": int, "num_intra_thread": int,
            "n_partition": int}
COLUMNS = ["epoch", "n_ps", "n_worker", "intra", "inter", "loss", "epoch_time"]
TUNER_VARIABLES = ["OS_SIZE", "NUM_ITER_PER_OS", "ONLINE_OS_SIZE", "ONLINE_NUM_ITER_PER_OS"]


def sonde_path():
    """bin/sonde of the installation that this file is part of."""
    directory = os.path.dirname(os.path.realpath(__file__))
    while directory != "/":
        path = os.path.join(directory, "bin", "sonde")
        if os.access(path, os.X_OK):
            return path
        directory = os.path.dirname(directory)
    return "sonde"


def sonde(*words):
    """What it prints; its failure is ours."""
    done = subprocess.run([sonde_path(), *words], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout.decode(errors="replace")


def submit_job(options):
    if not options.script:
        sys.exit("client.py: submit_job wants --script PROGRAM [ARGUMENT...], as the last option")
    settings = {name: getattr(options, name) for name in SETTINGS if getattr(options, name) is not None}
    words = ["--name", options.ml_model, "--env", "MLTUNER_CONF_DICT=" + json.dumps(settings)]
    for name in TUNER_VARIABLES:
        if name in os.environ:
            words += ["--env", f"{name}={os.environ[name]}"]
    if options.target_loss is not None:
        words += ["--target-loss", repr(options.target_loss)]
    if options.mode != "dry_run":
        print("client.py: the job runs with the settings given; it is not reconfigured while it trains", file=sys.stderr)
    print(sonde("submit", *words, "--", *options.script), end="")


def get_job(options):
    """JOB.csv in this directory. What a job does not have (parameter servers, thread pools) is left empty."""
    rows = list(csv.DictReader(io.StringIO(sonde("job", "stats", options.job))))
    name = options.job + ".csv"
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        before, lease = 0.0, None
        for row in rows:
            before = before if row["epoch"] == lease else 0.0
            now, lease = float(row["time_s"]), row["epoch"]
            writer.writerow({"epoch": row["step"], "loss": row["loss"], "epoch_time": f"{now - before:.6f}"})
            before = now
    print(name)


def kill_job(options):
    sonde("job", "cancel", options.job)


def dump_log(options):
    print(sonde("job", "log", options.job), end="")


ACTIONS = {"submit_job": submit_job, "get_job": get_job, "kill_job": kill_job, "dump_log": dump_log}


def main():
    parser = argparse.ArgumentParser(prog="client.py")
    parser.add_argument("--action", required=True, choices=sorted(ACTIONS))
    parser.add_argument("--ml_model", default="job")
    for name, kind in SETTINGS.items():
        parser.add_argument("--" + name, type=kind)
    parser.add_argument("--target_loss", type=float)
    parser.add_argument("--mode", default="selftf")
    parser.add_argument("--script", nargs=argparse.REMAINDER, help="the program and its arguments: all that follows")
    parser.add_argument("job", nargs="?", help="the job's id, of get_job, kill_job and dump_log")
    options = parser.parse_args()
    if options.action != "submit_job" and not options.job:
        parser.error(f"{options.action} wants the job's id")
    ACTIONS[options.action](options)


if __name__ == "__main__":
    main()
