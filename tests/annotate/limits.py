#!/usr/bin/python3
"""What is too much is dropped and counted, and the program goes on."""
import tap


def names():
    """More names than are kept: the rest share one."""
    run = tap.Run(tap.path("names"), timeout=120)
    tap.same(run.status, 0, "a program with 70 000 names exits with 0")
    process = run.ring.only()
    spans = [n.name for n in process.notes]
    tap.same(len(spans), 70000, "each span is recorded")
    tap.same(len(set(spans)), 65536 + 1, "as many names as are kept, and one for the others")
    tap.same(spans.count("(more names)"), 70000 - 65536, "which all others have")
    tap.same([n for n in spans[:65536] if n == "(more names)"], [], "the first ones have their own")
    tap.same(run.ring.broken, 0, "every record is whole")


def room():
    """A ring that may not grow: what it cannot hold is counted to the last one."""
    run = tap.Run(tap.path("room"), control={24: ("<I", 1 << 11), 48: ("<Q", 400 << 10)})
    process = run.ring.only()
    tap.same(run.status, 0, "a program whose ring is full exits with 0")
    tap.ok(process.dropped > 0, "some were dropped")
    tap.same(len(process.notes) + process.dropped, int(run.out), "recorded and dropped are all there were")
    tap.same({n.name: n.depth for n in process.notes}, {"work": 2, "inner": 3}, "depths stay right")
    tap.same(process.board.metrics["rounds", 1].value, 20000.0, "metrics need no room in the ring")


def no_room_at_all():
    run = tap.Run(tap.path("notes"), control={40: ("<Q", 1)})
    tap.same((run.status, run.lines()), (0, []), "a program that gets no ring runs as it is")


tap.main(names, room, no_room_at_all)
