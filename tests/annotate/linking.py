#!/usr/bin/python3
"""sonde.h needs no link flag: in several files, in libraries, in static programs."""
import os
import subprocess
import tempfile

import tap


def several_objects():
    tap.as_printed("two files and two libraries", tap.path("link"), tap.path("link-plugin.so"))


def needs_nothing():
    out = subprocess.run(["readelf", "-d", tap.path("notes")], stdout=subprocess.PIPE, universal_newlines=True).stdout
    needed = [line for line in out.splitlines() if "NEEDED" in line]
    tap.ok(not any("sonde" in line for line in needed), "a program that annotates needs no library of ours", out)


def static_program():
    if not os.path.exists(tap.path("notes-static")):
        return tap.skip("a static program runs as it is", "it was not built: there is no static libc")
    for is_traced in (False, True):
        run = tap.Run(tap.path("notes-static"), is_traced=False, env={"LD_PRELOAD": tap.LIBSONDE} if is_traced else None)
        tap.same(run.status, 0, "a static program runs as it is" + (", libsonde preloaded or not" if is_traced else ""))


def linked_directly():
    """A program linked with libsonde that nobody records: off."""
    run = tap.Run(tap.path("notes"), is_traced=False, env={"LD_PRELOAD": tap.LIBSONDE})
    tap.same(run.status, 0, "libsonde without a ring records nothing")


def sanitizers():
    if not os.path.exists(tap.path("notes-asan")):
        return tap.skip("under AddressSanitizer", "it was not built")
    for program in ("notes-asan", "jumps-asan"):
        tap.as_printed(program, tap.path(program), env={"ASAN_OPTIONS": "detect_leaks=0"})


def compilers():
    """Every language standard, without a warning."""
    include = os.path.join(tap.STAGE, "include")
    folder = os.path.dirname(os.path.abspath(__file__))
    flags = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -D_GNU_SOURCE".split() + ["-I", include]
    languages = {"notes.c": (("gcc", "clang"), ("c99", "c11", "c17", "gnu17")),
                 "notes-cpp.cpp": (("g++", "clang++"), ("c++11", "c++14", "c++17", "c++20"))}
    with tempfile.TemporaryDirectory() as out:
        for source, (compilers_of, standards) in languages.items():
            for compiler in compilers_of:
                for standard in standards:
                    for level in ("-O0", "-O2"):
                        name = "%s -std=%s %s" % (compiler, standard, level)
                        command = [compiler, "-std=" + standard, level, os.path.join(folder, source), "-c", "-o",
                                   os.path.join(out, "o")]
                        try:
                            done = subprocess.run(command + flags, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                        except FileNotFoundError:
                            tap.skip(name, "there is no " + compiler)
                            continue
                        tap.ok(done.returncode == 0, name + " has nothing to say", done.stdout.decode())


tap.main(several_objects, needs_nothing, static_program, linked_directly, sanitizers, compilers)
