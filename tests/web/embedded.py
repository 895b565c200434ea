#!/usr/bin/python3
"""A report adds up a window by the rule of doc/format.md, as the engine does: the same rows, summed here by hand."""
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
from windows import by_hand  # noqa: E402
from serving import tap  # noqa: E402

NAMES = ["read", "write", "stat"]


def lane():
    """Rows one after the other, some of no length, some that touch."""
    rows, at = [], random.randrange(100)
    for _ in range(random.randrange(1, 40)):
        start = at + random.choice([0, 0, 1, random.randrange(50)])
        at = start + random.choice([0, 1, random.randrange(200)])
        rows.append([random.randrange(len(NAMES)), start, at])
    return rows


def add(node, lanes, windows):
    source, modules = sys.argv[1:3]
    done = subprocess.run([node, os.path.join(HERE, "embedded.mjs"), source, modules], check=True, capture_output=True,
                          input=json.dumps({"names": NAMES, "lanes": lanes, "windows": windows}).encode(), timeout=tap.LIMIT_SECONDS)
    return json.loads(done.stdout)


def main():
    if not os.path.isdir(os.path.join(sys.argv[2], "node_modules", "esbuild")):
        tap.skip_service("the page was built without npm")
    seed = random.randrange(1 << 32)
    random.seed(seed)
    tap.diag(f"seed {seed}")
    lanes = [lane() for _ in range(4)]
    rows = [{"name": NAMES[n], "ts_ns": a, "dur_ns": b - a} for rows in lanes for n, a, b in rows]
    cuts = sorted(random.sample(range(0, 3000), 12) + [rows[0]["ts_ns"], rows[0]["ts_ns"] + rows[0]["dur_ns"]])
    windows = [[a, b] for a, b in zip(cuts, cuts[1:]) if a < b] + [[cuts[0], cuts[-1]], [0, 10 ** 6]]
    answers = add("node", lanes, windows)
    problems, whole = [], []
    for (low, high), answer in zip(windows, answers):
        got = {r["name"]: (r["count"], 0, round(r["total_ns"])) for r in answer}
        want = by_hand(rows, "name", low, high)
        if got != want:
            problems.append(f"[{low}, {high}): {got}, not {want}")
        for r in answer:
            durations = [x["dur_ns"] for x in rows if x["name"] == r["name"] and low <= x["ts_ns"] < high]
            if [r["min_ns"], r["max_ns"]] != ([min(durations), max(durations)] if durations else [None, None]):
                whole.append(f"[{low}, {high}): {r} of {durations}")
            if durations and abs(r["mean_ns"] - sum(durations) / len(durations)) > 1e-6:
                whole.append(f"[{low}, {high}): the mean {r['mean_ns']} of {durations}")
    tap.check("an item counts where it starts, its time is clipped", problems)
    tap.check("least, longest and mean are of whole durations", whole)
    parts = {}
    for answer in answers[:-2]:
        for r in answer:
            count, total = parts.get(r["name"], (0, 0))
            parts[r["name"]] = (count + r["count"], total + r["total_ns"])
    sums = {r["name"]: (r["count"], r["total_ns"]) for r in answers[-2]}
    tap.check("adjacent windows add up", [] if parts == sums else [f"{parts}, not {sums}"])
    tap.done()


if __name__ == "__main__":
    main()
