#!/usr/bin/python3
"""Annotations across fork, in threads, and of processes that are killed."""
import collections
import signal

import ring
import tap


def forks():
    run = tap.Run(tap.path("fork"))
    tap.same(run.status, 0, "a program that forks inside spans exits with 0") or print("# " + run.err)
    parent, child, grandchild = sorted((p for p in run.ring.processes.values() if p.notes), key=lambda p: p.number)

    def spans(process):
        return [(n.name, n.cat, n.depth) for n in process.notes if n.kind == "span"]

    tap.same(spans(parent), [("work", "forked", 0), ("whole", None, 0), ("around fork", None, 1), ("work", "forked", 1)],
             "the parent's spans")
    tap.same(spans(child), [("work", "forked", 0), ("around fork", None, 0)],
             "a child begins at depth 0, with names of its own; what the parent began is the parent's")
    tap.same(spans(grandchild), [("work", "forked", 0)], "a grandchild too")
    tap.same([dict((k, v) for k, _, v in p.notes[0].args).get("who") for p in (parent, child, grandchild)],
             [b"parent", b"child", b"grandchild"], "each span is under its process")
    tap.same([n.pid for n in child.notes], [child.pid] * len(child.notes), "and its pid")
    tap.same([p.board.metrics["steps", 4].count for p in (parent, child, grandchild)], [2, 1, 1],
             "each process has a board of its own")
    tap.same([p.opens for p in (parent, child, grandchild)], [[], [], []], "no span is left open")


def threads():
    run = tap.Run(tap.path("threads"))
    long_lived, spans, short_lived, shared = map(int, run.out.split())
    process = run.ring.only()
    count = collections.Counter((n.name, n.depth) for n in process.notes if n.kind == "span")
    tap.same(count, {("thread", 0): long_lived, ("outer", 1): long_lived * spans, ("inner", 2): long_lived * spans,
                     ("brief", 0): short_lived}, "each thread's spans are there, with their depth")
    tap.same(process.dropped, 0, "nothing is dropped")
    wanted = {number: list(range(spans)) for number in range(long_lived)}
    got = collections.defaultdict(list)
    owners = collections.defaultdict(set)
    for n in process.notes:
        if n.name == "inner":
            got[n.args[0][2]].append(n.args[1][2])
            owners[n.args[0][2]].add(n.tid)
    tap.same(got, wanted, "in the thread's order, with their arguments")
    tap.same([len(tids) for tids in owners.values()], [1] * long_lived, "each thread's under one tid")
    instants = collections.Counter(n.name for n in process.notes if n.kind == "instant")
    tap.same(instants, {"shared %d" % i: long_lived * spans // shared for i in range(shared)}, "names that all threads make")
    tap.same(len(set(process.strings.values())), len(process.strings), "have one number each")
    metrics = process.board.metrics
    total = long_lived * spans
    tap.same(metrics["spans", 1].value, 2.0 * total, "what all threads add is added")
    index = metrics["index", 3].histogram
    tap.same((index.count, index.low, index.high, index.sum, sum(index.buckets)),
             (total, 1.0, float(spans), long_lived * spans * (spans + 1) / 2.0, total), "what all threads observe is observed")


def killed():
    wanted = {
        "three": [("first", 0), ("second", 1), ("third", 2)],
        "many": [("first", 0), ("second", 1), ("third", 2)],
        "deep": [("deep", depth) for depth in range(ring.OPEN_MAX)],
        "left": [("first", 0), ("second", 1)],
        "thread": [("first", 0), ("second", 1), ("third", 2), ("thread first", 0), ("thread second", 1)],
    }
    for mode, want in wanted.items():
        run = tap.Run(tap.path("killed"), mode)
        process = run.ring.only()
        opens = sorted((n.name, n.depth) for n in process.opens)
        tap.same((run.status, opens), (-signal.SIGKILL, sorted(want)), mode + ": what it was doing is known")
        tap.ok(all(n.ticks for n in process.opens), mode + ": and since when")
        if mode == "deep":
            tap.same({n.total for n in process.opens}, {40}, "deep: how deep it was is known")
        if mode == "many":
            tap.same(len(process.notes), 5000, "many: what had ended is recorded")
        if mode == "left":
            tap.same([n.name for n in process.notes], ["left", "left too"], "left: what was left is recorded")


tap.main(forks, threads, killed)
