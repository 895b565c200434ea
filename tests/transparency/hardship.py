#!/usr/bin/python3
"""Where things go wrong around a recorded program: it is not harmed, and what was lost is counted and said.

    hardship.py [WORD...]     only the cases whose names contain one of the words
"""
import collections
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
import tap

MULE = os.environ["MULE"]
LIMIT_SECONDS = 400
NOBODY = 65534
MEMORY_GROUPS = "/sys/fs/cgroup/memory"
CASES = []
os.environ.pop("MALLOC_PERTURB_", None)  # it makes every allocation resident: that is another program


class Skip(Exception):
    """This machine does not offer what the case needs."""


def hardship(name):
    """A case: a function from a scratch directory to a list of problems."""
    def add(function):
        CASES.append((name, function))
        return function
    return add


# Means.

def command(argv, **keywords):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS, check=False, **keywords)


@contextlib.contextmanager
def tmpfs(place, options):
    """A tmpfs of its own on `place`, for as long as the block runs."""
    os.makedirs(place, exist_ok=True)
    done = command(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place])
    if done.returncode:
        raise Skip(f"cannot mount a tmpfs: {done.stderr.decode().strip()}")
    try:
        yield place
    finally:
        command(["umount", "-l", place])


@contextlib.contextmanager
def memory_group(limit_bytes):
    """A memory cgroup; yields the file to write a pid to."""
    group = os.path.join(MEMORY_GROUPS, f"sonde-hardship-{os.getpid()}")
    try:
        os.mkdir(group)
    except OSError as error:
        raise Skip(f"no memory cgroup can be made: {error}") from error
    try:
        with open(os.path.join(group, "memory.limit_in_bytes"), "w", encoding="ascii") as f:
            f.write(str(limit_bytes))
        yield os.path.join(group, "cgroup.procs")
    finally:
        for _ in range(50):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.1)


def start(scratch, options, argv, **keywords):
    """Start a recording that the case interferes with; the run, and the process."""
    run = os.path.join(scratch, "run")
    process = subprocess.Popen([tap.SONDE, "record", "-o", run, *options, "--", *argv],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)
    return run, process


def wait_for(condition, what):
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.01)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def writes(run, path):
    """Recorded pwrites to a path."""
    return sum(1 for e in tap.events(run) if e["call"].startswith("pwrite") and e["path"] == path)


def expect(problems, what, have, want):
    if have != want:
        problems.append(f"{what} is {have!r}, expected {want!r}")


def loss_said(run):
    """The loss lines of `sonde info`, as one text."""
    return "\n".join(map(str, tap.info(run)["loss"]))


# Too little room.

def children_alive(pid):
    """Children that are no zombies; a stopped parent cannot wait for its own."""
    alive = []
    for child in children(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{child}/stat", encoding="ascii") as f:
            if f.read().rsplit(")", 1)[1].split()[0] != "Z":
                alive.append(child)
    return alive


def carry_held_up(scratch, options, mebibytes, calls, **keywords):
    """The mule carries while the recorder is stopped; what differs from a run without loss, and the bundle."""
    out, go, problems = os.path.join(scratch, "out"), os.path.join(scratch, "go"), []
    run, recorder = start(scratch, [*options, "-v"], [MULE, str(mebibytes), str(calls), out, go], **keywords)
    recorder.stdout.readline()
    recorder.send_signal(signal.SIGSTOP)
    touch(go)
    wait_for(lambda: not children_alive(recorder.pid), "the mule has ended")
    recorder.send_signal(signal.SIGCONT)
    stdout, stderr = recorder.communicate(timeout=LIMIT_SECONDS)
    probe = tap.trace_probe(run)
    expect(problems, "status", recorder.returncode, 0)
    expect(problems, "output", stdout.startswith(b"carried"), True)
    expect(problems, "drops are counted", probe["dropped"] > 0, True)
    expect(problems, "writes recorded and dropped", writes(run, out) + probe["dropped"] >= calls, True)
    expect(problems, "drops are shown by record", b"dropped" in stderr, True)
    expect(problems, "drops are shown by info", "dropped" in loss_said(run), True)
    return problems


@hardship("a ring place of 1 MiB, and a recorder that is held up")
def tiny_ring(scratch):
    with tmpfs(os.path.join(scratch, "ring"), "size=1m") as ring:
        problems = carry_held_up(scratch, ["--ring", ring], 1, 40000)
        expect(problems, "left in the ring place", os.listdir(ring), [])
    return problems


@hardship("no room for a ring at all")
def no_ring(scratch):
    problems = []
    with tmpfs(os.path.join(scratch, "ring"), "size=64k") as ring:
        run = os.path.join(scratch, "run")
        done = tap.record(run, [MULE, "1", "1000", os.path.join(scratch, "out")], "--ring", ring, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    probe = tap.trace_probe(run)
    expect(problems, "status", done.returncode, 0)
    expect(problems, "output", done.stdout.startswith(b"ready\ncarried"), True)
    expect(problems, "something is said to be missing", bool(probe["dropped"] or probe["blind_processes"] or probe.get("reason")), True)
    return problems


@hardship("a memory cgroup of 16 MiB around program and recorder")
def small_memory(scratch):
    problems, run = [], os.path.join(scratch, "run")
    out = os.path.join(scratch, "out")
    with memory_group(16 << 20) as procs:
        done = tap.record(run, [MULE, "8", "200000", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: enter(procs))
        expect(problems, "status", done.returncode, 0)
        expect(problems, "output", done.stdout.startswith(b"ready\ncarried"), True)
    probe = tap.trace_probe(run)
    expect(problems, "writes recorded and dropped", writes(run, out) + probe["dropped"] >= 200000, True)
    return problems


def enter(procs):
    with open(procs, "w", encoding="ascii") as f:
        f.write(str(os.getpid()))


@hardship("a memory cgroup of 16 MiB, and a recorder that is held up")
def small_memory_held_up(scratch):
    with memory_group(16 << 20) as procs:
        return carry_held_up(scratch, [], 8, 400000, preexec_fn=lambda: enter(procs))


@hardship("a read-only output directory")
def read_only_output(scratch):
    problems, marker = [], os.path.join(scratch, "marker")
    with tmpfs(os.path.join(scratch, "ro"), "size=1m,ro") as place:
        done = tap.record(os.path.join(place, "run"), ["touch", marker], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(problems, "status", done.returncode, 125)
    expect(problems, "message", b"Read-only file system" in done.stderr and done.stderr.startswith(b"sonde: "), True)
    expect(problems, "the program has run", os.path.exists(marker), False)
    return problems


@hardship("a full disk under the bundle")
def full_disk(scratch):
    problems, out = [], os.path.join(scratch, "out")
    with tmpfs(os.path.join(scratch, "small"), "size=96k") as place:
        run = os.path.join(place, "run")
        done = tap.record(run, ["sh", "-c", f"{MULE} 1 600000 {out}; exit 7"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect(problems, "status", done.returncode, 7)
        expect(problems, "output", done.stdout.startswith(b"ready\ncarried"), True)
        expect(problems, "the loss is said", b"No space left on device" in done.stderr, True)
        expect(problems, "info says what is missing", "could not write" in loss_said(run), True)
    return problems


# Many processes, and processes inside processes.

@hardship("10 000 short processes")
def many_processes(scratch):
    problems, run, ring = [], os.path.join(scratch, "run"), os.path.join(scratch, "ring")
    os.mkdir(ring)
    done = tap.record(run, ["sh", "-c", "i=0; while [ $i -lt 10000 ]; do /bin/true; i=$((i + 1)); done; exit 5"], "--ring", ring,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ended = collections.Counter((p["exe"], p["exit_code"]) for p in tap.events(run, "process"))
    expect(problems, "status", done.returncode, 5)
    expect(problems, "stderr", done.stderr, b"")
    expect(problems, "recorded executions of true", sum(n for (exe, _), n in ended.items() if exe and exe.endswith("/true")), 10000)
    expect(problems, "dropped", tap.trace_probe(run)["dropped"], 0)
    expect(problems, "left in the ring place", os.listdir(ring), [])
    return problems


@hardship("a recorder inside the recorded")
def nested(scratch):
    problems, outer, inner = [], os.path.join(scratch, "outer"), os.path.join(scratch, "inner")
    out = os.path.join(scratch, "out")
    done = tap.record(outer, [tap.SONDE, "record", "-o", inner, "--", "sh", "-c", f"{MULE} 1 100 {out}; exit 9"], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE)
    expect(problems, "status", done.returncode, 9)
    expect(problems, "stderr", done.stderr, b"")
    for run in (outer, inner):
        expect(problems, f"state of {os.path.basename(run)}", tap.info(run)["state"], "complete")
    expect(problems, "writes in the inner run", writes(inner, out), 100)
    programs = {os.path.basename(p["exe"] or "") for p in tap.events(outer, "process")}
    expect(problems, "the outer run holds the inner recorder", "sonde-record" in programs, True)
    return problems


@hardship("static children")
def static_child(scratch):
    busybox = shutil.which("busybox")
    if not busybox or not command(["ldd", busybox]).returncode:
        raise Skip("there is no static busybox")
    return blind_child(scratch, "static", [], f"{busybox} echo blind; {busybox} sh -c 'exit 3'; echo $?", b"blind\n3\n")


@hardship("setuid children")
def setuid_child(scratch):
    if os.geteuid():
        raise Skip("only root can make a program setuid root")
    program = os.path.join(scratch, "id")
    shutil.copy("/usr/bin/id", program)
    os.chmod(program, 0o4755)
    os.chmod(scratch, 0o777)
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return blind_child(scratch, "setuid", user, f"{program} -u; {program} -ru; echo after", f"0\n{NOBODY}\nafter\n".encode())


def blind_child(scratch, why, user, script, output):
    """The program's output is right, and the run says that it did not see the children, and why."""
    problems, run = [], os.path.join(scratch, "run")
    done = command([*user, tap.SONDE, "record", "-o", run, "--", "sh", "-c", script], cwd=scratch)
    expect(problems, "status", done.returncode, 0)
    expect(problems, "output", done.stdout, output)
    expect(problems, "stderr", done.stderr, b"")
    expect(problems, "blind processes", tap.trace_probe(run)["blind_processes"], 2)
    states = [p["state"] for p in tap.events(run, "process")]
    expect(problems, f"{why} is given as the reason, among {states}", sum(why in (state or "") for state in states), 2)
    return problems


# Other libraries that are preloaded.

def beside(scratch, library, program, wanted, **keywords):
    """Record a program that has another library preloaded; events must be there, the output as it is alone."""
    problems, run = [], os.path.join(scratch, "run")
    env = os.environ | ({"LD_PRELOAD": library} if library else {}) | keywords.pop("env", {})
    alone = command(program, env=env, cwd=scratch)
    done = command([tap.SONDE, "record", "-o", run, "--", *program], env=env, cwd=scratch)
    expect(problems, "status", done.returncode, alone.returncode)
    expect(problems, "stdout", done.stdout, alone.stdout)
    expect(problems, "stderr", done.stderr, alone.stderr)
    calls = collections.Counter(e["call"] for e in tap.events(run))
    problems += [f"no {call} was recorded, but {dict(calls)}"[:300] for call in wanted if not calls[call]]
    return problems


def library(name):
    path = f"/usr/lib/x86_64-linux-gnu/{name}"
    if not os.path.exists(path):
        raise Skip(f"{name} is not installed")
    return path


SORT = ["sh", "-c", "seq 1 1000 | sort -R --random-source=/dev/zero | md5sum; python3 -I -c 'import json; print(len(json.dumps(list(range(1000)))))'"]


@hardship("jemalloc")
def jemalloc(scratch):
    return beside(scratch, library("libjemalloc.so.2"), SORT, ["read"])


@hardship("libeatmydata")
def eatmydata(scratch):
    return beside(scratch, library("libeatmydata.so"), ["/usr/bin/python3", "-I", "-c", "import os; f = open('x', 'w'); f.write('x'); os.fsync(f.fileno())"],
                  ["fsync", "write"])


def sanitized(scratch, source, *flags):
    path = os.path.join(scratch, "main")
    with open(path + ".c", "w", encoding="ascii") as f:
        f.write(source)
    done = command(["gcc", "-g", *flags, path + ".c", "-o", path])
    if done.returncode:
        raise Skip(f"no sanitizer: {done.stderr.decode()[:100]}")
    return path


GOOD = '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *p = malloc(9); FILE *f = fopen("/etc/passwd", "r"); puts(fgets(p, 9, f)); fclose(f); free(p); return 4; }\n'
BAD = "#include <stdlib.h>\nint main(void) { volatile char *p = malloc(9); free((void *)p); return *p; }\n"


@hardship("a program with AddressSanitizer")
def asan_program(scratch):
    return beside(scratch, None, [sanitized(scratch, GOOD, "-fsanitize=address")], ["fgets"])


@hardship("AddressSanitizer still finds what it finds")
def asan_finds(scratch):
    program = [sanitized(scratch, BAD, "-fsanitize=address")]
    problems, run = [], os.path.join(scratch, "run")
    done = tap.record(run, program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(problems, "status", done.returncode, command(program).returncode)
    expect(problems, "it reports", b"heap-use-after-free" in done.stderr, True)
    return problems


@hardship("AddressSanitizer preloaded")
def asan_preloaded(scratch):
    return beside(scratch, library("libasan.so.8"), [sanitized(scratch, GOOD)], ["fgets"], env={"ASAN_OPTIONS": "detect_leaks=0"})


@hardship("a program with ThreadSanitizer")
def tsan_program(scratch):
    return beside(scratch, None, [sanitized(scratch, GOOD, "-fsanitize=thread")], ["fgets"])


# Sudden deaths.

@hardship("kill -9 of the recorder")
def recorder_killed(scratch):
    calls, out, go = 20000, os.path.join(scratch, "out"), os.path.join(scratch, "go")
    problems = []
    run, recorder = start(scratch, [], ["sh", "-c", f"cat /etc/passwd > /dev/null; {MULE} 1 {calls} {out} {go}; echo after $? > {scratch}/after"],
                          start_new_session=True)
    recorder.stdout.readline()
    time.sleep(1.2)  # longer than the recorder lets rows wait before it writes them out
    recorder.kill()
    recorder.wait()
    touch(go)
    wait_for(lambda: os.path.exists(f"{scratch}/after") and os.path.getsize(f"{scratch}/after"), "the program has ended")
    with open(f"{scratch}/after", encoding="ascii") as f:
        expect(problems, "the program", f.read(), "after 0\n")
    expect(problems, "state", tap.info(run)["state"], "recording")
    early = command([tap.SONDE, "events", run, "--table", "io", "--json"])
    expect(problems, "events of the unfinished run", (early.returncode, len(early.stdout) > 0), (0, True))
    wait_for(lambda: command([tap.SONDE, "recover", run]).returncode == 0, "recover")
    info = tap.info(run)
    expect(problems, "state after recover", info["state"], "recovered")
    lost = info["recovered"].get("lost_events")
    expect(problems, "the loss is stated", lost is not None, True)
    expect(problems, "writes recorded, dropped and lost", writes(run, out) + tap.trace_probe(run).get("dropped", 0) + (lost or 0) >= calls, True)
    return problems


@hardship("kill -9 of the program")
def program_killed(scratch):
    problems, out = [], os.path.join(scratch, "out")
    run, recorder = start(scratch, ["--overflow", "block"], ["dd", "if=/dev/zero", f"of={out}", "bs=16", "status=none"])
    wait_for(lambda: os.path.exists(out) and os.path.getsize(out) > 16 * 1000, "dd writes")
    for pid in children(recorder.pid):
        os.kill(pid, signal.SIGKILL)
    recorder.communicate(timeout=LIMIT_SECONDS)
    written = os.path.getsize(out) // 16
    recorded = sum(1 for e in tap.events(run) if e["call"] == "write" and e["path"] == out)
    expect(problems, "status", recorder.returncode, -signal.SIGKILL)
    expect(problems, f"all but the last of {written} writes recorded, of which there are {recorded},", written - recorded in (0, 1), True)
    expect(problems, "exit signal", tap.info(run)["exit"]["signal"], int(signal.SIGKILL))
    expect(problems, "dropped", tap.trace_probe(run)["dropped"], 0)
    return problems


@hardship("the bundle is removed while it is written")
def bundle_removed(scratch):
    problems, go = [], os.path.join(scratch, "go")
    run, recorder = start(scratch, [], ["sh", "-c", f"{MULE} 1 1000 {scratch}/out {go}; exit 3"])
    recorder.stdout.readline()
    while os.path.exists(run):  # the recorder may make a file while it is being removed
        shutil.rmtree(run, ignore_errors=True)
    touch(go)
    stdout, _ = recorder.communicate(timeout=LIMIT_SECONDS)
    expect(problems, "status", recorder.returncode, 3)
    expect(problems, "output", stdout.startswith(b"carried"), True)
    return problems


@hardship("the ring is removed while it is written")
def ring_removed(scratch):
    problems, go, ring = [], os.path.join(scratch, "go"), os.path.join(scratch, "ring")
    os.mkdir(ring)
    _, recorder = start(scratch, ["--ring", ring], ["sh", "-c", f"{MULE} 1 1000 {scratch}/out {go}; cat /dev/null; exit 3"])
    recorder.stdout.readline()
    shutil.rmtree(ring)
    touch(go)
    stdout, _ = recorder.communicate(timeout=LIMIT_SECONDS)
    expect(problems, "status", recorder.returncode, 3)
    expect(problems, "output", stdout.startswith(b"carried"), True)
    return problems


# No place in memory.

@hardship("a read-only /dev/shm")
def read_only_shm(scratch):
    return other_shm(scratch, "ro,size=1m")


@hardship("a tiny /dev/shm, as in containers")
def tiny_shm(scratch):
    return other_shm(scratch, "size=64k")


def other_shm(scratch, options):
    """The ring falls back to the bundle's own directory."""
    problems, run, out = [], os.path.join(scratch, "run"), os.path.join(scratch, "out")
    script = f"mount -t tmpfs -o {options} tmpfs /dev/shm || exit 99; exec {tap.SONDE} record -o {run} --probes trace -- {MULE} 1 5000 {out}"
    done = command(["unshare", "-m", "sh", "-c", script])
    if done.returncode == 99 or b"unshare" in done.stderr:
        raise Skip(f"no mount namespace: {done.stderr.decode().strip()}")
    expect(problems, "status", done.returncode, 0)
    expect(problems, "output", done.stdout.startswith(b"ready\ncarried"), True)
    expect(problems, "stderr", done.stderr, b"")
    expect(problems, "writes", writes(run, out) + tap.trace_probe(run)["dropped"], 5000)
    expect(problems, "left beside the tables", sorted(os.listdir(run)), ["run.json", "tables"])
    return problems


def main():
    for name, case in CASES:
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory(prefix="sonde-hardship.", ignore_cleanup_errors=True) as scratch:
            os.chmod(scratch, 0o755)
            try:
                tap.check(name, case(scratch))
            except Skip as reason:
                tap.skip(name, str(reason))
            except (AssertionError, subprocess.SubprocessError, KeyError) as error:
                tap.check(name, [f"{type(error).__name__}: {error}"])
    return tap.done()


sys.exit(main())
