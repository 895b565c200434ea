#!/usr/bin/python3
"""Every variable and every key of the configuration file, one by one: each has its effect by the environment and by the
file, the environment wins, and without either the default holds.

Of development versions DFTRACER_LIBUV_THREADS, _ENABLE_PAPI_TRACING, _PAPI_*, _DISABLE_VARIORUM_POWER and their keys are
accepted and do nothing: there is no such service here.
"""
import os
import shutil
import sys
import tempfile

import dft
import tap

CASES = os.environ["CASES"]
UNSET = {"DFTRACER_ENABLE": None, "DFTRACER_LOG_FILE": None, "DFTRACER_INC_METADATA": None}


class Run:
    """The program, configured by variables and by a file; everything goes away with it."""

    def __init__(self, keys, variables, case="values", basis=None):
        self.scratch = os.path.realpath(tempfile.mkdtemp())
        os.mkdir(self.at("data"))
        self.prefix = self.at("trace")
        config = self.at("dft.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(yaml({**(basis or {}), **keys}).replace("@", self.scratch))
        with open(self.at("rules.yaml"), "w", encoding="utf-8") as file:
            file.write("inclusion:\n  - \"name == 'write'\"\n")
        env = {key: value.replace("@", self.scratch) for key, value in variables.items()}
        self.done = dft.run([CASES, case, self.at("data")], "function", self.prefix, cwd=self.scratch,
                            **{**UNSET, "DFTRACER_CONFIGURATION": config, **env})

    def at(self, name):
        return os.path.join(self.scratch, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch)


def yaml(keys):
    """Keys with dots as mappings within each other."""
    tree = {}
    for key, value in keys.items():
        node, parts = tree, key.split(".")
        for part in parts[:-1]:
            node = node.setdefault(part, {})
        node[parts[-1]] = value
    return "".join(block(tree, 0))


def block(tree, depth):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{'  ' * depth}{key}:\n"
            yield from block(value, depth + 1)
        else:
            yield f"{'  ' * depth}{key}: {value}\n"


# What is looked at.

def calls(*names):
    return lambda run: [dft.histogram(dft.events(run.prefix)).get(name, 0) for name in names]


def logs(run):
    return sorted("trace" if path.startswith(run.prefix) else "other" for path in
                  (os.path.join(run.scratch, name) for name in os.listdir(run.scratch)) if ".pfw" in path)


def ending(run):
    return dft.logs(run.prefix)[0][-3:]


def digits(run):
    return len(str(dft.events(run.prefix)[0]["ts"]))


def has_args(run):
    return "args" in dft.events(run.prefix)[0]


def affinity(run):
    return len([r for r in dft.records(run.prefix) if r["name"] == "PR"])


def one_tid(run):
    return len({e["tid"] for e in dft.events(run.prefix)}) == 1


def first_phase(run):
    return dft.records(run.prefix)[0]["ph"]


def told(run):
    return b"dftracer: writes '" in run.done.stderr


def status(run):
    return run.done.returncode


def sums(run):
    """Which names are summed up, and which have lines of their own."""
    records = dft.records(run.prefix)
    return (sorted({r["name"] for r in records if r["ph"] == "C"}), sorted({r["name"] for r in records if dft.is_data(r)}))


def step_us(run):
    """The intervals begin at multiples of this."""
    times = [r["ts"] for r in dft.records(run.prefix) if r["ph"] == "C"]
    return [step for step in (1000000, 7000) if all(ts % step == 0 for ts in times)][0]


def fact(name):
    return lambda run: dft.records(run.prefix)[-1]["args"]["cfg"][name]


ON = {"enable": "true"}
ARGS = {**ON, "features.metadata": "true"}
AGGREGATED = {**ARGS, "features.aggregation.enable": "true"}
SELECTIVE = {**AGGREGATED, "features.aggregation.type": "SELECTIVE", "features.aggregation.file": "@/rules.yaml"}
LATEST = {**ON, "tracer.format": "E", "tracer.compression": "false"}
NAMES = ["inner", "open", "outer", "write"]

# Variable, its value; key, its value; what is looked at; without, with; what else is set; the program's case.
ROWS = [
    ("DFTRACER_ENABLE", "1", "enable", "true", logs, [], ["trace"], {}, "values"),
    ("DFTRACER_INIT", "NONE", "tracer.init", "NONE", calls("write"), [1], [0], ON, "values"),
    ("DFTRACER_INIT", "PRELOAD", "profiler.init", "PRELOAD", calls("write"), [1], [0], ON, "values"),
    ("DFTRACER_LOG_FILE", "@/other", "tracer.log_file", "'@/other'", logs, ["trace"], ["other"], ON, "values"),
    ("DFTRACER_DATA_DIR", "/nowhere:/else", "tracer.data_dirs", "[/nowhere, /else]", calls("write"), [1], [0], ON, "values"),
    ("DFTRACER_DATA_DIR", "/nowhere:@/data", "tracer.data_dirs", "['@/data', /nowhere]", calls("write"), [1], [1], ON, "values"),
    ("DFTRACER_DATA_DIR", "all", "tracer.data_dirs", "all", calls("write"), [1], [1], ON, "values"),
    ("DFTRACER_LOG_LEVEL", "INFO", "tracer.log_level", "INFO", told, False, True, ON, "values"),
    ("DFTRACER_TRACE_COMPRESSION", "1", "tracer.compression", "true", ending, "pfw", ".gz", ON, "values"),
    ("DFTRACER_TRACE_COMPRESSION", "0", "tracer.compression", "false", ending, ".gz", "pfw", {**ON, "tracer.format": "D"}, "values"),
    ("DFTRACER_TIME_METRIC", "NS", "tracer.time_metric", "NS", digits, 16, 19, ON, "values"),
    ("DFTRACER_TIME_METRIC", "SEC", "tracer.time_metric", "SEC", digits, 16, 10, ON, "values"),
    ("DFTRACER_FORMAT", "E", "tracer.format", "E", first_phase, "M", 4, ON, "values"),
    ("DFTRACER_INC_METADATA", "1", "features.metadata", "on", has_args, False, True, ON, "values"),
    ("DFTRACER_SET_CORE_AFFINITY", "1", "features.core_affinity", "yes", affinity, 0, 1, ON, "values"),
    ("DFTRACER_DISABLE_IO", "1", "features.io.enable", "false", calls("write", "fopen"), [1, 1], [0, 0], ON, "both"),
    ("DFTRACER_DISABLE_POSIX", "1", "features.io.posix", "false", calls("write", "fopen"), [1, 1], [0, 1], ON, "both"),
    ("DFTRACER_DISABLE_STDIO", "1", "features.io.stdio", "false", calls("write", "fopen"), [1, 1], [1, 0], ON, "both"),
    ("DFTRACER_DISABLE_TIDS", "1", "features.tid", "false", one_tid, False, True, ON, "threads"),
    ("DFTRACER_ENABLE_AGGREGATION", "1", "features.aggregation.enable", "true", sums, ([], NAMES), (NAMES, []), ARGS, "threads"),
    ("DFTRACER_AGGREGATION_TYPE", "SELECTIVE", "features.aggregation.type", "SELECTIVE", sums, (NAMES, []),
     (["write"], ["inner", "open", "outer"]), {**AGGREGATED, "features.aggregation.file": "@/rules.yaml"}, "threads"),
    ("DFTRACER_AGGREGATION_FILE", "@/rules.yaml", "features.aggregation.file", "'@/rules.yaml'", sums, ([], NAMES),
     (["write"], ["inner", "open", "outer"]), {**AGGREGATED, "features.aggregation.type": "SELECTIVE"}, "threads"),
    ("DFTRACER_TRACE_INTERVAL_MS", "7", "tracer.interval", "7", step_us, 1000000, 7000, AGGREGATED, "threads"),
    ("DFTRACER_ERROR", "1", "internal.throw_error", "true", status, 0, -6, {**ON, "tracer.log_file": "/proc/none/trace"}, "values"),
    ("DFTRACER_GOTCHA_PRIORITY", "7", "gotcha.priority", "7", fact("gotcha_priority"), 1, 7, LATEST, "values"),
    ("DFTRACER_WRITE_BUFFER_SIZE", "9000000", "internal.write_buffer_size", "9000000", fact("write_buffer_size"), 262144, 9000000,
     LATEST, "values"),
    ("DFTRACER_BIND_SIGNALS", "1", "internal.bind_signals", "true", fact("bind_signals"), 0, 1, LATEST, "values"),
]
# What switches the same off again, where a variable says it against the file.
OPPOSITES = {"DFTRACER_ENABLE": "0", "DFTRACER_INIT": "FUNCTION", "DFTRACER_LOG_FILE": "@/trace", "DFTRACER_DATA_DIR": "all",
             "DFTRACER_LOG_LEVEL": "ERROR", "DFTRACER_TIME_METRIC": "US", "DFTRACER_FORMAT": "C", "DFTRACER_INC_METADATA": "0",
             "DFTRACER_SET_CORE_AFFINITY": "0", "DFTRACER_DISABLE_IO": "0", "DFTRACER_DISABLE_POSIX": "0",
             "DFTRACER_DISABLE_STDIO": "0", "DFTRACER_DISABLE_TIDS": "0", "DFTRACER_ENABLE_AGGREGATION": "0",
             "DFTRACER_AGGREGATION_TYPE": "FULL", "DFTRACER_AGGREGATION_FILE": "", "DFTRACER_TRACE_INTERVAL_MS": "1000",
             "DFTRACER_ERROR": "0", "DFTRACER_GOTCHA_PRIORITY": "1", "DFTRACER_WRITE_BUFFER_SIZE": "1",
             "DFTRACER_BIND_SIGNALS": "0"}


def one(row):
    variable, value, key, said, look, without, wanted, basis, case = row
    opposite = OPPOSITES.get(variable, "0" if value == "1" else "1")
    problems = []
    for what, keys, variables, want in (("neither", {}, {}, without), ("variable", {}, {variable: value}, wanted),
                                        ("key", {key: said}, {}, wanted), ("variable over key", {key: said}, {variable: opposite}, without)):
        with Run(keys, variables, case, basis) as run:
            try:
                have = look(run)
            except (ValueError, IndexError, KeyError) as error:
                have = repr(error)
            problems += dft.differ(what, have, want)
    return problems


# Rules, as users of DFTracer write them; what they sum up of the program's events.
RULES = [
    ("inclusion:\n  - \"cat == 'POSIX'\"\n", ["open", "write"]),
    ("inclusion:\n  - \"cat == 'posix'\"\nexclusion:\n  - \"name == 'open'\"\n", ["write"]),
    ("inclusion:\n- name LIKE 'o*'\n", ["open", "outer"]),
    ("inclusion: [\"name IN {inner, write}\"]\n", ["inner", "write"]),
    ("inclusion:\n  - dur >= 0\nexclusion:\n  - cat == 'C_APP' OR name == open\n", ["write"]),
    ("exclusion:\n  - \"name == 'inner'\"\n", ["open", "outer", "write"]),
    ("inclusion:\n  - args.count == 1\n", ["write"]),
    ("inclusion:\n  - args.fname LIKE '*/shared'\n", ["open", "write"]),
    ("inclusion:\n  - app LIKE 'dftracer_*' AND NOT cat == C_APP\n", ["open", "write"]),
    ("inclusion:\n  - rank == 0\n", []),
    ("inclusion:\n  - nonsense (\n  - name == write\n", ["write"]),
    ("", []),
]


def rules(text, summed):
    """Sums count what was done; everything else keeps its lines, and num_events counts both."""
    with Run({}, {}, "threads", {**ARGS}) as run:
        want = len(dft.events(run.prefix))
    scratch = os.path.realpath(tempfile.mkdtemp())
    os.mkdir(os.path.join(scratch, "data"))
    with open(os.path.join(scratch, "own.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    prefix = os.path.join(scratch, "trace")
    done = dft.run([CASES, "threads", os.path.join(scratch, "data")], "function", prefix, DFTRACER_ENABLE_AGGREGATION="1",
                   DFTRACER_AGGREGATION_TYPE="SELECTIVE", DFTRACER_AGGREGATION_FILE=os.path.join(scratch, "own.yaml"),
                   DFTRACER_TRACE_INTERVAL_MS="60000", DFTRACER_LOG_LEVEL="WARN")
    records = dft.records(prefix)
    sums_made = [r for r in records if r["ph"] == "C"]
    single = [r for r in records if dft.is_data(r)]
    problems = dft.differ("status", done.returncode, 0)
    problems += dft.differ("summed up", sorted({r["name"] for r in sums_made}), summed)
    problems += dft.differ("written", sorted({r["name"] for r in single}), [n for n in NAMES if n not in summed])
    problems += dft.differ("all of them", sum(r["args"]["dft_cnt"] for r in sums_made) + len(single), want)
    problems += dft.differ("num_events", records[-1]["args"]["num_events"], want)
    problems += dft.differ("a complaint", b"make no sense" in done.stderr, "nonsense" in text)
    shutil.rmtree(scratch)
    return problems


def main():
    for row in ROWS:
        tap.check(f"{row[0]}={row[1]}, {row[2]}", one(row))
    for text, summed in RULES:
        tap.check("rules " + repr(text), rules(text, summed))
    return tap.done()


sys.exit(main())
