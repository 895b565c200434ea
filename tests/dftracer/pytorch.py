#!/usr/bin/python3
"""PyTorch: a DataLoader whose forked workers report, torch.profiler's events, operations of a graph."""
import collections
import importlib.util
import os
import sys

import dft
import tap
from runs import Run


def loader():
    with Run("pytorch.py", "loader") as run:
        names = dft.names(run.prefix)
        parent = {e["pid"] for e in run.events("pipeline")}
        items = [e for e in run.events("data") if e["name"] == "item"]
        read = collections.Counter(os.path.basename(names.get(e["args"].get("fhash"), "")) for e in run.events("POSIX", "STDIO")
                                   if e["name"] in ("open", "open64") and e["pid"] not in parent)
        run.want("one parent", len(parent), 1)
        run.want("items, all of them by workers", (len(items), parent & {e["pid"] for e in items}), (24, set()))
        run.want("workers", len({e["pid"] for e in items}), 4)
        run.want("files that workers opened", {n: c for n, c in read.items() if n.endswith(".bin")}, {f"sample{i}.bin": 2 for i in range(12)})
        run.want("batches", sum(e["name"] == "fetch.iter" for e in run.events("dataloader")), 6)
        run.want("steps of the parent", [e["pid"] in parent for e in run.events("APP")], [True] * 6)
        run.want("each log complete", {dft.lines(path)[-1]["name"] for path in dft.logs(run.prefix)}, {"end"})
        run.want("left over", dft.rings(run.prefix), [])
        return run.problems


def profiler():
    with Run("pytorch.py", "profiler") as run:
        counts = dft.histogram(run.events("PP"))
        run.want("operators", (counts.get("aten::linear"), counts.get("aten::relu")), (6, 3))
        steps, inside = run.events("APP"), 0
        for event in run.events("PP"):
            inside += any(s["ts"] - 2000 <= event["ts"] <= s["ts"] + s["dur"] + 2000 for s in steps if event["name"] == "aten::linear")
        run.want("times are the trace's", inside, 6)
        run.want("arguments", {"thread", "device", "input_size"} <= set(run.events("PP")[0]["args"]), True)
        return run.problems


def graph():
    with Run("pytorch.py", "graph") as run:
        found = [e["name"] for e in run.events("dynamo")]
        run.want("operations", found[:7], ["method.sum", "function.add", "function.relu", "method.sqrt", "0.Linear_0", "1.ReLU_1", "2.Linear_2"])
        run.want("of a compiled function", len(found) > 7, b"compiled" in run.done.stdout)
        run.want("arguments", {(e["args"]["grad_enabled"], e["args"].get("step")) for e in run.events("dynamo")[:4]}, {(1, 7)})
        return run.problems


def main():
    if not importlib.util.find_spec("torch"):
        tap.skip_service("python3-torch is not installed")
    tap.check("a DataLoader whose forked workers report", loader())
    tap.check("torch.profiler's trace handler", profiler())
    tap.check("operations of a graph", graph())
    return tap.done()


sys.exit(main())
