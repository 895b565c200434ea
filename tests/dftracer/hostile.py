#!/usr/bin/python3
"""What is left of killed processes, when somebody or something has been at it: rings, states and journals."""
import glob
import os
import shutil
import struct
import signal
import subprocess
import sys
import tempfile
import time

import dft
import tap

VICTIM = os.environ["VICTIM"]
NOBODY = 65534


class Killed:
    """A process was killed: its log is not complete, its ring is there."""

    def __init__(self, **more):
        self.scratch = os.path.realpath(tempfile.mkdtemp())
        os.chmod(self.scratch, 0o755)
        self.prefix = os.path.join(self.scratch, "trace")
        done = dft.run([VICTIM, "kill", os.path.join(self.scratch, "out")], "preload", self.prefix, **more)
        self.problems = dft.differ("status", done.returncode, -9) + dft.differ("rings", len(dft.rings(self.prefix)), 1)
        self.announced = sum(int(line.split()[1]) for line in done.stdout.decode().splitlines())
        self.link = dft.rings(self.prefix)[0]
        self.ring = os.path.realpath(self.link)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.ring, ignore_errors=True)
        shutil.rmtree(self.scratch)

    def want(self, what, have, want):
        self.problems += dft.differ(what, have, want)

    def change(self, name, at, data):
        with open(os.path.join(self.ring, name), "r+b") as file:
            file.seek(at)
            file.write(data)

    def writes(self):
        return sum(e["name"] == "write" and "fhash" in e["args"] for e in dft.events(self.prefix))


def recovered(**more):
    with Killed(**more) as k:
        k.want("status", dft.recover(k.scratch).returncode, 0)
        k.want("writes", k.writes(), k.announced)
        k.want("end", dft.records(k.prefix)[-1]["name"], "end")
        once = dft.text(dft.logs(k.prefix)[0])
        log = dft.logs(k.prefix)[0]
        k.want("again", (dft.recover(log).returncode, dft.text(log) == once), (0, True))
        k.want("left over", (os.path.exists(k.ring), dft.rings(k.prefix)), (False, []))
        return k.problems


def interrupted():
    """The recovery itself is killed, at one moment after another: the next one goes on, and nothing is there twice."""
    problems = []
    for round_number in range(12):
        with Killed() as k:
            command = subprocess.Popen([tap.SONDE, "recover", k.scratch], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.001 * round_number)
            command.send_signal(signal.SIGKILL)
            command.wait()
            again = dft.recover(dft.logs(k.prefix)[0])
            k.want("status", (again.returncode, again.stderr), (0, b""))
            k.want("writes", k.writes(), k.announced)
            k.want("ends", sum(r["name"] == "end" for r in dft.records(k.prefix)), 1)
            problems += k.problems
    return problems[:4]


def damaged(name, at, data):
    """It is refused in one sentence, or what can be had is written; the log stays readable."""
    with Killed() as k:
        k.change(name, at, data)
        done = dft.recover(k.scratch)
        k.want("status", done.returncode in (0, 1), True)
        if done.returncode:
            k.want("one sentence", done.stderr.decode().startswith("sonde: "), True)
        for path in dft.logs(k.prefix):
            for number, line in enumerate(dft.text(path).split(b"\n")):
                if line not in (b"", b"[", b"]") and not line.endswith(b"}"):
                    k.problems.append(f"line {number} of {path}: {line[:100]!r}")
        return k.problems


def of_another():
    """A ring of an ordinary user lies beside a log of root: root finishes it with the user's rights."""
    with Killed() as k:
        log = dft.logs(k.prefix)[0]
        before = dft.text(log)
        os.chmod(log, 0o644)
        for path in [k.ring, *glob.glob(os.path.join(k.ring, "*"))]:
            os.chown(path, NOBODY, NOBODY)
        done = dft.recover(k.scratch)
        k.want("status", done.returncode, 1)
        k.want("what it says", "Permission denied" in done.stderr.decode(), True)
        k.want("nothing written", dft.text(log) == before, True)
        return k.problems


def place_of_log(k):
    """Where the state of a ring has the path of its log."""
    with open(os.path.join(k.ring, "state"), "rb") as file:
        return file.read().index(dft.logs(k.prefix)[0].encode())


def names_another_log(name):
    """A ring names a log that it does not lie beside: that file stays as it is."""
    with Killed() as k:
        target = os.path.join(k.scratch, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write("thesis")
        k.change("state", place_of_log(k), target.encode() + b"\0")
        done = dft.recover(k.scratch)
        k.want("status", done.returncode, 1)
        with open(target, encoding="utf-8") as file:
            k.want("the file", file.read(), "thesis")
        k.want("the ring", os.path.exists(os.path.join(k.ring, "control")), True)
        return k.problems


def of_another_build():
    """The numbers of its calls are rows of another table: it is refused and stays."""
    with Killed() as k:
        with open(os.path.join(k.ring, "state"), "rb") as file:
            ours = file.read(24)[16:]
        k.change("state", 16, struct.pack("<Q", 0x0123456789abcdef))
        done = dft.recover(k.scratch)
        k.want("status", done.returncode, 1)
        for word in ("0123456789abcdef", f"{struct.unpack('<Q', ours)[0]:016x}", "hint: "):
            k.want(word, word in done.stderr.decode(), True)
        k.change("state", 16, ours)
        k.want("status then", dft.recover(k.scratch).returncode, 0)
        k.want("writes", k.writes(), k.announced)
        return k.problems


CHUNK = 4096  # of the file 1.0: where the first chunk starts
FIRST = 64 + 32 * 16  # where its first record starts


def hole_at_start():
    """A thread was killed between a reservation and its record, the first of its chunk: the others keep their thread."""
    with Killed() as k:
        with open(os.path.join(k.ring, "1.0"), "rb") as file:
            file.seek(CHUNK + FIRST)
            words = struct.unpack("<H", file.read(2))[0]
        k.change("1.0", CHUNK + FIRST, bytes(8 * words))
        k.change("1.0", CHUNK + 40, bytes(24))  # as if nothing had been read
        k.want("status", dft.recover(k.scratch).returncode, 0)
        k.want("pids", {e["pid"] > 0 and e["tid"] > 0 for e in dft.events(k.prefix)}, {True})
        return k.problems


def beyond_the_tail():
    """What lies behind the last reservation is not a record."""
    with Killed() as k:
        with open(os.path.join(k.ring, "1.0"), "rb") as file:
            file.seek(CHUNK)
            tail = struct.unpack("<Q", file.read(8))[0]
            chunk = os.pread(file.fileno(), tail, CHUNK)
        at = FIRST
        while at < tail:  # the last call
            words, kind, _ = struct.unpack_from("<HBB", chunk, at)
            if kind == 1:
                last = chunk[at:at + 8 * words]
            at += 8 * words
        k.want("the tail", at == tail and tail + 64 + len(last) < 32768, True)
        fake = last[:8] + struct.pack("<Q", 1) + last[16:]  # a call of long ago
        k.change("1.0", CHUNK + tail + 64, fake)
        k.want("status", dft.recover(k.scratch).returncode, 0)
        times = sorted(e["ts"] for e in dft.events(k.prefix))
        k.want("a call of another time", times[-1] - times[0] < 60e6, True)
        return k.problems


def log_is_a_link():
    with Killed() as k:
        target = os.path.join(k.scratch, "thesis")
        log = dft.logs(k.prefix)[0]
        os.rename(log, target)
        os.symlink(target, log)
        with open(target, "rb") as file:
            before = file.read()
        k.want("status", dft.recover(k.scratch).returncode, 1)
        with open(target, "rb") as file:
            k.want("the file", file.read() == before, True)
        return k.problems


def leads_elsewhere(with_state):
    """A link to a directory of the user that holds a copy of a real control page: nothing in it is removed."""
    with Killed() as k:
        victim = os.path.join(k.scratch, "sonde-dftracer-1-abc")
        os.mkdir(victim)
        shutil.copy(os.path.join(k.ring, "control"), victim)
        for name in ["thesis", "text", "names", "strings", "files", "1.0"]:
            with open(os.path.join(victim, name), "w", encoding="utf-8") as file:
                file.write("")
        if with_state:
            shutil.copy(os.path.join(k.ring, "state"), victim)
        before = sorted(os.listdir(victim))
        os.unlink(k.link)
        os.symlink(victim, k.link)
        dft.recover(k.scratch)
        k.want("files", sorted(os.listdir(victim)), before)
        return k.problems


def foreign_file():
    """A file that is not a part of a ring stays, and its directory with it."""
    with Killed() as k:
        os.mkdir(os.path.join(k.ring, "below"))
        for name in ["thesis", "below/thesis"]:
            with open(os.path.join(k.ring, name), "w", encoding="utf-8") as file:
                file.write("thesis")
        k.want("status", dft.recover(k.scratch).returncode, 0)
        k.want("writes", k.writes(), k.announced)
        k.want("files", sorted(os.listdir(k.ring)), ["below", "thesis"])
        k.want("links", dft.rings(k.prefix), [])
        return k.problems


def main():
    tap.check("after SIGKILL `sonde recover` completes the log", recovered())
    tap.check("compressed", recovered(DFTRACER_TRACE_COMPRESSION="1"))
    tap.check("generation E", recovered(DFTRACER_FORMAT="E"))
    tap.check("a recovery that is killed", interrupted())
    for name, at, data in (("state", 0, b"\xff" * 8), ("state", 8, b"\xff" * 4), ("control", 0, b"\0" * 8), ("names", 0, b"\xff" * 8),
                           ("names", 64, b"\xff" * 64), ("1.0", 0, b"\0" * 64), ("1.0", 4096, b"\xff" * 512), ("1.0", 4200, b"\x01" * 4096)):
        tap.check(f"{len(data)} bytes of {name} at {at} are nonsense", damaged(name, at, data))
    tap.check("a ring that names a log in another directory", names_another_log("elsewhere/thesis"))
    tap.check("a ring that names another file of its directory", names_another_log("thesis"))
    tap.check("a ring of another build of libdftracer", of_another_build())
    tap.check("a first record that was not written", hole_at_start())
    tap.check("bytes behind the last record", beyond_the_tail())
    tap.check("a log that is a link", log_is_a_link())
    tap.check("a link to a directory of the user", leads_elsewhere(False))
    tap.check("a link to a directory of the user, with a state", leads_elsewhere(True))
    tap.check("a ring with a foreign file", foreign_file())
    if os.geteuid() == 0:
        tap.check("a ring of another user", of_another())
    return tap.done()


sys.exit(main())
