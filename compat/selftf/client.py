#!/usr/bin/env python3
"""SelfTF's client, done by sonde: client.py --action submit_job|get_job|kill_job|dump_log|change_config ...

A job is tuned while it trains (mode selftf: parameter servers, workers and threads live; selftf_reconfig_0: by checkpoint and
restart) or runs with the settings given (mode dry_run). The settings reach the program as JSON in MLTUNER_CONF_DICT and through
TFProgramUtil. The variables OS_SIZE, NUM_ITER_PER_OS, ONLINE_NUM_ITER_PER_OS and KEY_ESTIMATION_FUNC mean what they did.
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

SETTINGS = {"batch_size": int, "learning_rate": float, "optimizer": str, "num_worker": int, "num_intra_thread": int,
            "n_partition": int}
COLUMNS = ["epoch", "n_ps", "n_worker", "intra", "inter", "loss", "epoch_time"]
TUNER_VARIABLES = ["OS_SIZE", "NUM_ITER_PER_OS", "ONLINE_OS_SIZE", "ONLINE_NUM_ITER_PER_OS", "KEY_ESTIMATION_FUNC"]
PLAN_VARIABLES = {"explore": "OS_SIZE", "iterations": "NUM_ITER_PER_OS", "online_iterations": "ONLINE_NUM_ITER_PER_OS"}
CURVES = {"bo": "ensemble", "old": "selftf"}
RESTARTS = ("selftf_reconfig_0", "test_reconfig_0")


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


def whole(name, default):
    """A variable that is a whole number from `default` 1 on."""
    text = os.environ.get(name, str(default))
    if not text.isdigit() or int(text) < 1:
        sys.exit(f"client.py: {name}='{text}' is not a number from 1 on")
    return int(text)


def plan_of(options, settings):
    """A job file of sonde train. SelfTF's two numbers: servers among the nodes (the rest are workers), threads within an
    operation (the rest are between them)."""
    nodes, threads = whole("SELFTF_NUM_COMPUTE_NODE", 3), whole("SELFTF_NUM_THREAD", os.cpu_count() or 2)
    kind = {"type": "int", "low": 1, "class": "restart" if options.mode in RESTARTS else "live"}
    params = [{"name": "ps_num", "high": max(1, nodes - 1), "default": 1, **kind},
              {"name": "intra", "high": max(1, threads - 1), "default": min(options.num_intra_thread or 1, max(1, threads - 1)), **kind}]
    plan = {"name": options.ml_model, "params": params, "settings": {"ml_model": options.ml_model, "node_num": nodes, "thread_num": threads}}
    plan["settings"].update({name: settings[name] for name in settings if name not in ("num_worker", "num_intra_thread")})
    plan.update({key: whole(name, 1) for key, name in PLAN_VARIABLES.items() if name in os.environ})
    plan["curve"] = CURVES.get(os.environ.get("KEY_ESTIMATION_FUNC", "bo"), "ensemble")
    return plan


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
    if options.mode == "dry_run":
        print(sonde("submit", *words, "--", *options.script), end="")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:  # JSON is YAML
        json.dump(plan_of(options, settings), file)
        file.flush()
        print(sonde("submit", *words, "--tune", file.name, "--", *options.script), end="")


def configs_of(job):
    """{index: the columns it fills}; none of a job that is not tuned."""
    columns = {}
    for config in json.loads(sonde("job", "--json", "configs", job)):
        params = config["params"]
        nodes, threads, ps, intra = (params.get(name) for name in ("node_num", "thread_num", "ps_num", "intra"))
        columns[str(config["index"])] = {"n_ps": ps, "n_worker": nodes - ps if nodes and ps else params.get("workers"),
                                         "intra": intra, "inter": threads - intra if threads and intra else None}
    return columns


def get_job(options):
    """JOB.csv in this directory. What a job does not have (parameter servers, thread pools) is left empty."""
    rows = list(csv.DictReader(io.StringIO(sonde("job", "stats", options.job))))
    configs, name = configs_of(options.job), options.job + ".csv"
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        before, lease = 0.0, None
        for row in rows:
            before = before if row["epoch"] == lease else 0.0
            now, lease = float(row["time_s"]), row["epoch"]
            writer.writerow({"epoch": row["step"], "loss": row["loss"], "epoch_time": f"{now - before:.6f}",
                             **{key: value for key, value in configs.get(row["config"], {}).items() if value is not None}})
            before = now
    print(name)


def kill_job(options):
    sonde("job", "cancel", options.job)


def dump_log(options):
    print(sonde("job", "log", options.job), end="")


def change_config(options):
    """JOB +N or -N: so many more or fewer parameter servers; from now on they are not tuned."""
    configs = json.loads(sonde("job", "--json", "configs", options.job))
    if not configs:
        sys.exit(f"client.py: '{options.job}' is not tuned, or has not begun")
    params = configs[-1]["params"]
    count = min(max(1, params["ps_num"] + options.by), params["node_num"] - 1)
    sonde("job", "knob", options.job, f"ps_num={count:g}")


ACTIONS = {"submit_job": submit_job, "get_job": get_job, "kill_job": kill_job, "dump_log": dump_log, "change_config": change_config}


def main():
    parser = argparse.ArgumentParser(prog="client.py")
    parser.add_argument("--action", required=True, choices=sorted(ACTIONS))
    parser.add_argument("--ml_model", default="job")
    for name, kind in SETTINGS.items():
        parser.add_argument("--" + name, type=kind)
    parser.add_argument("--target_loss", type=float)
    parser.add_argument("--mode", default="selftf")
    parser.add_argument("--script", nargs=argparse.REMAINDER, help="the program and its arguments: all that follows")
    parser.add_argument("job", nargs="?", help="the job's id, of all but submit_job")
    parser.add_argument("by", nargs="?", type=int, default=0, help="of change_config: how many parameter servers more")
    options = parser.parse_args()
    if options.action != "submit_job" and not options.job:
        parser.error(f"{options.action} wants the job's id")
    ACTIONS[options.action](options)


if __name__ == "__main__":
    main()
