#!/usr/bin/python3
"""Metrics and knobs live on the board, where others read and change them."""
import glob
import os
import struct

import ring
import tap


def ask(process, path, name, value):
    """Ask for a knob's value as a controller would: what is wanted, then the generation."""
    with open(path, "r+b") as file:
        board = ring.Board(file.read()[ring.HEAD_BYTES:])
        at = board.knob_slots[name]
        file.seek(at + 80)
        file.write(struct.pack("<d" if isinstance(value, float) else "<q", value))
        file.flush()
        file.seek(at + 68)
        file.write(struct.pack("<I", board.knobs[name].generation + 1))
    process.stdin.write(b"\n")
    process.stdin.flush()
    return process.stdout.readline().split()


answers = {}


def outside(process, directory):
    answers["first"] = process.stdout.readline().split()
    (path,) = glob.glob(os.path.join(directory, "*.board"))
    for name, value in (("plain", -2**63), ("threads", 64), ("threads", 65), ("threads", 1), ("rate", 0.25), ("rate", float("nan")),
                        ("rate", 1.5), ("layout", 2), ("layout", 3), ("layout", -1)):
        answers[name, str(value)] = ask(process, path, name, value)


def board():
    run = tap.Run(tap.path("board"), during=outside)
    tap.same(run.status, 0, "the program exits with 0")
    metrics, knobs = run.ring.only().board.metrics, run.ring.only().board.knobs
    added, last, seen, loop = metrics["added", 1], metrics["set", 2], metrics["seen", 3], metrics["loop", 4]
    tap.same((added.value, added.count, added.rejected), (5.0, 10, 1), "a counter adds and rejects infinities")
    tap.same((last.value, last.count, last.rejected), (-4.0, 2, 2), "a gauge keeps the last; NaN and other kinds are rejected")
    h = seen.histogram
    tap.same((seen.count, seen.rejected, h.count, h.low, h.high, h.sum), (6, 1, 6, 0.0, 4.0, 7.75), "a histogram's sums")
    tap.same({i: n for i, n in enumerate(h.buckets) if n}, {0: 1, 112: 1, 116: 1, 120: 1, 124: 1, 128: 1},
             "a histogram's buckets: four an octave from 2^-30, each with its upper bound")
    tap.same((loop.count, loop.index, loop.value, loop.rejected, loop.histogram.count), (5, 14, 2.0, 1, 4),
             "a step's last index and value, and the times between")
    paced = metrics["paced", 5]
    tap.same((paced.value, paced.count, paced.rejected), (8.0, 4, 3), "a rate adds; NaN, less than none and other kinds are rejected")
    noted = [(n, s) for n, s in zip(paced.histogram.buckets[::2], paced.histogram.buckets[1::2]) if n]
    tap.same((min(noted)[1], max(noted)[0]), (0, paced.histogram.count), "and notes the sum at the beginning of a period, at first none")
    tap.same((paced.first_value, 0 < paced.first_ticks <= paced.ticks, added.first_value), (2.0, True, 0.5),
             "what counts knows when it began, and with what")
    timed, inner = metrics["timed_seconds", 3], metrics["inner_seconds", 3]
    tap.same((timed.count, timed.histogram.low >= 0.001, inner.count, inner.histogram.low >= 0), (3, True, 1, True),
             "a timer observes the seconds of its block, however that is left")
    tap.same(len(metrics), 256, "as many metrics as there are slots")
    tap.same(run.ring.only().dropped, 300 + 7 - 256, "what found no slot is counted")
    tap.same(sorted(knobs), ["layout", "plain", "rate", "threads"], "the knobs")
    tap.same((knobs["threads"].low, knobs["threads"].high, knobs["threads"].fallback, knobs["threads"].value),
             (1, 64, 4, 1), "a knob's bounds, default and value")
    tap.same((knobs["layout"].choices, knobs["layout"].high), ("rows|columns|tiles", 2), "a knob's choices")
    tap.same([knobs[name].refused for name in ("threads", "rate", "layout")], [1, 2, 2], "what was refused is counted")


def knobs():
    tap.same(answers["first"], [b"-7", b"4", b"0.5", b"1"], "a knob's default until told otherwise")
    expected = {("plain", str(-2**63)): (0, b"%d" % -2**63), ("threads", "64"): (1, b"64"), ("threads", "65"): (1, b"64"),
                ("threads", "1"): (1, b"1"), ("rate", "0.25"): (2, b"0.25"), ("rate", "nan"): (2, b"0.25"),
                ("rate", "1.5"): (2, b"0.25"), ("layout", "2"): (3, b"2"), ("layout", "3"): (3, b"2"), ("layout", "-1"): (3, b"2")}
    for asked, (column, value) in expected.items():
        tap.same(answers[asked][column], value, "%s asked to be %s" % asked)


def without_tracer():
    run = tap.Run(tap.path("board"), is_traced=False)
    tap.same((run.status, run.out.split()), (0, ["-7", "4", "0.5", "1"]), "without libsonde a knob is its default")


tap.main(board, knobs, without_tracer)
