#!/usr/bin/python3
"""On a terminal a recorded program behaves as it does alone: keys, signals, job control, window size, status.

Each dialogue is held twice on a pseudo-terminal of its own, alone and under `sonde record`: "@ " at the
start of a command is replaced by the recorder's command line, or by nothing, and so is $P typed to a shell.
"""
import dataclasses
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
import tap

LIMIT_SECONDS = 120
SIZE = (31, 97)
SHELL = "/bin/bash --norc --noprofile -i"
ENVIRONMENT = {"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": "prompt> ", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


class Lost(Exception):
    """The program did not say what it should have."""


def set_size(fd, size):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))


def session_members(session):
    """Processes of a session, jobs of its shells included."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == session:
                yield int(pid)
        except ProcessLookupError:
            pass


class Terminal:
    """A program on a terminal of its own, in a session of its own."""

    def __init__(self, argv, cwd, env):
        self.text = b""
        self.status = None
        self.pid, self.master = pty.fork()
        if not self.pid:
            self._become(argv, cwd, env)

    @staticmethod
    def _become(argv, cwd, env):
        try:
            os.chdir(cwd)
            # What runs in the background of a script, or was started by Python, has some of these ignored.
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            set_size(0, SIZE)
            os.execve(argv[0], argv, env)
        finally:
            os._exit(99)

    def send(self, text):
        os.write(self.master, text)

    def modes(self):
        return termios.tcgetattr(self.master)[:4]

    def read_some(self, seconds):
        """False at the end of the output."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.text += data
        return bool(data)

    def expect(self, pattern):
        """Wait until the output matches; what came before is done with."""
        end = time.monotonic() + LIMIT_SECONDS
        while not (found := re.search(pattern, self.text)):
            if time.monotonic() > end or not self.read_some(0.2):
                raise Lost(f"no {pattern!r} in {self.text[-400:]!r}")
        self.text = self.text[found.end():]

    def end(self):
        """The program's exit code, or minus its signal."""
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
            if self.master >= 0:
                self.read_some(0.05)
            else:
                time.sleep(0.05)
        raise Lost(f"it has not ended; last output {self.text[-400:]!r}")

    def hang_up(self):
        os.close(self.master)
        self.master = -1

    def close(self):
        for pid in list(session_members(self.pid)):
            os.kill(pid, signal.SIGKILL)
        if self.status is None:
            os.waitpid(self.pid, 0)
        if self.master >= 0:
            self.hang_up()


@dataclasses.dataclass
class Dialogue:
    """A command, what is done with it, and how it ends."""
    name: str
    command: str
    steps: tuple
    status: int


def see(pattern):
    return lambda t: t.expect(pattern)


def type_in(text):
    return lambda t: t.send(text.encode())


def resize(rows, columns):
    return lambda t: set_size(t.master, (rows, columns))


def hang_up(t):
    t.hang_up()


def settle(t):
    """A shell names the job that it brings to the foreground a moment before it does so."""
    t.read_some(0.3)


READY = "$P sh -c 'echo re\"\"ady; exec sleep 99'\n"
PROMPT = see(rb"prompt> ")
CTRL_C, CTRL_D, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x04", "\x1a", "\x1c"
PYTHON = "/usr/bin/python3 -I -c"
# The signal stays blocked but for sigwait, so that it cannot slip in between a line and the wait for the next.
WINDOW = ("import os, signal; window = {signal.SIGWINCH}; signal.pthread_sigmask(signal.SIG_BLOCK, window);"
          "show = lambda: os.write(1, b\"%d %d\\n\" % os.get_terminal_size()); show(); [show() for s in iter(lambda: signal.sigwait(window), None)]")

DIALOGUES = [
    Dialogue("stdin, stdout and stderr are the terminal",
             "@ sh -c 'for f in 0 1 2; do test -t $f && echo tty $f; done; exit 3'",
             (see(rb"tty 0\r\ntty 1\r\ntty 2"),), 3),
    Dialogue("the same terminal, session and foreground group",
             f"@ {PYTHON} 'import os; print(os.ttyname(0) == os.ttyname(2), os.tcgetpgrp(0) == os.getpgrp())'",
             (see(rb"True True"),), 0),
    Dialogue("the window's size", "@ stty size", (see(rb"31 97"),), 0),
    Dialogue("a change of the window's size", f"@ {PYTHON} {shlex.quote(WINDOW)}",
             (see(rb"97 31"), resize(41, 101), see(rb"101 41"), hang_up), -signal.SIGHUP),
    Dialogue("Ctrl-C kills", "@ sh -c 'echo ready; exec sleep 30'", (see(rb"ready"), type_in(CTRL_C)), -signal.SIGINT),
    Dialogue("Ctrl-\\ kills", "@ sh -c 'ulimit -c 0; echo ready; exec sleep 30'", (see(rb"ready"), type_in(CTRL_BACKSLASH)), -signal.SIGQUIT),
    Dialogue("Ctrl-C is handled", "@ bash -c 'trap \"echo caught; exit 7\" INT; echo ready; sleep 30 & wait'",
             (see(rb"ready"), type_in(CTRL_C), see(rb"caught")), 7),
    Dialogue("Ctrl-C is ignored", "@ bash -c 'trap \"\" INT; echo ready; read x; echo got $x; exit 4'",
             (see(rb"ready"), type_in(CTRL_C), type_in("word\n"), see(rb"got word")), 4),
    Dialogue("Ctrl-C arrives once",
             f"@ {PYTHON} 'import signal, time; n = []; signal.signal(2, lambda *a: n.append(1)); print(\"ready\", flush=True); time.sleep(1); print(len(n), \"times\")'",
             (see(rb"ready"), type_in(CTRL_C), see(rb"1 times")), 0),
    Dialogue("end of file", "@ cat", (type_in("hello\n"), see(rb"hello\r\nhello"), type_in(CTRL_D)), 0),
    Dialogue("a line without echo", "@ sh -c 'stty -echo; echo ready; read x; stty echo; echo length ${#x}'",
             (see(rb"ready"), type_in("secret\n"), see(rb"^\r\nlength 6")), 0),
    Dialogue("an interactive shell", f"@ {SHELL}",
             (PROMPT, type_in("echo $((6*7))\n"), see(rb"42\r\n"), PROMPT, type_in("exit 6\n")), 6),
    Dialogue("job control inside", f"@ {SHELL}",
             (PROMPT, type_in("sleep 99 & jobs\n"), see(rb"Running +sleep 99"), PROMPT, type_in("fg\n"), see(rb"sleep 99\r\n"), settle, type_in(CTRL_Z),
              see(rb"Stopped +sleep 99"), PROMPT, type_in("kill -9 %1; sleep 0.3\n"), see(rb"Killed"), PROMPT, type_in("exit 6\n")), 6),
    Dialogue("as a job: Ctrl-Z, bg, fg, Ctrl-C", SHELL,
             (PROMPT, type_in(READY), see(rb"ready"), type_in(CTRL_Z), see(rb"Stopped"), PROMPT, type_in("bg\n"), see(rb"\+ .*&"),
              PROMPT, type_in("fg\n"), see(rb"sleep 99.\r\n"), settle, type_in(CTRL_C), PROMPT, type_in("echo status $?\n"), see(rb"status 130"), PROMPT,
              type_in("exit 6\n")), 6),
    Dialogue("as a job: the program stops itself", SHELL,
             (PROMPT, type_in("$P sh -c 'kill -TSTP $$; echo resumed; exit 9'\n"), see(rb"Stopped"), PROMPT, type_in("fg\n"), see(rb"resumed\r\n"),
              PROMPT, type_in("echo status $?\n"), see(rb"status 9"), PROMPT, type_in("exit 6\n")), 6),
    Dialogue("as a job: reading in the background", SHELL,
             (PROMPT, type_in("$P cat &\n"), PROMPT, type_in("sleep 0.3; jobs\n"), see(rb"Stopped.*cat"), PROMPT, type_in("fg\n"), see(rb"cat\r\n"), settle,
              type_in("line\n"), see(rb"line\r\nline"), type_in(CTRL_D), PROMPT, type_in("exit 6\n")), 6),
    Dialogue("as part of a pipeline", SHELL,
             (PROMPT, type_in("$P yes | head -n 1; echo ${PIPESTATUS[@]}\n"), see(rb"141 0"), PROMPT, type_in("exit 6\n")), 6),
    Dialogue("hang-up", "@ sh -c 'echo ready; exec sleep 30'", (see(rb"ready"), hang_up), -signal.SIGHUP),
]


def hold(dialogue, prefix, scratch):
    """What went wrong in one dialogue, and the terminal's modes at its end."""
    argv = shlex.split(dialogue.command.replace("@ ", prefix, 1))
    terminal = Terminal([shutil.which(argv[0]), *argv[1:]], scratch, ENVIRONMENT | {"P": prefix})
    try:
        for step in dialogue.steps:
            step(terminal)
        status = terminal.end()
        modes = terminal.modes() if terminal.master >= 0 else None
    except Lost as lost:
        return [str(lost)], None
    finally:
        terminal.close()
    return ([] if status == dialogue.status else [f"status {status}, expected {dialogue.status}"]), modes


def judge(dialogue, scratch):
    run = os.path.join(scratch, "run")
    problems, modes = hold(dialogue, "", scratch)
    problems = ["alone: " + p for p in problems]
    recorded, recorded_modes = hold(dialogue, f"{tap.SONDE} record -q -o {run} -- ", scratch)
    problems += ["recorded: " + p for p in recorded]
    if modes != recorded_modes:
        problems.append(f"the terminal's modes were {recorded_modes}, alone {modes}")
    if not recorded and tap.info(run)["state"] != "complete":
        problems.append("the bundle is not complete")
    return problems


def main():
    for dialogue in DIALOGUES:
        if sys.argv[1:] and not any(word in dialogue.name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory(prefix="sonde-terminal.") as scratch:
            tap.check(dialogue.name, judge(dialogue, scratch))
    return tap.done()


sys.exit(main())
