#!/usr/bin/python3
"""The generations that can be written, plain and compressed; `sonde import` makes runs of them with the right rows."""
import gzip
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import dft
import tap

CASES = os.environ["CASES"]


def hash_c(text):
    return int("".join(f"{byte >> 4:x}" for byte in hashlib.md5(text.encode()).digest()), 16)


def hash_d(text):
    return hashlib.md5(text.encode()).digest()[0:15:2].hex()


def traced(**more):
    scratch = os.path.realpath(tempfile.mkdtemp())
    os.mkdir(os.path.join(scratch, "data"))
    prefix = os.path.join(scratch, "trace")
    done = dft.run([CASES, "threads", os.path.join(scratch, "data")], "function", prefix, **more)
    return scratch, prefix, dft.differ("status", done.returncode, 0)


def hashes(records, make):
    """Every FH, SH and HH is the hash of its name, and every event's host and file are among them."""
    problems, known = [], set()
    for record in records:
        if record["name"] in ("FH", "SH", "HH"):
            known.add(record["args"]["value"])
            problems += dft.differ(record["name"], record["args"]["value"], make(record["args"]["name"]))
    host = make(socket.gethostname())
    for record in records:
        if record.get("args", {}).get("hhash") != host:
            problems.append(f"host of {record}")
        file = record["args"].get("fhash")
        if file is not None and file not in known:
            problems.append(f"unannounced file of {record}")
    return problems[:3]


def generation(letter, is_gzip):
    scratch, prefix, problems = traced(DFTRACER_FORMAT=letter, DFTRACER_TRACE_COMPRESSION="1" if is_gzip else "0")
    log = dft.logs(prefix)[0]
    found = dft.lines(log)
    problems += dft.differ("ending", log.endswith(".gz"), is_gzip)
    problems += hashes(found, hash_c if letter == "C" else hash_d)
    problems += dft.differ("brackets", dft.text(log)[:1] == b"[", letter != "E")
    problems += dft.differ("phases", {r["ph"] for r in found}, {1, 4} if letter == "E" else {"X", "M"})
    problems += dft.differ("types", {type(r.get("type")) for r in found}, {int if letter == "E" else type(None)})
    problems += dft.differ("ids of metadata", any("id" in r for r in found if r["name"] == "FH"), letter != "E")
    pid, exe = str(found[0]["pid"]), os.path.basename(CASES)
    own = f"-{exe}-{pid}" if letter == "C" else "-" + hash_d(f"{exe}-{socket.gethostname()}-{pid}")
    problems += dft.differ("name", os.path.basename(log), "trace" + own + "-app.pfw" + (".gz" if is_gzip else ""))
    end = found[-1]
    problems += dft.differ("num_events", end["args"]["num_events"], sum(dft.is_data(r) for r in found))
    if letter == "E":
        problems += dft.differ("facts", sorted(set(end["args"]) & {"cfg", "build", "used", "app"}), ["app", "build", "cfg", "used"])
    if is_gzip:
        problems += members(log)
    problems += imported(scratch, log, found)
    shutil.rmtree(scratch)
    return problems


def members(log):
    """Each gzip member is whole lines."""
    with open(log, "rb") as file:
        raw = file.read()
    count = 0
    while raw:
        inflater = gzip.zlib.decompressobj(wbits=31)
        text = inflater.decompress(raw)
        count += 1
        if not inflater.eof or (inflater.unused_data and not text.endswith(b"\n")):
            return [f"member {count} ends inside of a line"]
        raw = inflater.unused_data
    return dft.differ("members", count > 1, True)


def imported(scratch, log, found):
    run = os.path.join(scratch, "run")
    done = subprocess.run([tap.SONDE, "import", log, "-o", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=dft.LIMIT,
                          check=False)
    if done.returncode:
        return [f"import: {done.stderr.decode()[:300]}"]
    path = os.path.join(scratch, "data", "shared")
    writes = [r for r in tap.events(run) if r["call"] == "write"]
    spans = tap.events(run, "span")
    problems = dft.differ("imported writes", len([r for r in writes if r["path"] == path and r["ret"] == 1 and r["size"] == 1]), 2000)
    problems += dft.differ("imported spans", len([s for s in spans if s["name"] in ("inner", "outer")]), 2004)
    problems += dft.differ("threads", len({r["tid"] for r in writes}), 4)
    problems += dft.differ("times", sorted(e["dur"] for e in found if e["name"] == "outer"),
                           sorted(s["dur_ns"] // 1000 for s in spans if s["name"] == "outer"))
    checked = subprocess.run([tap.SONDE, "trace", "validate", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=dft.LIMIT, check=False)
    return problems + dft.differ("validate", checked.returncode, 0)


def main():
    for letter in "CDE":
        for is_gzip in (False, True):
            tap.check(f"generation {letter}, {'compressed' if is_gzip else 'plain'}", generation(letter, is_gzip))
    return tap.done()


sys.exit(main())
