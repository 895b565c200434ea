"""match: each file system call that strace saw, explained by what sonde recorded, and the other way round.

A system call is one of
  matched   the event of the same thread around it is the same call with the same descriptor or path and result
  inside    it lies inside a recorded libc call that does more than one system call (fopen, realpath, exit ...)
  loader    the dynamic linker made it before libsonde's first instruction in this process image
  own       libsonde made it itself
  excepted  a row of EXCEPTIONS says why it needs no event
or unexplained. An event of a call that always is one system call must have been matched, else it is a phantom.
"""
import bisect
import collections
import os
import re

import straced

TOLERANCE_NS = 5000  # of the comparison of two clocks; under strace two calls are ten times as far apart

# Events that are exactly one system call, and which; others are libc calls that may make any number of them.
_SAME = """
    read write readv writev preadv pwritev preadv2 pwritev2 lseek close dup dup2 dup3 fcntl ioctl fsync fdatasync sync_file_range
    syncfs ftruncate truncate fallocate mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
    readlink readlinkat chmod fchmod chown lchown fchown fchownat chdir fchdir statx statfs fstatfs flock mmap munmap msync sendfile
    splice tee vmsplice copy_file_range memfd_create pipe2 openat utimensat getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr
    listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr socket socketpair connect bind listen accept accept4 sendto
    recvfrom sendmsg recvmsg shutdown eventfd2 epoll_create1 epoll_ctl inotify_init1 inotify_add_watch inotify_rm_watch readahead
"""
DIRECT = {name: {name} for name in _SAME.split()} | {
    "open": {"open", "openat"},
    "creat": {"creat", "open", "openat"},
    "pread": {"pread64"},
    "pwrite": {"pwrite64"},
    "stat": {"stat", "newfstatat"},
    "lstat": {"lstat", "newfstatat"},
    "fstat": {"fstat", "newfstatat"},
    "fstatat": {"newfstatat"},
    "access": {"access", "faccessat"},
    "faccessat": {"faccessat", "faccessat2"},
    "mknod": {"mknod", "mknodat"},
    "pipe": {"pipe", "pipe2"},
    "send": {"sendto"},
    "recv": {"recvfrom"},
    "futimens": {"utimensat"},
    "posix_fadvise": {"fadvise64"},
}
# Events whose end was not seen: the first kind lasts to the end of the process, all others to the thread's next event.
LAST_WORDS = {"exit", "_exit", "_Exit", "quick_exit"}
# Position of the path among the arguments; of all others the first argument is compared as a descriptor.
PATH_AT = {name: 0 for name in """open creat stat lstat access readlink mkdir rmdir unlink rename link chmod chown lchown chdir statfs truncate
    mknod getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr lremovexattr""".split()} | {
    name: 1 for name in """openat newfstatat statx faccessat faccessat2 readlinkat mkdirat unlinkat renameat renameat2 linkat symlink
    fchmodat fchownat utimensat mknodat inotify_add_watch""".split()} | {"symlinkat": 2}
FD_AT = {"sendfile": 1, "mmap": 4}
FD_IS_RESULT = {"open", "openat", "creat", "memfd_create", "socket", "accept", "accept4", "eventfd2", "epoll_create1", "inotify_init1"}
NO_FD = {"pipe", "pipe2", "socketpair", "munmap", "msync"}
# What strace was told to show for other reasons than that it is a file system call.
STRUCTURE = {"clone", "clone3", "fork", "vfork", "wait4", "waitid", "exit", "exit_group", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "pidfd_send_signal",
             "munmap", "msync"}


# The dynamic linker's code is a little larger than the part of it that makes system calls.
LOADER_MARGIN_BYTES = 32768


def _is_anonymous(call):
    return call.name == "mmap" and "MAP_ANONYMOUS" in call.args[3]


def _asks_for_overcommit(call):
    return call.name == "openat" and '"/proc/sys/vm/overcommit_memory"' in call.text


# What needs no event, and why. What is done next with a descriptor that such a call opened, until it is closed, needs none either.
EXCEPTIONS = [
    (_is_anonymous, "memory without a file, taken by malloc and thread stacks"),
    (_asks_for_overcommit, "free() of a thread's own heap asks once whether memory may be given back; malloc and free are not recorded"),
]


def plain_name(name):
    """A glibc name without its variant: __open64_2 is open."""
    name = name.removeprefix("__")
    name = re.sub(r"^(l|f|)xstat(at|)", lambda m: f"{m[1]}stat{m[2]}", name)
    name = re.sub(r"^xmknod", "mknod", name)
    name = re.sub(r"(_2|_chk)$", "", name)
    return re.sub(r"64(v2|)$", r"\1", name)


def _same_path(event_path, given):
    """Is `given`, absolute or relative to something, the path that the event names?"""
    if event_path is None:
        return True
    have, want = os.path.normpath(event_path), os.path.normpath(given)
    if given.startswith("/"):
        return have == want
    while want.startswith(".."):
        want = want[2:].lstrip("/")
    return want in ("", ".") or have.endswith("/" + want) or have == want


def _subject_differs(event, call):
    """Which of path and descriptor is another, None when neither is."""
    at = PATH_AT.get(call.name)
    path = straced.unquote(call.args[at]) if at is not None else None
    if path and not _same_path(event["path"], path):
        return "path"
    if path and call.name not in FD_IS_RESULT or call.name in NO_FD:
        return None
    fd = call.ret if call.name in FD_IS_RESULT else int(call.args[FD_AT.get(call.name, 0)], 0) if call.args[0].lstrip("-").isdigit() else None
    if fd is not None and fd >= 0 and event["fd"] is not None and fd != event["fd"]:
        return "descriptor"
    return None


def difference(event, call):
    """What is not the same in an event and the system call that it must be; None when all is."""
    if call.ret is None:
        return None
    if event["errno"] not in (None, call.errnum):
        return f"errno {event['errno']}"
    if not call.errnum and event["ret"] is not None and event["ret"] != call.ret and plain_name(event["call"]) not in ("posix_fadvise",):
        return f"result {event['ret']}"
    return _subject_differs(event, call)


class Thread:
    """The events of one thread, to be looked up by time."""

    def __init__(self, events):
        self.events = sorted(events, key=lambda e: e["ts_ns"])
        self.starts = [e["ts_ns"] for e in self.events]
        self.last_words = [e for e in self.events if e["dur_ns"] is None and e["call"] in LAST_WORDS]
        self.ends = [self._end(i) for i in range(len(self.events))]
        self.matched = set()
        self.longest = max((end - start for start, end in zip(self.starts, self.ends) if end < float("inf")), default=0)

    def _end(self, i):
        event = self.events[i]
        if event["dur_ns"] is not None:
            return event["ts_ns"] + event["dur_ns"]
        if event["call"] in LAST_WORDS:
            return float("inf")
        later = bisect.bisect_right(self.starts, event["ts_ns"])
        return self.starts[later] if later < len(self.starts) else float("inf")

    def around(self, start_ns, end_ns):
        """Numbers of the events that enclose a time, innermost first."""
        i = bisect.bisect_right(self.starts, start_ns + TOLERANCE_NS) - 1
        while i >= 0 and (self.starts[i] >= start_ns - self.longest - TOLERANCE_NS or self.ends[i] == float("inf")):
            if self.ends[i] + TOLERANCE_NS >= end_ns:
                yield i
            i -= 1
        for event in self.last_words:
            if event["ts_ns"] <= start_ns + TOLERANCE_NS:
                yield self.events.index(event)


class Comparison:
    """The outcome: how many calls of each kind, what is unexplained and why, phantoms, and executions of programs that never saw libsonde."""

    def __init__(self, trace, events, offset_ns):
        self.counts = collections.Counter()
        self.inside = collections.Counter()
        self.own = collections.Counter()
        self.exceptions = collections.Counter()
        self.unexplained = []
        self._trace, self._offset_ns = trace, offset_ns
        by_tid = collections.defaultdict(list)
        for event in events:
            by_tid[event["tid"]].append(event)
        self._threads = {tid: Thread(of_tid) for tid, of_tid in by_tid.items()}
        self._excepted_fds = {}  # (tid, descriptor) -> reason
        self._loader = {}  # process -> lowest and highest address that its dynamic linker made system calls from
        self._young = {}  # process -> the execution of an image in which libsonde has not been seen yet
        self.blind = []
        for call in trace.calls():
            self._take(call)
        self.blind += self._young.values()
        self.phantoms = [event for thread in self._threads.values() for i, event in enumerate(thread.events)
                         if self._is_phantom(thread, i, event)]

    def _is_phantom(self, thread, i, event):
        name = plain_name(event["call"])
        if name not in DIRECT or i in thread.matched or event["dur_ns"] is None:
            return False
        return not (name == "fstat" and event["fd"] is None)  # glibc refuses negative descriptors itself

    def _count(self, kind):
        self.counts[kind] += 1

    def _take(self, call):
        process = self._trace.process_of(call.tid)
        if straced.is_exec(call):
            self._see_exec(process, call)
            return
        first, last = self._trace.library_at(call.tid, call.start_ns)
        if first <= call.address < last:
            self._young.pop(process, None)
            self.own[call.name] += 1
            self._count("own")
        elif call.name in STRUCTURE:
            self._match_one(call)
        elif process in self._young:
            low, high = self._loader.get(process, (call.address, call.address))
            self._loader[process] = min(low, call.address), max(high, call.address)
            self._count("loader")
        else:
            self._explain(call)

    def _see_exec(self, process, call):
        if process in self._young:
            self.blind.append(self._young[process])
        if call is not self._trace.began:
            self._explain(call)
        self._young[process] = call
        self._loader.pop(process, None)

    def _is_loader(self, call):
        """Was it made by the dynamic linker? A forked process has its parent's."""
        process = self._trace.process_of(call.tid)
        while process not in self._loader and process != self._trace.program:
            process = self._trace.process_of(self._trace.tasks[process].parent)
        low, high = self._loader.get(process, (0, 0))
        return low - LOADER_MARGIN_BYTES <= call.address <= high + LOADER_MARGIN_BYTES

    def _explain(self, call):
        problem = self._match_one(call)
        reason = self._exception(call) if problem else None
        if reason:
            self.exceptions[reason] += 1
            self._count("excepted")
        elif problem:
            self._count("unexplained")
            self.unexplained.append((call, problem))

    def _exception(self, call):
        for matches, reason in EXCEPTIONS:
            if matches(call):
                self._excepted_fds[call.tid, str(call.ret)] = reason
                return reason
        end = self._excepted_fds.pop if call.name == "close" else self._excepted_fds.get
        return end((call.tid, call.args[0]), None)

    def _match_one(self, call):
        """None when an event explains the call, else the reason why none does."""
        start, end = call.start_ns - self._offset_ns, call.end_ns - self._offset_ns
        thread = self._threads.get(call.tid)
        problem = "no event around it"
        for i in thread.around(start, end) if thread else ():
            event = thread.events[i]
            if call.name not in DIRECT.get(plain_name(event["call"]), ()):
                if self._can_be_inside(event, call):
                    self.inside[event["call"]] += 1
                    self._count("inside")
                    return None
                continue
            if i in thread.matched:
                problem = f"its {event['call']} event has matched another call"
                continue
            wrong = difference(event, call)
            if wrong is None:
                thread.matched.add(i)
                self._count("matched")
                return None
            problem = f"event has another {wrong}: {event}"
        return self._spawned(call, start, end, problem)

    def _can_be_inside(self, event, call):
        """Of an event of which no end was seen, dlopen, the address must tell what was still part of it."""
        if event["call"] in ("dlopen", "dlmopen") and not self._is_loader(call):
            return False
        return plain_name(event["call"]) not in DIRECT and call.name not in STRUCTURE

    def _spawned(self, call, start, end, problem):
        """A child that libc made (posix_spawn, system, popen) and that has not executed yet lives inside its parent's call."""
        task = self._trace.tasks[call.tid]
        parent = self._threads.get(task.parent)
        has_executed = any(straced.is_exec(c) and c.end_ns < call.start_ns for c in task.calls)
        if parent and not has_executed and not task.is_thread:
            for i in parent.around(start, end):
                if plain_name(parent.events[i]["call"]) not in DIRECT and parent.events[i]["dur_ns"] is not None:
                    self.inside[parent.events[i]["call"]] += 1
                    self._count("inside")
                    return None
        return problem
