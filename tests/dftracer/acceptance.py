#!/usr/bin/python3
"""DFTracer's acceptance counts, with programs of our own that make those calls."""
import os
import shutil
import subprocess
import sys
import tempfile

import dft
import tap

PROGRAM, PROGRAM_CPP, PARITY, FORTIFY = (os.environ[name] for name in ("ACCEPT", "ACCEPT_CPP", "PARITY", "FORTIFY"))
# Section 8.1 of what is known of version 1's test of C++.
CPP_COUNTS = dict.fromkeys("""CUSTOM CUSTOM_BLOCK foo chdir chmod chown creat64 dup2 faccessat fdatasync fsync ftruncate lchown
    link linkat lseek mkfifo pread pread64 pwrite pwrite64 readlinkat symlink symlinkat truncate unlink utime fopen fwrite
    fclose""".split(), 1)
CPP_COUNTS.update({"close": 5, "fcntl": 3, "open": 2, "openat": 2, "remove": 2})
C_COUNTS = {"work": 1, "CUSTOM": 1, "CUSTOM_BLOCK": 1, "fopen": 1, "fwrite": 1, "fclose": 1}


def traced(command, mode, **more):
    scratch = tempfile.mkdtemp()
    os.mkdir(os.path.join(scratch, "data"))
    prefix = os.path.join(scratch, "trace")
    done = dft.run([part.replace("@", scratch) for part in command], mode, prefix, **more)
    return scratch, prefix, done


def basic(done, prefix):
    problems = dft.differ("status", done.returncode, 0)
    if done.stderr:
        problems.append(f"stderr {done.stderr[:200]!r}")
    for path in dft.logs(prefix):
        problems += parses(path)
        if dft.lines(path)[-1]["name"] != "end":
            problems.append(f"{path} has no end")
    if dft.rings(prefix):
        problems.append(f"left over: {dft.rings(prefix)}")
    return problems


def parses(path):
    """jq reads every line, too."""
    if not shutil.which("jq"):
        return ["jq is not installed"]
    plain = b"\n".join(line for line in dft.text(path).split(b"\n") if line not in (b"[", b"]"))
    done = subprocess.run(["jq", "--slurp", "length"], input=plain, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=dft.LIMIT)
    return dft.differ(f"jq of {path}", (done.returncode, done.stdout.strip()), (0, str(len(dft.lines(path))).encode()))


def c_program(mode):
    scratch, prefix, done = traced([PROGRAM, "-", "@/data"], mode)
    problems = basic(done, prefix)
    files = {os.path.basename(path).split("-")[1]: path for path in dft.logs(prefix)}
    suffix = "-preload.pfw" if mode == "preload" else "-app.pfw"
    problems += [f"{path} is not named {suffix}" for path in dft.logs(prefix) if not path.endswith(suffix)]
    found = dft.events(prefix)
    counts = {name: count for name, count in dft.histogram(found).items() if name in C_COUNTS}
    problems += dft.differ("counts", counts, C_COUNTS)
    problems += dft.differ("forks", sorted(e["args"]["ret"] != 0 for e in found if e["name"] == "fork"), [False, True])
    problems += dft.differ("execs", sum(e["name"] == "execl" for e in found), 1)
    problems += dft.differ("programs", sorted(files), ["dftracer_accept", "ls"] if mode == "preload" else ["dftracer_accept"])
    shutil.rmtree(scratch)
    return problems


def cpp_program(mode):
    scratch, prefix, done = traced([PROGRAM_CPP, "@/data"], mode)
    problems = basic(done, prefix)
    have = dft.histogram(dft.events(prefix))
    problems += dft.differ("counts", {name: have.get(name) for name in CPP_COUNTS}, CPP_COUNTS)
    nothing_else = set(have) - set(CPP_COUNTS)
    problems += [f"besides: {nothing_else}"] if nothing_else else []
    problems += dft.differ("metadata", sum(r["name"] == "CM" for r in dft.records(prefix)), 1)
    shutil.rmtree(scratch)
    return problems


def lines_of(prefix):
    """As their checks count them: wc -l of all logs, and how many logs."""
    return sum(dft.text(path).count(b"\n") for path in dft.logs(prefix)), len(dft.logs(prefix))


def least_lines(command, least, mode, **more):
    scratch, prefix, done = traced(command, mode, **more)
    have, logs = lines_of(prefix)
    problems = dft.differ("status", done.returncode, 0) + ([] if have >= least else [f"{have} lines in {logs} logs"])
    shutil.rmtree(scratch)
    return problems


def given_log():
    scratch, prefix, done = traced([PROGRAM, "@/exactly.pfw", "@/data"], "function")
    path = os.path.join(scratch, "exactly.pfw")
    problems = [] if os.path.exists(path) else ["the log is not where it was told to be"]
    problems += basic(done, prefix)
    problems += dft.differ("counts", {e["name"]: 1 for e in map(dict, dft.lines(path)) if e["name"] in C_COUNTS}, C_COUNTS)
    shutil.rmtree(scratch)
    return problems


def disabled(mode):
    more = {"DFTRACER_ENABLE": "0"}
    scratch, prefix, done = traced([PROGRAM, "-", "@/data"], mode, **more)
    problems = dft.differ("status", done.returncode, 0) + dft.differ("files", sorted(os.listdir(scratch)), ["data"])
    shutil.rmtree(scratch)
    return problems


def hybrid():
    scratch, prefix, done = traced([PROGRAM, "-", "@/data"], "none")
    problems = basic(done, prefix)
    problems += dft.differ("events", sorted(dft.histogram(dft.events(prefix))), ["CUSTOM", "CUSTOM_BLOCK", "work"])
    shutil.rmtree(scratch)
    return problems


def covers(program, mode):
    """The program prints the calls that it makes, one a line; several names with | between are alternatives."""
    scratch, prefix, done = traced([program, "@/data"], mode)
    problems = basic(done, prefix)
    have = dft.histogram(dft.events(prefix))
    for wanted in done.stdout.decode().split():
        if not any(name in have for name in wanted.split("|")):
            problems.append(f"no event for {wanted}")
    shutil.rmtree(scratch)
    return problems


def macros(program, category, is_bound):
    """Every macro of dftracer.h, in generation E, which tells of all."""
    header = os.path.join(dft.LAYER, "include/dftracer/dftracer.h")
    prefix = "DFTRACER_CPP_" if category == "CPP_APP" else "DFTRACER_C_"
    with open(header, encoding="utf-8") as file:
        defined = {word.split("(")[0] for line in file if line.startswith("#define " + prefix) for word in [line.split()[1]]}
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "macros.cpp" if category == "CPP_APP" else "macros.c")
    with open(source, encoding="utf-8") as file:
        text = file.read()
    unused = sorted(name for name in defined - {"DFTRACER_C_REGION_CLEANUP"} if name + "(" not in text)
    scratch, prefix, done = traced([program] + ([] if is_bound else ["no-bind"]), "function", DFTRACER_FORMAT="E",
                                   DFTRACER_TRACE_COMPRESSION="0")
    records = dft.records(prefix)
    events = {e["name"]: e for e in dft.events(prefix) if e["cat"] in (category, "OWN")}
    problems = dft.differ("macros that are not tried", unused, []) + dft.differ("status", done.returncode, 0)
    problems += dft.differ("events", sorted(events), sorted(["function", "inner", "logged", "outer"] + (["early"] if category == "CPP_APP" else [])))
    problems += dft.differ("function", [events["function"]["args"].get(k) for k in ("int", "str", "int_type", "str_type")], [1, "one", 2, "two"])
    problems += dft.differ("inner", [events["inner"]["args"].get(k) for k in ("int", "str", "int_type", "str_type")], [3, "three", 4, "four"])
    problems += dft.differ("nesting", (events["inner"]["args"]["p_idx"], events["inner"]["args"]["level"]), (events["outer"]["id"], 2))
    problems += dft.differ("relations", (sorted(events["function"]["args"]["relations"]), list(events["inner"]["args"]["relations"])),
                           (["generated", "updated", "used"], ["invalidated"]))
    counts = dft.histogram(r for r in records if r["name"] in ("EH", "ET", "ER", "CM"))
    problems += dft.differ("records", counts, {"CM": 1, "ET": 1, "EH": 4, "ER": 1})
    end = records[-1]["args"]
    problems += dft.differ("facts", (end["app"], end["used"].get("mine"), end["used"].get(category), end["cfg"]["bind"]),
                           ({"number": 5, "text": "five"}, 1, 1, int(is_bound)))
    shutil.rmtree(scratch)
    return problems


def main():
    for is_bound in (True, False):
        how = "" if is_bound else ", without binding"
        tap.check(f"every macro of C{how}", macros(os.environ["MACROS"], "C_APP", is_bound))
        tap.check(f"every macro of C++{how}", macros(os.environ["MACROS_CPP"], "CPP_APP", is_bound))
    for mode in ("function", "preload"):
        tap.check(f"{mode}: the calls of DFTracer's C test", c_program(mode))
        tap.check(f"{mode}: the calls of DFTracer's C++ test", cpp_program(mode))
        tap.check(f"{mode}: calls that versions 1 and 2 do not see", covers(PARITY, mode))
        tap.check(f"{mode}: entry points of _FORTIFY_SOURCE", covers(FORTIFY, mode))
        tap.check(f"{mode}: disabled, no file", disabled(mode))
        for letter in "CD":
            of, more = f"{mode}, generation {letter}", {"DFTRACER_FORMAT": letter, "DFTRACER_TRACE_COMPRESSION": "0"}
            tap.check(f"{of}: at least 4 lines of the C test", least_lines([PROGRAM, "-", "@/data"], 4, mode, **more))
            tap.check(f"{of}: at least 29 lines of the C++ test", least_lines([PROGRAM_CPP, "@/data"], 29, mode, **more))
            more["DFTRACER_ENABLE_AGGREGATION"] = "1"
            tap.check(f"{of}: at least 14 lines of the C test, summed up", least_lines([PROGRAM, "-", "@/data"], 14, mode, **more))
            tap.check(f"{of}: at least 11 lines of the C++ test, summed up", least_lines([PROGRAM_CPP, "@/data"], 11, mode, **more))
    tap.check("a log file that was given is exactly that", given_log())
    tap.check("HYBRID: annotations only", hybrid())
    return tap.done()


sys.exit(main())
