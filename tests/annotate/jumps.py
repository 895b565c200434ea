#!/usr/bin/python3
"""Spans left by longjmp are recorded, and later ones get their right depth."""
import tap


def jumps():
    for program in ("jumps", "jumps-O0"):
        run = tap.as_printed(program, tap.path(program))
        tap.same(run.ring.only().opens, [], program + ": no span is left open")


def signals():
    """A timer's handler annotates while the program does: nothing is lost or torn."""
    run = tap.Run(tap.path("signals"))
    tap.same(run.status, 0, "a program that annotates in handlers ends well")
    begun = dict(line.split() for line in run.out.splitlines())
    notes = run.ring.notes("span")
    for name in ("outer", "inner", "handler", "nested"):
        tap.same(len([n for n in notes if n.name == name]), int(begun[name]), "each span '%s' is there" % name)
    tap.same({n.depth for n in notes if n.name == "outer"}, {0}, "depth of the outer spans")
    tap.same({n.depth for n in notes if n.name == "inner"}, {1}, "depth of the inner spans")
    tap.ok({n.depth for n in notes if n.name == "handler"} <= {0, 1, 2}, "depth of the handler's spans")
    tap.same((run.ring.broken, run.ring.pending, run.ring.only().opens), (0, 0, []), "every record is whole")


tap.main(jumps, signals)
