"""Noise for a benchmark of benchmarks: what disturbs, made and taken away again. Used as a context; `run` starts what is disturbed.

symmetric   a process on every CPU that does nothing but compute
one-sided   one on the first CPU
quota       the tools run in a control group whose share of a CPU is toggled between a third and all, at random moments
none        nothing of ours
"""
import os
import random
import signal
import subprocess
import sys
import time

NAMES = ["symmetric", "one-sided", "quota"]
V1, V2 = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"
PERIOD_US, QUOTA_US = 100000, 33000


def spin(cpu):
    """A process that does nothing but compute, on one CPU."""
    return subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-S", "-c", "while True: pass"])


class Quota:
    """A control group of version 1 or 2 for the CPU, and the limit that is toggled in it. OSError: it cannot be had."""

    def __init__(self):
        name = f"sonde-bench-{os.getpid()}"
        is_v1 = os.path.exists(V1 + "/cpu.cfs_quota_us") or os.path.exists(V1 + "/cgroup.procs")
        self.dir = f"{V1 if is_v1 else V2}/{name}"
        os.mkdir(self.dir)
        self.file = self.dir + ("/cpu.cfs_quota_us" if is_v1 else "/cpu.max")
        self.weigh("/cpu.shares" if is_v1 else "/cpu.weight", "262144" if is_v1 else "10000")
        self.words = ("-1", str(QUOTA_US)) if is_v1 else ("max", f"{QUOTA_US} {PERIOD_US}")
        self.set(0)

    def weigh(self, file, most):
        """Others shall not disturb beside the quota."""
        with open(self.dir + file, "w", encoding="ascii") as text:
            text.write(most)

    def set(self, which):
        with open(self.file, "w", encoding="ascii") as file:
            file.write(self.words[which])

    def join(self):
        with open(self.dir + "/cgroup.procs", "w", encoding="ascii") as file:
            file.write("0")

    def remove(self):
        self.set(0)
        for _ in range(100):
            try:
                os.rmdir(self.dir)
                return
            except OSError:
                time.sleep(0.05)


class Noise:
    def __init__(self, name):
        cpus = sorted(os.sched_getaffinity(0))
        self.hogs, self.quota, self.toggler = [], None, 0
        if name == "symmetric":
            self.hogs = [spin(cpu) for cpu in cpus]
        elif name == "one-sided":
            self.hogs = [spin(cpus[0])]
        elif name == "quota":
            self.quota = Quota()
            self.toggler = os.fork()
            if self.toggler == 0:
                self.toggle()

    def toggle(self):
        which = 0
        while os.getppid() > 1:
            which = 1 - which
            self.quota.set(which)
            time.sleep(random.uniform(0.3, 1.2))
        os._exit(0)

    def run(self, argv, **how):
        return subprocess.run(argv, preexec_fn=self.quota.join if self.quota else None, check=False, **how)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.toggler:
            os.kill(self.toggler, signal.SIGKILL)
            os.waitpid(self.toggler, 0)
        if self.quota:
            self.quota.remove()
        for hog in self.hogs:
            hog.kill()
            hog.wait()
