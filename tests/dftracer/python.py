#!/usr/bin/python3
"""dftracer.logger and dftracer.python: programs of our own under them; no PyTorch is needed.

Section 8.2's counts are those of DFTracer 2's own test of `ai`, of lines in a log of generation D.
"""
import os
import sys

import dft
import tap
from runs import Run

LINES = {"NORMAL": 75, "METADATA": 75, "all": 8, "dataloader": 60, "device": 69, "compute": 51, "comm": 75, "checkpoint": 72}


def shown(event, *keys):
    return (event["name"],) + tuple(event["args"].get(key) for key in keys)


def introduction():
    with Run("introduction.py") as run:
        os.makedirs(os.path.join(run.scratch, "data"), exist_ok=True)
        names = dft.names(run.prefix)
        by_process = {}
        for event in run.events():
            by_process.setdefault(event["pid"], []).append(event)
        run.want("no preload", b"LD_PRELOAD" in run.done.stdout, False)
        both = [events for events in by_process.values() if {"COMPUTE", "POSIX"} <= {e["cat"] for e in events}]
        run.want("processes with COMPUTE and POSIX", len(both), 2)
        run.want("log_events", sum(e["name"] == "log_events" for e in run.events("COMPUTE")), 2)
        wrote = {os.path.basename(names[e["args"]["fhash"]]) for e in run.events("POSIX") if e["name"] == "write" and "fhash" in e["args"]}
        run.want("written", {"demofile1.npz", "demofile2.txt"} <= wrote, True)
        run.want("the child wrote the text", len({e["pid"] for e in run.events("POSIX")
                                                  if names.get(e["args"].get("fhash"), "").endswith("demofile2.txt")}), 1)
        run.want("complete", [dft.lines(path)[-1]["name"] for path in dft.logs(run.prefix)], ["end"] * len(dft.logs(run.prefix)))
        run.want("left over", dft.rings(run.prefix), [])
        return run.problems


def training(how, lines):
    with Run("training.py", how, DFTRACER_FORMAT="D", DFTRACER_TRACE_COMPRESSION="0", DFTRACER_DISABLE_IO="1") as run:
        logs = dft.logs(run.prefix)
        run.want("logs", len(logs), 1)
        run.want("lines as wc counts them", dft.text(logs[0]).count(b"\n"), lines)
        return run.problems


def off(program, *arguments):
    with Run(program, *arguments, DFTRACER_ENABLE="0", DFTRACER_CONFIGURATION="/nowhere") as run:
        run.want("logs", dft.logs(run.prefix), [])
        return run.problems


def decorators():
    with Run("interface.py", "decorators") as run:
        run.want("events", [shown(e, "epoch", "step", "image_idx", "image_size") for e in run.events("WORK")], [
            ("plain", None, None, None, None), ("plain", None, None, None, None), ("renamed", None, 9, None, 7),
            ("Thing.__init__", 4, None, None, None), ("Thing.method", None, 41, 5, None), ("Thing.below", None, None, None, None),
            ("Thing.above", None, None, None, None), ("fails", None, None, None, None), ("renamed", None, 3, None, 8)])
        return run.problems


def loops():
    with Run("interface.py", "loops") as run:
        counts = dft.histogram(run.events("WORK"))
        run.want("counts", counts, {"loop.iter": 3, "loop.yield": 3, "letters.iter": 2, "letters.yield": 2, "left.iter": 2, "left.yield": 2,
                                    "outer.iter": 2, "outer.yield": 2, "inner.iter": 1, "inner.yield": 1, "plain": 1})
        run.want("steps", [e["args"]["step"] for e in run.events("WORK") if e["name"] == "loop.iter"], [1, 2, 3])
        run.want("another name", [e["args"]["letter"] for e in run.events("WORK") if e["name"] == "letters.yield"], [1, 2])
        run.want("levels", {e["name"]: e["args"]["level"] for e in run.events("WORK") if e["name"] in ("inner.yield", "plain", "outer.yield")},
                 {"outer.yield": 1, "inner.yield": 2, "plain": 3})
        return run.problems


def contexts():
    with Run("interface.py", "contexts") as run:
        by_name = {e["name"]: e for e in run.events("WORK")}
        run.want("arguments", shown(by_name["block"], "epoch", "step", "image_idx", "image_size", "text", "real", "big", "flag"),
                 ("block", 1, 2, 3, 4, "t", 0.5, str(2**70), 1))
        run.want("nesting", [by_name[n]["args"]["level"] for n in ("block", "within", "plain")], [1, 2, 3])
        run.want("its parent", by_name["within"]["args"]["p_idx"], by_name["block"]["id"])
        counts = dft.histogram(run.events("WORK"))
        run.want("counts", counts, {"block": 1, "within": 1, "plain": 1, "flushed": 2, "region": 1, "tagged": 1, "raised": 1})
        run.want("tags", shown(by_name["tagged"], "size", "ratio", "word"), ("tagged", 3, 0.25, "7"))
        meta = [r["args"] for r in dft.records(run.prefix) if r["name"] == "CM"]
        run.want("metadata", [(m["name"], m["value"]) for m in meta], [("fact", "known")])
        return run.problems


def conventions():
    with Run("interface.py", "conventions") as run:
        found = [e for e in run.events() if e["cat"] not in ("POSIX", "STDIO")]
        run.want("events", [(e["cat"], e["name"]) for e in found], [
            ("compute", "forward"), ("compute", "forward"), ("comm", "send"), ("device", "transfer"), ("data", "preprocess.resize"),
            ("dataloader", "fetch.iter"), ("dataloader", "fetch.iter"), ("dataloader", "get"), ("dataloader", "use"), ("io", "read"),
            ("other", "other.log"), ("checkpoint", "checkpoint.io.write"), ("data", "data.io.open")])
        run.want("given for once", [shown(e, "step", "who") for e in found[:2]], [("forward", 3, "me"), ("forward", None, None)])
        run.want("of the whole tree", [e["args"].get("epoch") for e in found[3:5]], [5, 5])
        return run.problems


def entities():
    with Run("interface.py", "entities", DFTRACER_FORMAT="E", DFTRACER_TRACE_COMPRESSION="0") as run:
        records = dft.records(run.prefix)
        kinds = {k: [r["args"] for r in records if r["name"] == k] for k in ("EH", "ET", "ER")}
        run.want("records", {k: len(v) for k, v in kinds.items()}, {"EH": 4, "ET": 1, "ER": 1})
        _, one, two, made = (e["id"] for e in kinds["EH"])
        run.want("kinds", [e["type"] for e in kinds["EH"]], ["protein_structure", "sample", "sample", "model"])
        related = [e["args"].get("relations") for e in run.events("WORK")]
        run.want("relations", related, [{"used": [one, two], "generated": [made]}, None])
        end = records[-1]["args"]
        run.want("facts", (end["app"], end["used"].get("mine")), ({"batch": 32, "model": "net"}, 1))
        return run.problems


def leaks():
    with Run("interface.py", "leaks") as run:
        run.want("events", [shown(e, "epoch", "step", "image_size", "level") for e in run.events("WORK")],
                 [("leaks.<locals>.with_epoch", 1, 2, None, 1), ("plain", None, None, None, 1), ("plain", None, None, None, 1)])
        return run.problems


def logged():
    with Run("interface.py", "logged") as run:
        by_name = {e["name"]: e for e in run.events()}
        run.want("text", by_name["direct"]["args"]["s"], "text")
        run.want("kinds", shown(by_name["more"], "i", "f", "s"), ("more", 1, 1.5, "t"))
        hostile = by_name['"name"\n']
        run.want("hostile", (hostile["cat"], len(hostile["args"]['quote"d']), hostile["args"]["bytes"], hostile["args"]["new\nline"]),
                 ("\udcff", 200000, "\udc80", "\\"))
        return run.problems


def threads():
    with Run("interface.py", "threads") as run:
        outer = {e["id"]: e["tid"] for e in run.events("WORK") if e["name"] == "thread"}
        inner = [e for e in run.events("WORK") if e["name"] == "plain"]
        run.want("threads", len(set(outer.values())), 4)
        run.want("each inside its own", len([e for e in inner if outer.get(e["args"]["p_idx"]) == e["tid"]]), 200)
        return run.problems


def forked():
    with Run("interface.py", "forked") as run:
        calls = [e for e in run.events("WORK") if e["name"] == "plain"]
        run.want("calls in workers", len(calls), 20)
        run.want("each log complete", {dft.lines(path)[-1]["name"] for path in dft.logs(run.prefix)}, {"end"})
        run.want("left over", dft.rings(run.prefix), [])
        return run.problems


def preloaded():
    """HYBRID: the library preloaded, and its API used: no call is bound twice, both write one log."""
    with Run("interface.py", "written", mode="preload") as run:
        names = dft.names(run.prefix)
        writes = [e for e in run.events("POSIX") if e["name"] == "write" and names.get(e["args"].get("fhash"), "").endswith("/file")]
        run.want("writes", len(writes), 1)
        return run.problems


def main():
    tap.check("the introduction's program, without LD_PRELOAD", introduction())
    for how, lines in LINES.items():
        tap.check(f"ai, {how}: {lines} lines", training(how, lines))
    tap.check("ai, DFTRACER_ENABLE=0: no file", off("training.py", "NORMAL"))
    for case in (decorators, loops, contexts, conventions, entities, leaks, logged, threads, forked):
        tap.check(case.__name__, case())
        tap.check(f"{case.__name__}, disabled", off("interface.py", case.__name__) if case is not entities else [])
    tap.check("preloaded, and the API besides", preloaded())
    return tap.done()


sys.exit(main())
