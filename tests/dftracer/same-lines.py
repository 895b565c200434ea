#!/usr/bin/python3
"""One event, one line: what libdftracer logs of a program and what `sonde export` writes of its recording agree."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import dft
import tap

CASES, PARITY = os.environ["CASES"], os.environ["PARITY"]
# The nesting of calls in a log is that of DFTracer's regions, which a recording does not have; addresses are random.
OWN = ("p_idx", "level", "address")
# Their files have no names of their own; the recorder knows the kernel's.
NAMELESS = ("pipe", "pipe2", "tmpfile", "tmpfile64", "close", "fclose")


def shape(record):
    """A record without what differs from run to run; the order of the fields counts."""
    own = OWN + (("fhash",) if record["name"] in NAMELESS else ()) + (("ret",) if record["name"] == "mmap" else ())
    kept = [(key, value) for key, value in record.get("args", {}).items() if key not in own]
    head = [(key, record[key]) for key in record if key in ("name", "cat", "type", "ph")]
    return json.dumps([[key for key in record if key != "args"], head, kept])


def run_both(scratch, command, letter):
    """The records of a log and of an export."""
    data, prefix, run = (os.path.join(scratch, name) for name in ("data", "trace", "run"))
    os.mkdir(data)
    logged = dft.run(command + [data], "preload", prefix, DFTRACER_FORMAT=letter, DFTRACER_TRACE_COMPRESSION="0")
    shutil.rmtree(data)
    os.mkdir(data)
    recorded = subprocess.run([tap.SONDE, "record", "--probes", "trace", "-o", run, "--"] + command + [data],
                              env=dft.environment("off", prefix), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    trace = os.path.join(scratch, "export.pfw")
    subprocess.run([tap.SONDE, "export", "--to", "pfw_" + letter.lower(), "-o", trace, run], check=True)
    problems = dft.differ("status", (logged.returncode, recorded.returncode), (0, 0))
    return dft.records(prefix), dft.lines(trace), problems


def by_name(records, is_wanted):
    found = {}
    for record in records:
        if is_wanted(record):
            found.setdefault(record["name"], []).append(shape(record))
    return {name: sorted(shapes) for name, shapes in found.items()}


def compare(command, letter):
    scratch = os.path.realpath(tempfile.mkdtemp())
    log, export, problems = run_both(scratch, command, letter)
    have, want = by_name(export, dft.is_data), by_name(log, dft.is_data)
    # libdftracer has calls that sonde does not record: those that only ask for a property of a stream.
    both = set(have) & set(want)
    problems += [] if len(both) > 1 else [f"only {both} are in both"]
    for name in sorted(both):
        missing = [line for line in want[name] if line not in have[name]]
        problems += [f"{name}: logged {missing[0]}, exported {have[name][0]}"] if missing else []
    files = by_name(export, lambda r: r["name"] in ("FH", "HH"))
    for kind, lines in by_name(log, lambda r: r["name"] == "HH" or (r["name"] == "FH" and "/data" in r["args"]["name"])).items():
        problems += [f"{kind}: {line} is not exported" for line in lines if line not in files.get(kind, [])]
    shutil.rmtree(scratch)
    return problems


def bounds(letter):
    """`start` and `end` of the process have the same fields, in the same order."""
    scratch = os.path.realpath(tempfile.mkdtemp())
    log, export, problems = run_both(scratch, [CASES, "threads"], letter)
    for name in ("start", "end"):
        have, want = ([[list(r), list(r["args"])] for r in records if r["name"] == name] for records in (export, log))
        # The log's own settings are not in a recording.
        own = {"version", "cwd", "cfg", "build", "used", "app"}
        have, want = ([[head, [key for key in args if key not in own]] for head, args in found] for found in (have, want))
        problems += dft.differ(name, have[:1], want[:1])
    shutil.rmtree(scratch)
    return problems


def main():
    for letter in "CDE":
        dft.check(f"generation {letter}: calls of many kinds", compare([PARITY], letter))
        dft.check(f"generation {letter}: calls of threads", compare([CASES, "threads"], letter))
        dft.check(f"generation {letter}: start and end", bounds(letter))
    return tap.done()


sys.exit(main())
