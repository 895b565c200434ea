"""runs: a Python program under dftracer.python, and what it left."""
import os
import shutil
import tempfile

import dft

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
PYTHON = "/usr/bin/python3"


class Run:
    def __init__(self, program, *arguments, mode="function", **more):
        self.scratch = os.path.realpath(tempfile.mkdtemp())
        os.mkdir(os.path.join(self.scratch, "data"))
        self.prefix = os.path.join(self.scratch, "trace")
        self.done = dft.run([PYTHON, os.path.join(PROGRAMS, program), *arguments], mode, self.prefix,
                            **{"PYTHONPATH": os.path.join(dft.LAYER, "python"), "DATA_ROOT": self.scratch, "PYTHONDONTWRITEBYTECODE": "1", **more})
        self.problems = dft.differ("status", self.done.returncode, 0)
        if self.done.stderr:
            self.problems.append(f"stderr {self.done.stderr.decode(errors='replace')[-400:]!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch)

    def events(self, *categories):
        return [e for e in dft.events(self.prefix) if not categories or e["cat"] in categories]

    def want(self, what, have, want):
        self.problems += dft.differ(what, have, want)
