#!/usr/bin/python3
"""Spans, instants, counters, steps, metadata and arguments are recorded as they were given."""
import tap


def c_program():
    run = tap.as_printed("C", tap.path("notes"))
    tap.same(run.ring.only().filtered, 3, "counters that are not numbers are counted as left out")
    tap.same(run.ring.only().opens, [], "no span is left open")


def cpp_program():
    tap.as_printed("C++", tap.path("notes-cpp"))


def without_tracer():
    for program in ("notes", "notes-cpp"):
        run = tap.Run(tap.path(program), is_traced=False)
        tap.same(run.status, 0, program + " runs without libsonde")


def switched_off():
    # control.categories without the bit of annotations: nothing of them is recorded
    run = tap.Run(tap.path("notes"), control={24: ("<I", 0x1FFF & ~(1 << 11))})
    tap.same((run.status, run.lines()), (0, []), "annotations can be switched off")


tap.main(c_program, cpp_program, without_tracer, switched_off)
