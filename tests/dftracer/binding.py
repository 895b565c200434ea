#!/usr/bin/python3
"""FUNCTION mode: which calls binding reaches, and that the program does not notice."""
import os
import subprocess
import sys
import tempfile

import dft
import tap

BINDING, LAZY, NOW = os.environ["BINDING"], os.environ["PLUGIN_LAZY"], os.environ["PLUGIN_NOW"]
FLAGS = {"lazily bound": "-Wl,-z,lazy,-z,norelro", "read-only tables": "-Wl,-z,now,-z,relro", "not position-independent": "-no-pie"}


def run(*arguments, mode="function", program=BINDING):
    scratch = tempfile.TemporaryDirectory()
    prefix = os.path.join(scratch.name, "trace")
    return scratch, prefix, dft.run([program, *(a.replace("@", scratch.name) for a in arguments)], mode, prefix)


def plugins():
    scratch, prefix, done = run("plugin", "@/out", LAZY, NOW, LAZY)
    problems = dft.differ("status", done.returncode, 0)
    have = dft.histogram(dft.events(prefix))
    problems += dft.differ("writes", have.get("write"), 15) + dft.differ("opens", have.get("open"), 3)
    del scratch
    return problems


def same(*arguments):
    """The program says the same with tracing and without."""
    _, _, bare = run(*arguments, mode="off")
    _, prefix, done = run(*arguments)
    return dft.differ("status", done.returncode, bare.returncode) + dft.differ("output", done.stdout, bare.stdout)


def pointer():
    """A pointer to write in constant data is bound like any call."""
    scratch, prefix, done = run("pointer", "@/out")
    problems = dft.differ("status", done.returncode, 0)
    problems += dft.differ("writes", dft.histogram(dft.events(prefix)).get("write"), 2)
    del scratch
    return problems


def linked(flags):
    """The program itself, linked in another way."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "accept.c")
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "program")
        built = subprocess.run(["cc", "-w", "-o", program, source, "-I" + os.path.join(dft.LAYER, "include"), flags,
                                "-L" + os.path.join(dft.LAYER, "lib"), "-ldftracer"], stderr=subprocess.PIPE, check=False,
                               timeout=dft.LIMIT)
        if built.returncode:
            return [built.stderr.decode()[:400]]
        os.mkdir(os.path.join(scratch, "data"))
        prefix = os.path.join(scratch, "trace")
        done = dft.run([program, "-", os.path.join(scratch, "data")], "function", prefix)
        have = dft.histogram(dft.events(prefix))
        return dft.differ("status", done.returncode, 0) + dft.differ(
            "calls", [have.get(n) for n in ("fopen", "fwrite", "fclose", "fork", "execl")], [1, 1, 1, 2, 1])


def main():
    tap.check("objects that are opened later, closed and opened again", plugins())
    tap.check("the program's descriptors are its own", same("fds", "@/next"))
    tap.check("a program of one thread stays one to libc", same("threads"))
    tap.check("pointers to functions in constant data", pointer())
    for name, flags in FLAGS.items():
        tap.check(f"a program that is {name}", linked(flags))
    return tap.done()


sys.exit(main())
