#!/usr/bin/python3
"""A test for each thing that DFTracer got wrong in C: none of it is wrong here."""
import os
import shutil
import sys
import tempfile

import dft
import tap

CASES, FUNCTIONS = os.environ["CASES"], os.environ["FUNCTIONS"]


class Run:
    """One case, traced; everything goes away with it."""

    def __init__(self, case, mode="function", **more):
        self.scratch = os.path.realpath(tempfile.mkdtemp())
        self.data = os.path.join(self.scratch, "data")
        os.mkdir(self.data)
        self.prefix = os.path.join(self.scratch, "trace")
        self.done = dft.run([CASES, case, self.data], mode, self.prefix, **more)
        self.names = None
        self.problems = dft.differ("status", self.done.returncode, 0)
        if self.done.stderr:
            self.problems.append(f"stderr {self.done.stderr[:200]!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch)

    def events(self, name=None):
        return [e for e in dft.events(self.prefix) if name in (None, e["name"])]

    def path(self, event):
        self.names = self.names or dft.names(self.prefix)
        full = self.names.get(event["args"].get("fhash"), "?")
        return full[len(self.data) + 1:] if full.startswith(self.data + "/") else full

    def want(self, what, have, want):
        self.problems += dft.differ(what, have, want)


def escaping():
    with Run("escape") as run:
        quoted = run.events("quoted")[0]["args"]
        run.want("argument", quoted['a"b\\c'], "line\nbreak \"quoted\" \\ \t \x01 (p|q) 'r'")
        run.want("bytes", quoted["bytes"], "bad \udcff\udcc3 utf8 \u20ac")
        meta = [r["args"] for r in dft.records(run.prefix) if r["name"] == "CM"][0]
        run.want("metadata", (meta["name"], meta["value"]), ('key "k"', "value\n\\"))
        run.want("file name", run.path(run.events("open")[0]), 'new\nline "name" \\ (x)')
        return run.problems


def strict_names():
    with Run("escape", SONDE_DFTRACER_STRICT="1", DFTRACER_DATA_DIR="all") as run:
        run.want("file name", run.path(run.events("open")[0]).count("\\") + run.path(run.events("open")[0]).count("("), 0)
        return run.problems


def long_arguments():
    text = "".join(chr(ord("a") + i % 26) for i in range(200000))
    with Run("long") as run:
        args = run.events("long_one")[0]["args"]
        run.want("text", args["text"] == text, True)
        run.want("its neighbours", (args["before"], args["after"]), (1, 2))
        logged = run.events("logged")[0]["args"]
        run.want("of a binding", (logged["text"] == text, logged["real"]), (True, 0.1))
        return run.problems


def thread_nesting():
    with Run("threads") as run:
        outer = {e["tid"]: e for e in run.events("outer")}
        run.want("threads", len(outer), 4)
        run.want("levels of outer", {e["args"]["level"] for e in outer.values()}, {1})
        inner = {e["id"]: e for e in run.events("inner")}
        run.want("inner", len(inner), 2000)
        run.want("inner in its own thread's outer",
                 all(e["args"]["p_idx"] == outer[e["tid"]]["id"] and e["args"]["level"] == 2 for e in inner.values()), True)
        writes = run.events("write")
        run.want("writes", len(writes), 2000)
        run.want("writes in their own thread's inner",
                 all(inner[e["args"]["p_idx"]]["tid"] == e["tid"] and e["args"]["level"] == 3 for e in writes), True)
        ids = [r["id"] for r in dft.records(run.prefix)]
        run.want("ids are unique", len(ids), len(set(ids)))
        return run.problems


def aliased_descriptors():
    with Run("aliases") as run:
        run.want("writes", [(run.path(e), e["args"]["ret"]) for e in run.events("write")], [("a", 1), ("b", 2)])
        return run.problems


def streams_of_threads():
    with Run("streams") as run:
        for name in ("fopen", "fwrite", "fclose"):
            found = {}
            for event in run.events(name):
                found.setdefault(run.path(event), []).append(event)
            run.want(name, {path: len(events) for path, events in found.items()}, {f"stream{i}": 100 for i in range(4)})
            run.want(f"threads of {name}", [len({e["tid"] for e in events}) for events in found.values()], [1] * 4)
        run.want("sizes", {run.path(e): e["args"]["ret"] for e in run.events("fwrite")}, {f"stream{i}": i + 1 for i in range(4)})
        return run.problems


def short_calls():
    """Calls that take less than a microsecond have a duration where the log counts nanoseconds, and begin in order."""
    with Run("values", DFTRACER_TIME_METRIC="NS") as run:
        found = run.events("lseek") + run.events("read") + run.events("write")
        run.want("durations", [e["dur"] > 0 for e in found], [True] * 3)
        run.want("order", [e["name"] for e in sorted(found, key=lambda e: e["ts"])], ["write", "lseek", "read"])
        return run.problems


def aggregated_without_metadata():
    """Release 2.0.2 crashes here."""
    with Run("threads", DFTRACER_INC_METADATA="0", DFTRACER_ENABLE_AGGREGATION="1", DFTRACER_TRACE_INTERVAL_MS="60000") as run:
        sums = [r["args"] for r in dft.records(run.prefix) if r["ph"] == "C" and r["name"] == "write"]
        run.want("writes", sum(s["dft_cnt"] for s in sums), 2000)
        run.want("merged", len(sums) < 200, True)
        return run.problems


def at_identity():
    with Run("at") as run:
        run.want("openat", run.path(run.events("openat")[0]), "below")
        run.want("write", run.path(run.events("write")[0]), "below")
        return run.problems


def duplicates():
    with Run("duplicates") as run:
        run.want("writes", [run.path(e) for e in run.events("write")], ["original"] * 4)
        return run.problems


def relative_paths(**more):
    with Run("relative", **more) as run:
        run.want("opens", [run.path(e) for e in run.events("open")], ["here", "sub/there"])
        run.want("stat on this glibc", [run.path(e) for name in ("stat", "lstat", "fstatat", "access") for e in run.events(name)],
                 ["here"] * 4)
        return run.problems


def values():
    with Run("values") as run:
        def of(name, *keys):
            return [tuple(e["args"].get(k) for k in keys) for e in run.events(name)]
        run.want("open", of("open", "ret", "flags", "mode", "errno")[0][1:], (0o102, 0o640, None))
        run.want("failed open", of("open", "ret", "errno")[1], (-1, 2))
        run.want("write", of("write", "ret", "count", "offset"), [(100, 100, 0)])
        run.want("pwrite", of("pwrite", "ret", "count", "offset"), [(50, 50, 1 << 40)])
        run.want("lseek", of("lseek", "ret", "offset", "whence"), [(10, 10, 0)])
        run.want("read", of("read", "ret", "count", "offset"), [(30, 30, 10)])
        known = dft.names(run.prefix)
        renamed = run.events("rename")[0]["args"]
        run.want("rename", [os.path.basename(known[renamed[k]]) for k in ("fhash", "newpath")], ["values", "renamed"])
        return run.problems


def entities():
    with Run("entities", DFTRACER_FORMAT="E", DFTRACER_TRACE_COMPRESSION="0") as run:
        found = dft.records(run.prefix)
        kinds = {k: [r["args"] for r in found if r["name"] == k] for k in ("EH", "ET", "ER")}
        run.want("records", {k: len(v) for k, v in kinds.items()}, {"EH": 2, "ET": 1, "ER": 1})
        ids = {e["type"]: e["id"] for e in kinds["EH"]}
        run.want("an id is FNV-1a of type and key", ids["shard"], f"{fnv('shard', '1'):016x}")
        relation = kinds["ER"][0]
        run.want("ER", (relation["relation"], relation["subject"], relation["object"]), (16, ids["model"], ids["shard"]))
        args = run.events("entities")[0]["args"]
        run.want("relations", args["relations"], {"used": [ids["shard"], ids["model"]], "generated": [ids["model"]]})
        end = found[-1]["args"]
        run.want("app", end["app"], {"batch": 32, "model": 'res"net'})
        run.want("used", (end["used"].get("torch"), end["used"].get("C_APP")), (1, 1))
        return run.problems


def fnv(kind, key):
    value = 1469598103934665603
    for byte in kind.encode() + b"\x1f" + key.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def begun_again():
    with Run("again") as run:
        run.want("opens", [run.path(e) for e in run.events("open")], ["first", "second"])
        run.want("logs", len(dft.logs(run.prefix)), 1)
        return run.problems


def fork_inside_region():
    with Run("forked") as run:
        by_log = [dft.histogram(e for e in dft.lines(path) if dft.is_data(e)) for path in dft.logs(run.prefix)]
        run.want("logs", len(by_log), 2)
        run.want("the region is its beginner's", sorted(h.get("around", 0) for h in by_log), [0, 1])
        write = run.events("write")[0]
        run.want("the child's write", (run.path(write), write["args"]["p_idx"], write["args"]["level"]), ("inherited", -1, 1))
        own = run.events("own")[0]
        run.want("the child's region", (own["args"]["level"], own["pid"] == write["pid"]), (1, True))
        return run.problems


def ended_out_of_order():
    with Run("order") as run:
        run.want("levels", {e["name"]: e["args"]["level"] for e in run.events()}, {"a": 1, "b": 2, "after": 1})
        return run.problems


def left_by_return():
    with Run("early") as run:
        run.want("events", [e["name"] for e in run.events()], ["early_return"])
        return run.problems


def exec_arguments(mode):
    with Run("execl", mode) as run:
        run.want("what the children print", run.done.stdout, b'one two thr"ee  four\na|b c|')
        return run.problems


def failed_execs(letter):
    """One line for each exec: a failure with its error, the last one as an attempt; arguments up to the sixth."""
    with Run("execs", DFTRACER_FORMAT=letter, DFTRACER_TRACE_COMPRESSION="0") as run:
        found = [e for e in run.events() if e["name"].startswith("exec")]
        run.want("calls", [(e["name"], e["args"].get("ret"), e["args"].get("errno")) for e in found],
                 [("execv", -1, 2), ("execvp", -1, 2), ("execve", -1, 8), ("execl", None, None)])
        strings = {r["args"]["value"]: r["args"]["name"] for r in dft.records(run.prefix) if r["name"] == "SH"}
        shown = [[a if letter == "C" else strings.get(a) for a in (e["args"].get(f"arg{i}") for i in range(7)) if a is not None]
                 for e in found]
        six = ["arg zero", 'one "quoted"', "2", "3", "4", "5"]
        run.want("arguments", shown, [six, six, six, ["true", "last"]])
        run.want("paths", [run.path(e) for e in found], ["missing", "?", "no program", "/bin/true"])
        run.want("what comes between", len([e for e in run.events("open") if run.path(e) == "behind"]), 1)
        every = dft.records(run.prefix)
        run.want("the end", (every[-1]["name"], every[-1]["args"]["num_events"]), ("end", len(run.events())))
        return run.problems


def functions():
    scratch = tempfile.mkdtemp()
    prefix = os.path.join(scratch, "trace")
    done = dft.run([FUNCTIONS], "function", prefix)
    found = [e for e in dft.events(prefix) if e["cat"] == "FUNC"]
    problems = dft.differ("status", done.returncode, 0)
    problems += dft.differ("calls", dft.histogram(found), {"fibonacci": 25, "twice": 1})
    problems += dft.differ("levels", sorted({e["args"]["level"] for e in found if e["name"] == "fibonacci"}), [1, 2, 3, 4, 5, 6])
    problems += dft.differ("objects", {os.path.basename(e["args"]["so"]) for e in found}, {os.path.basename(FUNCTIONS)})
    shutil.rmtree(scratch)
    return problems


def killed_children():
    """A worker that was killed: its parent finishes the log."""
    scratch = tempfile.mkdtemp()
    prefix = os.path.join(scratch, "trace")
    done = dft.run([os.environ["VICTIM"], "fork-kill", os.path.join(scratch, "out")], "preload", prefix)
    problems = dft.differ("status", done.returncode, 0) + dft.differ("left over", dft.rings(prefix), [])
    ends = [dft.lines(path)[-1] for path in dft.logs(prefix)]
    problems += dft.differ("ends", [end["name"] for end in ends], ["end"] * len(ends))
    problems += dft.differ("recovered", any(end["args"].get("recovered") for end in ends), True)
    announced = sum(int(line.split()[1]) for line in done.stdout.decode().splitlines())
    problems += dft.differ("writes", sum(e["name"] == "write" for e in dft.events(prefix) if "fhash" in e["args"]), announced)
    shutil.rmtree(scratch)
    return problems


def data_directories():
    with Run("values", DFTRACER_DATA_DIR="/nowhere/at/all") as run:
        run.want("nothing there", [run.path(e) for e in run.events() if "fhash" in e["args"]], [])
    with Run("values") as other:
        other.want("unset is everything", len(other.events("write")), 1)
        return run.problems + other.problems


def set_clock():
    """The time of day jumps by an hour again and again; the case makes calls in threads for less than a minute."""
    with Run("threads", LD_PRELOAD=os.environ["STEPPING_CLOCK"]) as run:
        events = run.events()
        begins, lasts = [e["ts"] for e in events], [e["dur"] for e in events]
        run.want("events", len(events) > 10, True)
        run.want("durations", [d for d in lasts if not 0 <= d < 60e6], [])
        run.want("all in one minute", max(begins) - min(begins) < 60e6, True)
        return run.problems


def main():
    tap.check("every line is JSON, names and texts come back whole", escaping())
    tap.check("strict: characters that DFTracer replaces", strict_names())
    tap.check("a text of 200 KB", long_arguments())
    tap.check("each thread nests for itself", thread_nesting())
    tap.check("descriptors 1024 apart are two", aliased_descriptors())
    tap.check("streams of several threads", streams_of_threads())
    tap.check("calls shorter than a microsecond", short_calls())
    tap.check("a clock that is set while it runs", set_clock())
    tap.check("aggregation without metadata", aggregated_without_metadata())
    tap.check("openat is about the file, not the directory", at_identity())
    tap.check("dup, dup2, dup3 and F_DUPFD keep the file", duplicates())
    tap.check("relative paths, and stat of glibc since 2.33", relative_paths())
    tap.check("relative paths below a DATA_DIR", relative_paths(DFTRACER_DATA_DIR="/nowhere:" + os.path.realpath(tempfile.gettempdir())))
    tap.check("DATA_DIR", data_directories())
    tap.check("values: results, counts, offsets, errors", values())
    tap.check("entities and facts", entities())
    tap.check("finalize and initialize again", begun_again())
    tap.check("a fork inside a region", fork_inside_region())
    tap.check("children that were killed", killed_children())
    tap.check("regions ended out of order", ended_out_of_order())
    tap.check("a function left by return", left_by_return())
    for mode in ("function", "preload"):
        tap.check(f"{mode}: arguments of execl and execlp", exec_arguments(mode))
    for letter in "CD":
        tap.check(f"exec that fails, generation {letter}", failed_execs(letter))
    tap.check("functions, and their recursion", functions())
    return tap.done()


sys.exit(main())
