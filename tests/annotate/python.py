#!/usr/bin/python3
"""The Python package: what is recorded, in tasks, threads and worker processes too."""
import collections
import os
import shutil
import subprocess
import tempfile

import tap

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = {"PYTHONDONTWRITEBYTECODE": "1"}


def script(name):
    return os.path.join(HERE, name)


def notes():
    run = tap.as_printed("python", tap.PYTHON, script("python-notes.py"), env=QUIET)
    tap.same(run.err, "on\n", "python: it knows that it is recorded")
    board = run.ring.only().board
    tap.same(board.metrics["took_seconds", 3].count, 3, "a timer counts each time, exceptions too")
    tap.same((board.metrics["added", 1].value, board.metrics["set", 2].value, board.metrics["seen", 3].count), (3.0, 1.5, 1),
             "python: metrics")
    tap.same((board.metrics["paced", 5].value, board.metrics["paced", 5].rejected), (3.5, 1), "python: a rate, and a word that is none")
    tap.same((sorted(board.knobs), board.knobs["c"].choices, board.knobs["c"].value), (["b", "c", "i", "r"], "x|y|z", 1),
             "python: knobs")
    tap.same(run.ring.only().opens, [], "python: no span is left open")


def not_recorded():
    run = tap.Run(tap.PYTHON, script("python-notes.py"), is_traced=False, env=QUIET)
    tap.same((run.status, run.err), (0, "off\n"), "without libsonde the same program runs")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(tap.PACKAGE, "sonde"), os.path.join(folder, "sonde"),
                        ignore=shutil.ignore_patterns("*.so"))
        done = subprocess.run([tap.PYTHON, script("python-notes.py")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=dict(os.environ, PYTHONPATH=folder, **QUIET))
    tap.same((done.returncode, done.stderr), (0, b"off\n"), "and without the extension module")


def tasks():
    run = tap.Run(tap.PYTHON, script("python-tasks.py"), env=QUIET, timeout=300)
    tap.same(run.status, 0, "tasks, threads and workers end well") or print("# " + run.err.replace("\n", "\n# "))
    tasks_count, rounds, threads = map(int, run.out.split())
    main = min((p for p in run.ring.processes.values() if p.notes), key=lambda p: p.number)
    spans = [n for n in main.notes if n.kind == "span"]
    count = collections.Counter(n.name for n in spans)
    tap.same((count["task"], count["await"], count["ticks"]), (tasks_count, tasks_count * rounds, 1), "each task's spans")
    seen = collections.Counter(tuple(value for _, _, value in n.args) for n in spans if n.name == "await")
    tap.same(seen, {(task, i): 1 for task in range(tasks_count) for i in range(rounds)}, "with their own arguments")
    tap.ok(all(n.dur < 2**40 for n in spans), "no span lasts for ever")
    tap.same((count["thread"], count["inner"]), (threads * rounds, threads * rounds), "each thread's spans")
    tap.same({n.depth for n in spans if n.name == "thread"} | {n.depth - 1 for n in spans if n.name == "inner"}, {0},
             "threads have depths of their own")
    (last,) = [n for n in spans if n.name == "last"]
    tap.same((last.depth, main.opens), (0, []), "when all have ended the depth is 0 again")
    children = [p for p in run.ring.processes.values() if p.notes and p is not main]
    work = [n for p in children for n in p.notes if n.name == "work" and n.kind == "span"]
    tap.same(len(work), 2 * 20, "the work of forked and spawned workers")
    tap.same({(n.cat, n.depth, tuple(n.args)) for n in work}, {("pool", 0, (("fixed", "s", b"key"),))},
             "with names and arguments that were given before the fork")
    tap.same([(n.name, n.depth) for p in children for n in p.notes if n.name in ("in child", "around fork")], [],
             "a child that dies inside a span has not ended it")
    tap.same([[o.name for o in p.opens] for p in run.ring.processes.values() if p.opens and p is not main], [["in child"]],
             "but what it was doing is known")


tap.main(notes, not_recorded, tasks)
