"""straced: what strace says a command and its children did, as objects.

strace runs around the whole of `sonde record`, follows every process into a file of its own (-ff, so no line is
cut in two), and prints with each call the address that it was made from (-i). These addresses tell libsonde's own
system calls from the program's exactly: libsonde makes them itself, and strace shows where libsonde was mapped.
"""
import bisect
import dataclasses
import errno
import glob
import re
import subprocess

# File system calls (%file, %desc), their kin for sockets, and what is needed to follow processes and mappings.
CLASSES = "%file,%desc,%network,%process,munmap,msync"
LINE = re.compile(r"^(\d+)\.(\d{9}) \[([0-9a-f?]+)\] (\w+)\((.*)$")
RESULT = re.compile(r"^(-?\d+|0x[0-9a-f]+|\?)(?: ([A-Z][A-Z0-9_]*))?(?: .*?)?(?: <(\d+)\.(\d{9})>)?$")
LIBRARY_NAME = "/libsonde.so"


@dataclasses.dataclass
class Call:
    """One system call; times are those of the clock of strace (REALTIME)."""
    tid: int
    name: str
    args: list
    ret: int  # None when it did not return
    errnum: int
    start_ns: int
    end_ns: int
    address: int
    text: str


@dataclasses.dataclass
class Task:
    """A thread or process, by tid."""
    tid: int
    calls: list
    parent: int = 0
    is_thread: bool = False
    born_ns: int = 0


def split_arguments(text):
    """The arguments of a call and what follows its closing parenthesis."""
    args, depth, start, i, is_quoted = [], 0, 0, 0, False
    while i < len(text):
        c = text[i]
        if is_quoted:
            i += c == "\\"
            is_quoted = c != '"'
        elif c == '"':
            is_quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}" and depth:
            depth -= 1
        elif c == ")":
            args.append(text[start:i].strip())
            return [a for a in args if a], text[i + 1:]
        elif c == "," and not depth:
            args.append(text[start:i].strip())
            start = i + 1
        i += 1
    return args, ""


def unquote(text):
    """The bytes of a string argument as text, None when it is no string."""
    found = re.match(r'^"((?:[^"\\]|\\.)*)"', text)
    if not found:
        return None
    raw = found.group(1).encode("latin-1", "replace").decode("unicode_escape")
    return raw.encode("latin-1").decode(errors="surrogateescape")


def parse_line(tid, line):
    """A Call, or None for lines of another kind and for calls that the kernel began anew after a signal."""
    found = LINE.match(line)
    if not found:
        return None
    seconds, nanos, address, name, rest = found.groups()
    args, behind = split_arguments(rest)
    result = RESULT.match(behind.strip().removeprefix("= "))
    start = int(seconds) * 10**9 + int(nanos)
    at = 0 if "?" in address else int(address, 16)
    if not result:
        return Call(tid, name, args, None, 0, start, start, at, line)
    ret, error, took_s, took_ns = result.groups()
    if error and error.startswith("ERESTART"):
        return None
    took = int(took_s) * 10**9 + int(took_ns) if took_s else 0
    number = None if ret == "?" else int(ret, 0)
    return Call(tid, name, args, number, getattr(errno, error, 0) if error and number == -1 else 0, start, start + took, at, line)


def read_tasks(prefix):
    """All tasks of a trace, by tid, each with its parent."""
    tasks = {}
    for path in glob.glob(prefix + ".*"):
        tid = int(path.rsplit(".", 1)[1])
        with open(path, encoding="latin-1") as f:
            calls = [call for call in (parse_line(tid, line.rstrip("\n")) for line in f) if call]
        tasks[tid] = Task(tid, calls)
    for task in list(tasks.values()):
        for call in task.calls:
            if call.name in ("clone", "clone3", "fork", "vfork") and call.ret and call.ret in tasks:
                child = tasks[call.ret]
                child.parent, child.is_thread, child.born_ns = task.tid, "CLONE_THREAD" in call.text, call.start_ns
    return tasks


def is_exec(call):
    return call.name in ("execve", "execveat") and call.ret == 0


def mapped_libraries(calls):
    """When and where libsonde was mapped: (time, first address, last address), in order; at each exec (time, 0, 0)."""
    found, fd = [], None
    for call in calls:
        if is_exec(call):
            found.append((call.end_ns, 0, 0))
        elif call.name in ("open", "openat") and call.ret is not None and LIBRARY_NAME in call.text:
            fd = call.ret
        elif call.name == "mmap" and fd is not None and call.args[0] == "NULL" and call.args[4] == str(fd):
            found.append((call.end_ns, call.ret, call.ret + int(call.args[1])))
            fd = None
    return found


class Trace:
    """The traced program's part of a strace log: the recorder's own processes are left out."""

    def __init__(self, prefix):
        self.tasks = read_tasks(prefix)
        self._mapped = {tid: mapped_libraries(task.calls) for tid, task in self.tasks.items()}
        self.recorder = next(t.tid for t in self.tasks.values() if not t.parent)
        self.program = next(t.tid for t in self.tasks.values() if t.parent == self.recorder and any(map(is_exec, t.calls)))
        self.began = next(c for c in self.tasks[self.program].calls if is_exec(c))

    def process_of(self, tid):
        """The process that a thread belongs to."""
        while self.tasks[tid].is_thread:
            tid = self.tasks[tid].parent
        return tid

    def is_program(self, tid):
        """Does a task descend from the recorded program?"""
        while tid and tid != self.program:
            tid = self.tasks[tid].parent
        return tid == self.program

    def library_at(self, tid, at_ns):
        """Where libsonde is mapped in a task's memory at a time, as (first, last), (0, 0) when it is not."""
        while tid:
            mapped = self._mapped[tid]
            i = bisect.bisect(mapped, (at_ns, 1 << 64, 0)) - 1
            if i >= 0:
                return mapped[i][1:]
            at_ns, tid = self.tasks[tid].born_ns, self.tasks[tid].parent
        return 0, 0

    def calls(self):
        """The program's calls, task by task, from its execution on."""
        for tid in sorted(self.tasks):
            if self.is_program(tid):
                for call in self.tasks[tid].calls:
                    if call.start_ns >= self.began.start_ns:
                        yield call


def run(command, prefix, **keywords):
    """Run a command under strace; a subprocess.CompletedProcess."""
    strace = ["strace", "-ff", "-i", "-qq", "-s", "0", "--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns",
              "-e", "trace=" + CLASSES, "-e", "signal=none", "-o", prefix]
    return subprocess.run([*strace, *command], check=False, **keywords)


