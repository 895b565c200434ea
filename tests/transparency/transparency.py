#!/usr/bin/python3
"""Programs behave with libsonde as they do without it: stdout, stderr, status and files are the same.

Each row of cases.py runs three times in the same directory, made anew: alone, with libsonde
preloaded but nobody recording ("disabled"), and under `sonde record` ("recorded").

    transparency.py [WORD...]     only the cases whose names contain one of the words
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
import cases
import fixture
import tap

WORKERS = 2
LIMIT_SECONDS = 60
SHOWN_BYTES = 600
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": "/nonexistent", "TERM": "dumb"}
PRELOAD = "LD_PRELOAD=" + tap.LIBRARY
STARTERS = {
    "alone": lambda run: ["/usr/bin/env"],
    "disabled": lambda run: ["/usr/bin/env", PRELOAD],
    "recorded": lambda run: [tap.SONDE, "record", "-o", run, "--"],
}


def without_preload(text):
    """In the mode "disabled" the variable is the user's own, so a listing of the environment rightly shows it."""
    return text.replace(PRELOAD.encode() + b"\n", b"")


def outcome(case, mode, scratch):
    """One run: what it said, how it ended, what it left behind."""
    fixture.remove(scratch)
    work = os.path.join(scratch, "place", "work")
    os.makedirs(work)
    fixture.build(work)
    program = ["/bin/bash", "--norc", "-c", case.script, "bash"]
    command = ["/bin/bash", "--norc", "-c", case.around, "around", *STARTERS[mode](os.path.join(scratch, "run")), *program]
    done = subprocess.run(command, cwd=work, env=ENVIRONMENT, input=case.stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT_SECONDS, check=False)
    return {
        "stdout": cases.normalise(without_preload(done.stdout), case.varies),
        "stderr": cases.normalise(without_preload(done.stderr), case.varies),
        "status": done.returncode,
        "files": fixture.snapshot(work),
    }


def differences(mode, alone, with_sonde):
    """Sentences that say what is not the same."""
    problems = []
    for part in ("stdout", "stderr", "status"):
        if alone[part] != with_sonde[part]:
            problems.append(f"{mode}: {part} is  {str(with_sonde[part])[:SHOWN_BYTES]}")
            problems.append(f"{mode}: alone it is {str(alone[part])[:SHOWN_BYTES]}")
    for name in sorted(alone["files"].keys() | with_sonde["files"].keys()):
        was, has = alone["files"].get(name), with_sonde["files"].get(name)
        if was != has:
            problems.append(f"{mode}: file {name!r} is {has}, alone {was}")
    return problems


def judge(case):
    """The case's name and what is wrong with it; None and a reason when it cannot be run here."""
    missing = [program for program in case.needs if not shutil.which(program, path=ENVIRONMENT["PATH"])]
    if missing:
        return None, f"{missing[0]} is not installed"
    modes = [case.only[0]] if case.only else ["disabled", "recorded"]
    with tempfile.TemporaryDirectory(prefix="sonde-transparency.") as top:
        os.chmod(top, 0o755)
        scratch = os.path.join(top, "s")
        try:
            alone = outcome(case, "alone", scratch)
            problems = []
            for mode in modes:
                problems += differences(mode, alone, outcome(case, mode, scratch))
        except subprocess.TimeoutExpired as late:
            problems = [f"did not end within {LIMIT_SECONDS} s: {late.cmd}"]
        finally:
            fixture.remove(scratch)
    return case.name, problems


def main():
    wanted = [case for case in cases.CASES if not sys.argv[1:] or any(word in case.name for word in sys.argv[1:])]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for case, (name, result) in zip(wanted, pool.map(judge, wanted)):
            if name is None:
                tap.skip_missing(case.name, result)
            else:
                tap.check(name, result)
    return tap.done()


sys.exit(main())
