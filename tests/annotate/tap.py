"""TAP for tests of annotations, and programs run with libsonde in them.

Tests get SONDE_STAGE (the staged tree) and ANNOTATE_DIR (the test programs).
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

import ring

STAGE = os.environ["SONDE_STAGE"]
PROGRAMS = os.environ["ANNOTATE_DIR"]
LIBSONDE = os.path.join(STAGE, "lib", "libsonde.so")
PACKAGE = os.path.join(STAGE, "lib", "sonde", "python")
PYTHON = "/usr/bin/python3"

count, failed = 0, 0


def ok(is_so, name, *details):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if is_so else "not ", count, name), flush=True)
    if not is_so:
        failed += 1
        for detail in details:
            for text in str(detail).splitlines()[:60]:
                print("# " + text[:400], flush=True)
    return is_so


def same(got, want, name):
    return ok(got == want, name, "got:  %r" % (got,), "want: %r" % (want,))


def skip(name, reason):
    """What is not built for want of a package; a failure where the machine has to offer it."""
    global count
    if os.environ.get("CI") == "true":
        return ok(False, name, "needs what this machine must offer: " + reason)
    count += 1
    print("ok %d - %s # SKIP %s" % (count, name, reason), flush=True)


def path(program):
    return os.path.join(PROGRAMS, program)


class Run:
    """A command run with libsonde in it: its output, and `ring` with what it left."""

    def __init__(self, *argv, is_traced=True, control=None, env=None, during=None, timeout=60):
        self.dir = tempfile.mkdtemp(prefix="sonde-annotate.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        os.rmdir(self.dir)
        whole = dict(os.environ, PYTHONPATH=PACKAGE, **(env or {}))
        if is_traced:
            whole.update(LD_PRELOAD=LIBSONDE, SONDE_RING=self.dir)
        try:
            if control:
                self.prepare(control)
            self.execute(list(argv), whole, during, timeout)
            self.ring = ring.Ring(self.dir) if is_traced else None
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)

    def prepare(self, control):
        """A ring directory as a recorder would make it, changed by `control` (offset -> (format, value))."""
        subprocess.run(["/bin/true"], env=dict(os.environ, LD_PRELOAD=LIBSONDE, SONDE_RING=self.dir), check=True)
        for name in os.listdir(self.dir):
            if name != "control":
                os.unlink(os.path.join(self.dir, name))
        with open(os.path.join(self.dir, "control"), "r+b") as file:
            data = bytearray(file.read())
            struct.pack_into("<Q", data, 104, 0)  # run_bytes
            for offset, (form, value) in control.items():
                struct.pack_into(form, data, offset, value)
            file.seek(0)
            file.write(data)

    def execute(self, argv, env, during, timeout):
        with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            if during:
                during(p, self.dir)
            out, err = p.communicate(timeout=timeout)
        self.status, self.out, self.err = p.returncode, out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "replace")

    def lines(self):
        return [ring.line(n) for n in self.ring.notes(*ring.NOTES)]


def as_printed(name, *argv, **options):
    """The program prints what its ring must hold; compare the two."""
    run = Run(*argv, **options)
    same(run.status, 0, name + ": exits with 0") or print("# " + run.err)
    want, got = run.out.splitlines(), run.lines()
    different = [(g, w) for g, w in zip(got + [None] * len(want), want + [None] * len(got)) if g != w and (g or w)]
    ok(got == want, "%s: the ring holds what the program did (%d lines)" % (name, len(want)),
       *("got:  %s\nwant: %s" % pair for pair in different[:5]))
    same((run.ring.broken, run.ring.pending), (0, 0), name + ": every record is whole")
    return run


def main(*tests):
    for test in tests:
        try:
            test()
        except Exception:
            ok(False, test.__name__ + " runs to its end", traceback.format_exc())
    print("1..%d" % count)
    sys.exit(1 if failed else 0)
