#!/usr/bin/python3
"""Every variable and every key of the configuration file; the environment wins."""
import os
import shutil
import sys
import tempfile

import dft
import tap

CASES = os.environ["CASES"]


def traced(case="values", mode="function", yaml=None, **more):
    """Problems of the run, its scratch directory and its prefix."""
    scratch = os.path.realpath(tempfile.mkdtemp())
    os.mkdir(os.path.join(scratch, "data"))
    prefix = os.path.join(scratch, "trace")
    if yaml is not None:
        with open(os.path.join(scratch, "dft.yaml"), "w", encoding="utf-8") as file:
            file.write(yaml.replace("@", scratch))
        more.setdefault("DFTRACER_CONFIGURATION", os.path.join(scratch, "dft.yaml"))
    done = dft.run([CASES, case, os.path.join(scratch, "data")], mode, prefix, cwd=scratch, **more)
    return dft.differ("status", done.returncode, 0), scratch, prefix


def look(what, want, case="values", mode="function", yaml=None, **more):
    """`what` of the records against `want`."""
    problems, scratch, prefix = traced(case, mode, yaml, **more)
    try:
        problems += dft.differ("", what(prefix), want)
    except (ValueError, IndexError, KeyError) as error:
        problems.append(repr(error))
    shutil.rmtree(scratch)
    return problems


def first(name, *keys):
    def what(prefix):
        event = [e for e in dft.events(prefix) if e["name"] == name][0]
        return tuple(event.get("args", {}).get(k) for k in keys)
    return what


def has_args(prefix):
    return {"args" in e for e in dft.events(prefix)}


def count(*names):
    return lambda prefix: [dft.histogram(dft.events(prefix)).get(n, 0) for n in names]


def exists(prefix):
    return len(dft.logs(prefix)) > 0


def unit(prefix):
    return len(str(dft.events(prefix)[0]["ts"]))


def tids_are_pids(prefix):
    return all(e["tid"] == e["pid"] for e in dft.events(prefix))


def affinity(prefix):
    return [sorted(r["args"]["value"]) for r in dft.records(prefix) if r["name"] == "PR"]


YAML = """# everything
enable: true
tracer:
  init: FUNCTION
  log_file: "@/trace"      # quoted
  data_dirs:
    - /nowhere
    - @/data
  compression: {compression}
  time_metric: {metric}
features:
  metadata: {metadata}
  core_affinity: false
  tid: true
  io:
    enable: true
    posix: {posix}
    stdio: true
internal:
  bind_signals: 0
  write_buffer_size: 4096
"""


def yaml(compression="false", metric="US", metadata="true", posix="true"):
    return YAML.format(compression=compression, metric=metric, metadata=metadata, posix=posix)


NOTHING = {"DFTRACER_ENABLE": None, "DFTRACER_LOG_FILE": None, "DFTRACER_INC_METADATA": None}


def aggregated(letter):
    """Sums of an interval: all writes are counted, and their bytes."""
    problems, scratch, prefix = traced("threads", DFTRACER_ENABLE_AGGREGATION="1", DFTRACER_TRACE_INTERVAL_MS="60000", DFTRACER_FORMAT=letter,
                                       DFTRACER_TRACE_COMPRESSION="0")
    found = [r for r in dft.records(prefix) if r["ph"] in ("C", 3)]
    writes = [r["args"] for r in found if r["name"] == "write"]
    problems += dft.differ("single events", dft.events(prefix), [])
    problems += dft.differ("writes", sum(a["dft_cnt"] for a in writes), 2000)
    problems += dft.differ("bytes", sum(a["count_sum"] if "count_sum" in a else a["count"] for a in writes), 2000)
    problems += dft.differ("threads", len({r["tid"] for r in found if r["name"] == "write"}), 4)
    problems += dft.differ("inner", sum(r["args"]["dft_cnt"] for r in found if r["name"] == "inner"), 2000)
    problems += dft.differ("fewer records than events", len(found) < 1000, True)
    problems += dft.differ("an order of values", all(a["dur_min"] <= a["dur_max"] <= a["dur_sum"] for a in writes if "dur_min" in a), True)
    problems += dft.differ("num_events", dft.records(prefix)[-1]["args"]["num_events"], sum(r["args"]["dft_cnt"] for r in found))
    shutil.rmtree(scratch)
    return problems


def main():
    check = tap.check
    for value, want in (("1", True), ("true", True), ("ON", True), ("yes", True), ("0", False), ("2", False), ("", False)):
        check(f"DFTRACER_ENABLE={value}", look(exists, want, DFTRACER_ENABLE=value))
    check("DFTRACER_ENABLE=true, strict", look(exists, False, DFTRACER_ENABLE="true", SONDE_DFTRACER_STRICT="1"))
    check("DFTRACER_INIT=FUNCTION", look(count("write"), [1], DFTRACER_INIT="FUNCTION"))
    check("DFTRACER_INIT=NONE", look(count("write"), [0], DFTRACER_INIT="NONE"))
    check("DFTRACER_INC_METADATA=0", look(has_args, {False}, DFTRACER_INC_METADATA="0"))
    check("DFTRACER_INC_METADATA unset", look(has_args, {False}, DFTRACER_INC_METADATA=None))
    check("generation E has arguments by itself",
          look(has_args, {True}, DFTRACER_INC_METADATA=None, DFTRACER_FORMAT="E"))
    check("DFTRACER_DISABLE_IO", look(count("write"), [0], DFTRACER_DISABLE_IO="1"))
    check("DFTRACER_DISABLE_POSIX", look(count("write"), [0], DFTRACER_DISABLE_POSIX="1"))
    check("DFTRACER_DISABLE_STDIO", look(count("write"), [1], DFTRACER_DISABLE_STDIO="1"))
    check("DFTRACER_DISABLE_TIDS=1", look(tids_are_pids, True, case="threads", DFTRACER_DISABLE_TIDS="1"))
    check("DFTRACER_DISABLE_TIDS=0", look(tids_are_pids, False, case="threads", DFTRACER_DISABLE_TIDS="0"))
    check("DFTRACER_DISABLE_TIDS=0, strict", look(tids_are_pids, True, case="threads", DFTRACER_DISABLE_TIDS="0",
                                                  SONDE_DFTRACER_STRICT="1", DFTRACER_DATA_DIR="all"))
    check("DFTRACER_SET_CORE_AFFINITY", look(affinity, [sorted(os.sched_getaffinity(0))], DFTRACER_SET_CORE_AFFINITY="1"))
    check("DFTRACER_WRITE_BUFFER_SIZE", look(count("write"), [1], DFTRACER_WRITE_BUFFER_SIZE="10"))
    for metric, digits in (("US", 16), ("NS", 19), ("MS", 13), ("SEC", 10)):
        check(f"DFTRACER_TIME_METRIC={metric}", look(unit, digits, DFTRACER_TIME_METRIC=metric))
    check("DFTRACER_TRACE_COMPRESSION=1", look(lambda p: dft.logs(p)[0].endswith(".pfw.gz"), True, DFTRACER_TRACE_COMPRESSION="1"))
    check("DFTRACER_TRACE_COMPRESSION=1, strict", look(lambda p: dft.logs(p)[0].endswith(".pfw"), True, DFTRACER_DATA_DIR="all",
                                                       DFTRACER_TRACE_COMPRESSION="1", SONDE_DFTRACER_STRICT="1"))
    check("DFTRACER_DATA_DIR unset, strict", look(count("write"), [0], SONDE_DFTRACER_STRICT="1"))
    check("DFTRACER_DATA_DIR=all", look(count("write"), [1], DFTRACER_DATA_DIR="all"))
    for letter in "CDE":
        check(f"DFTRACER_ENABLE_AGGREGATION, generation {letter}", aggregated(letter))
    check("DFTRACER_BIND_SIGNALS: the log is complete, the status is the signal's", bound_signals())
    check("a configuration file alone", look(count("write"), [1], yaml=yaml(), **NOTHING))
    check("its features.metadata", look(has_args, {False}, yaml=yaml(metadata="off"), **NOTHING))
    check("its features.io.posix", look(count("write"), [0], yaml=yaml(posix="no"), **NOTHING))
    check("its tracer.compression", look(lambda p: dft.logs(p)[0].endswith(".gz"), True, yaml=yaml(compression="yes"), **NOTHING))
    check("its tracer.time_metric", look(unit, 19, yaml=yaml(metric="NS"), **NOTHING))
    check("`profiler` as version 1 calls it", look(unit, 19, yaml=yaml(metric="NS").replace("tracer:", "profiler:"), **NOTHING))
    check("the environment wins", look(unit, 13, yaml=yaml(metric="NS"), **{**NOTHING, "DFTRACER_TIME_METRIC": "MS"}))
    check("the environment switches off", look(exists, False, yaml=yaml(), **{**NOTHING, "DFTRACER_ENABLE": "0"}))
    check("a configuration file that is not there", look(exists, True, DFTRACER_CONFIGURATION="/nowhere/dft.yaml"))
    check("nonsense in it", look(exists, True, yaml="[[[\n- x: {\n\t:::\n" + "a" * 100000, DFTRACER_ENABLE="1"))
    return tap.done()


def bound_signals():
    scratch = tempfile.mkdtemp()
    prefix, problems = os.path.join(scratch, "trace"), []
    for case, status in (("term", -15), ("segv", -11)):
        done = dft.run([os.environ["VICTIM"], case, os.path.join(scratch, case)], "preload", prefix, DFTRACER_BIND_SIGNALS="1")
        problems += dft.differ("status", done.returncode, status)
    problems += dft.differ("left over", dft.rings(prefix), [])
    problems += dft.differ("ends", [dft.lines(p)[-1]["name"] for p in dft.logs(prefix)], ["end", "end"])
    shutil.rmtree(scratch)
    return problems


sys.exit(main())
