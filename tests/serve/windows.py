#!/usr/bin/python3
"""The same window of the same run has the same counts, bytes and time, whoever is asked: the rule of doc/format.md."""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from serving import Server, events, record, tap  # noqa: E402


def run_json(*words):
    return json.loads(subprocess.run([tap.SONDE, *words, "--json"], check=True, capture_output=True,
                                     timeout=tap.LIMIT_SECONDS).stdout)


def by_hand(rows, name, low, high):
    """{name: (rows that start in the window, their bytes, the time inside it)}."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        start, end = row["ts_ns"], row["ts_ns"] + max(0, row["dur_ns"] or 0)
        inside, is_in = max(0, min(end, high) - max(start, low)), low <= start < high
        if is_in or inside:
            one = sums[row[name]]
            one[0] += is_in
            one[1] += is_in * (row.get("bytes") or 0)
            one[2] += inside
    return {key: tuple(value) for key, value in sums.items()}


class Asker:
    def __init__(self, run):
        self.run, self.server = run, Server(run)
        self.start = self.server.api("run")["start_mono_ns"]
        bytes_of = run_json("query", run, "SELECT ts_ns, tid, dur_ns, call, bytes FROM io", "--rows", "0")
        self.calls, self.spans = bytes_of, events(run, "span")

    def truth(self, low, high):
        return by_hand(self.calls, "call", low, high), by_hand(self.spans, "name", low, high)

    def summary(self, low, high):
        out = run_json("summary", self.run, "--roi", f"{low - self.start}ns,{high - self.start}ns", "--top", "1000")
        calls = {r["call"]: (r["count"], r["bytes"], r["total_ns"]) for r in (out["io"] or {}).get("by_call", [])}
        return calls, {r["name"]: (r["count"], 0, r["total_ns"]) for r in (out["spans"] or {}).get("by_name", [])}

    def api_io(self, low, high):
        rows = self.server.api("io", **{"from": low - self.start, "to": high - self.start, "limit": 10000})["calls"]
        return {r["name"]: (r["count"], r["bytes"], r["total_ns"]) for r in rows}, None

    def api_stats(self, low, high):
        rows = self.server.api("stats", **{"from": low - self.start, "to": high - self.start, "limit": 10000})["rows"]
        calls = {r["name"]: (r["count"], None, r["total_ns"]) for r in rows if r["name_id"] & 3 == 1}
        return calls, {r["name"]: (r["count"], 0, r["total_ns"]) for r in rows if r["name_id"] & 3 == 0}

    def functions(self, low, high):
        def stats(table, column, by):
            return {r["key"]: r for r in run_json(
                "query", self.run, f"SELECT key, count, sum FROM stats('{table}', '{column}', '{by}', NULL, {low}, {high})")}
        moved, spent = stats("io", "bytes", "call"), stats("io", "dur_ns", "call")
        calls = {name: (r["count"], moved[name]["sum"] or 0, r["sum"]) for name, r in spent.items()}
        return calls, {name: (r["count"], 0, r["sum"]) for name, r in stats("span", "dur_ns", "name").items()}


def differences(said, want, what):
    problems = []
    for kind, got, truth in zip(("calls", "spans"), said, want):
        if got is None:
            continue
        truth = {n: (c, None if got.get(n, (0, 0, 0))[1] is None else b, t) for n, (c, b, t) in truth.items()}
        got = {n: v for n, v in got.items() if v[0] or v[2] or n in truth}
        if got != truth:
            odd = {n: (got.get(n), truth.get(n)) for n in set(got) | set(truth) if got.get(n) != truth.get(n)}
            problems.append(f"{what}, {kind}: {dict(list(odd.items())[:3])} (answer, truth)")
    return problems


def middles(rows):
    """Times in the middle of a row: a window that starts or ends there cuts it."""
    return [r["ts_ns"] + r["dur_ns"] // 2 for r in rows if (r["dur_ns"] or 0) > 1000]


def main():
    seed = random.randrange(1 << 32)
    random.seed(seed)
    tap.diag(f"seed {seed}")
    with tempfile.TemporaryDirectory() as where:
        run = record(where)
        asker = Asker(run)
        cuts = middles(asker.calls) + middles(asker.spans)
        windows = [tuple(sorted(random.sample(cuts, 2))) for _ in range(4)]
        windows.append((cuts[0], cuts[0] + 1))
        for source in (asker.summary, asker.api_io, asker.api_stats, asker.functions):
            problems = [p for low, high in windows if low < high
                        for p in differences(source(low, high), asker.truth(low, high), f"[{low}, {high})")]
            tap.check(f"{source.__name__} has what starts in a window and the time inside it", problems)
        low, middle, high = sorted(random.sample(cuts, 3))
        for source in (asker.summary, asker.api_io, asker.api_stats, asker.functions):
            parts = [source(low, middle)[0], source(middle, high)[0]]
            whole = source(low, high)[0]
            added = {n: tuple(sum(p.get(n, (0, 0, 0))[i] or 0 for p in parts) for i in range(3)) for n in parts[0] | parts[1]}
            wrong = {n: (added.get(n), v) for n, v in whole.items() if added.get(n) != tuple(x or 0 for x in v)}
            tap.check(f"{source.__name__}: adjacent windows add up", [f"{wrong} (parts, whole)"] if wrong else [])
        asker.server.stop()
    tap.done()


if __name__ == "__main__":
    main()
