#!/usr/bin/python3
"""Programs built with -finstrument-functions: each call, recursion and longjmp included."""
import os
import subprocess

import ring
import tap


def symbols(program):
    """Address -> name of the functions in a program or library."""
    out = subprocess.run(["nm", program], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {int(row[0], 16): row[2] for row in rows if len(row) == 3 and row[1] in "tTwW"}


def named(process):
    """The process's calls with the names that a reader finds by its MODULE records."""
    tables = {path: symbols(path) for _, _, path in process.modules}
    for note in process.notes:
        for bias, end, path in process.modules:
            if note.kind == "func" and bias <= note.id < end:
                note.name = tables[path].get(note.id - bias, hex(note.id))
    return process.notes


def calls():
    for program in ("functions-O0", "functions-O2", "functions-clang"):
        if not os.path.exists(tap.path(program)):
            tap.skip(program, "it was not built: the compiler is missing")
            continue
        run = tap.Run(tap.path(program))
        process = run.ring.only()
        got = [ring.line(n) for n in named(process)]
        tap.same(run.status, 0, program + ": exits with 0")
        tap.same(got, run.out.splitlines(), program + ": each call is there, with its depth")
        tap.same((run.ring.broken, process.opens, process.dropped), (0, [], 0), program + ": every record is whole")
        tap.same(len(process.modules), 1, program + ": the module is told once")


def nested(notes):
    """Each call lies inside the one before it that is less deep."""
    stack = []
    for n in notes:
        while stack and stack[-1].depth >= n.depth:
            stack.pop()
        if stack and not stack[-1].ticks <= n.ticks <= n.ticks + n.dur <= stack[-1].ticks + stack[-1].dur:
            return False
        stack.append(n)
    return True


def times():
    run = tap.Run(tap.path("functions-O2"))
    main_thread = [n for n in run.ring.notes("func") if n.tid == n.pid]
    tap.ok(nested(main_thread), "each call's time lies within its caller's")


def libraries():
    """Code of a library that is loaded later gets its module too; in a forked child all are told again."""
    run = tap.Run(tap.path("functions-later"), tap.path("functions-plugin.so"))
    tap.same(run.status, 0, "a program that loads a library exits with 0") or print("# " + run.err)
    parent, child = sorted((p for p in run.ring.processes.values() if p.notes), key=lambda p: p.number)
    tap.same([n.name for n in named(parent)], ["main", "plugin", "plugin_inner"], "calls of the parent")
    tap.same([n.name for n in named(child)], ["in_child", "plugin", "plugin_inner"], "calls of the child")
    tap.same([n.depth for n in child.notes], [0, 1, 2], "a forked child begins at depth 0")


def deep():
    run = tap.Run(tap.path("functions-deep"), "20000")
    tap.same(run.status, 0, "deep recursion ends well")
    tap.same([n.depth for n in run.ring.notes("func")], list(range(20001)), "each of 20 000 calls is recorded with its depth")
    run = tap.Run(tap.path("functions-deep"), "40000", control={24: ("<I", 1 << 12)})
    notes = run.ring.notes("func")
    tap.same((run.status, [n.depth for n in notes]), (0, list(range(len(notes)))), "so are the outer ones of too many")
    tap.same(len(notes) + run.ring.only().dropped, 40001, "and the others are counted")
    tap.ok(nested(notes), "each lies within its caller")


tap.main(calls, times, libraries, deep)
