#!/usr/bin/python3
"""Small stacks, cancelled threads, exceptions, jumps, shells of many threads, daemons: all as without a recorder."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import tap

PROGRAMS = os.environ["PROGRAMS"]
DAEMON = """
import os, sys, time
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
time.sleep(0.3)
open(sys.argv[1], "w").write("late")
"""


def run_alone(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          timeout=tap.LIMIT_SECONDS)
    return done.returncode, done.stdout, done.stderr


def run_recorded(run, command, *options):
    done = tap.record(run, command, "-q", *options, stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def differences(alone, recorded):
    names = ("status", "stdout", "stderr")
    return [f"{name}: {a!r} alone, {r!r} recorded" for name, a, r in zip(names, alone, recorded) if a != r]


def losses(run):
    probe = tap.trace_probe(run)
    return [f"{probe[what]} {what}" for what in ("dropped", "damaged") if probe[what]]


def check_same(work, name, command, *options):
    run = os.path.join(work, "run-" + name.replace(" ", "-"))
    if tap.check(name, differences(run_alone(command), run_recorded(run, command, *options)) + losses(run)):
        return run
    return None


def check_programs(work):
    for name in ("shells", "cancelled", "thrown"):
        check_same(work, name, [os.path.join(PROGRAMS, name)])
    check_same(work, "stacks", [os.path.join(PROGRAMS, "stacks")])
    check_same(work, "stacks with filters", [os.path.join(PROGRAMS, "stacks")], "--exclude", "/usr/share")


def check_jumps(work):
    run = os.path.join(work, "run-jumps")
    status = run_recorded(run, [os.path.join(PROGRAMS, "jumps")])[0]
    out = subprocess.run([tap.SONDE, "events", run, "--json"], stdout=subprocess.PIPE, check=True).stdout
    seen = out.count(b'"size":3,')
    problems = [f"status {status}"] if status else []
    problems += [f"{seen} of 20000 calls seen"] if seen != 20000 else []
    tap.check("a thread is seen again after jumps out of handlers", problems)


def check_thread_sanitizer(work):
    name, program = "ThreadSanitizer finds no races in us", os.path.join(work, "races")
    source = os.path.join(os.path.dirname(__file__), "races.c")
    built = subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-fsanitize=thread", source, "-o", program, "-pthread"],
                           capture_output=True, check=False)
    if built.returncode:
        tap.skip_missing(name, "the compiler has no ThreadSanitizer")
    elif run_alone([program])[0]:
        tap.skip(name, "programs made with ThreadSanitizer do not run here")
    else:
        check_same(work, name, [program])


def check_listing(work):
    """Addresses differ from call to call."""
    command = ["sh", "-c", "LD_TRACE_LOADED_OBJECTS=1 /bin/ls | sed 's/ (0x.*//' | sort"]
    check_same(work, "what a program needs is listed without us", command)


def check_daemon(work):
    problems = []
    for i in range(5):
        run, late = os.path.join(work, f"run-daemon{i}"), os.path.join(work, f"late{i}")
        run_recorded(run, ["sh", "-c", 'exec "$@"', "sh", "/usr/bin/python3", "-c", DAEMON, late], "--follow")
        if not os.path.exists(late):
            problems.append("ended before the daemon")
        elif not any(e["path"] == late for e in tap.events(run)):
            problems.append("the daemon's file is not among the events")
        states = {p["process"]: p["state"] or "" for p in tap.info(run)["processes"]}
        problems += [f"process {number}: {state}" for number, state in states.items() if "not traced" in state]
    tap.check("a daemon that forks twice is followed to its end", problems)


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-hardy-") as work:
        check_programs(work)
        check_jumps(work)
        check_thread_sanitizer(work)
        check_listing(work)
        check_daemon(work)
    return tap.done()


sys.exit(main())
