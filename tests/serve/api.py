#!/usr/bin/python3
"""The API of `sonde view` against what `sonde events` prints of the same run."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from serving import Server, decode_slices, events, record, tap  # noqa: E402

SLACK_NS = 2000  # stamps of one instant may differ by the clock's slack at either end


def boxes(run, start):
    """(name, start, end) of every call and span, since the start."""
    rows = [(e["name"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)) for e in events(run, "span")]
    return rows + [(e["call"], e["ts_ns"] - start, e["ts_ns"] - start + (e["dur_ns"] or 0)) for e in events(run, "io")]


def check_stats(server, all_boxes, marks, low, high):
    problems = []
    said = {}
    for row in server.api("stats", **{"from": low, "to": high, "limit": 10000})["rows"]:
        said[row["name"]] = said.get(row["name"], 0) + row["total_ns"]
    want, may_differ = {}, {}
    for name, begin, end in all_boxes:
        may_differ[name] = may_differ.get(name, 0) + SLACK_NS
        want[name] = want.get(name, 0) + max(0, min(end, high) - max(begin, low))
    for name, total in want.items():
        if abs(said.get(name, 0) - total) > may_differ[name]:
            problems.append(f"{name}: {said.get(name, 0)} ns in [{low}, {high}), not {total}")
    strangers = set(said) - set(want) - set(marks)
    return problems + [f"names from nowhere: {strangers}"] * bool(strangers)


def check_whole(server, all_boxes, marks):
    counts = {}
    for name, _, _ in all_boxes:
        counts[name] = counts.get(name, 0) + 1
    for name in marks:
        counts[name] = counts.get(name, 0) + 1
    said = {}
    for row in server.api("stats", limit=10000)["rows"]:
        said[row["name"]] = said.get(row["name"], 0) + row["count"]
    return [] if said == counts else [f"{said} is not {counts}"]


def check_event(server, run, start):
    truth = [e for e in events(run, "span") if e["name"] == "needle"][0]
    hit = server.api("search", text="needle")["events"]
    if len(hit) != 1:
        return [f"needle was found {len(hit)} times"]
    got = server.api("event", lane=hit[0]["lane"], at=hit[0]["start_ns"])
    problems = []
    for key, value in {"ts_ns": truth["ts_ns"] - start, "dur_ns": truth["dur_ns"], "tid": truth["tid"], "name": "needle"}.items():
        if got["row"].get(key) != value:
            problems.append(f"{key} is {got['row'].get(key)}, not {value}")
    return problems


def check_flame(server, all_boxes):
    flame = server.api("flame")
    nodes = flame["nodes"]
    problems = []
    children = [0] * len(nodes)
    for parent, _, _, total in nodes[1:]:
        children[parent] += total
    for i, (_, _, _, total) in enumerate(nodes):
        if children[i] > total:
            problems.append(f"the children of node {i} have {children[i]} ns, it has {total}")
    ids = {row[1]: row[0] for row in server.api("names", ids=",".join(str(n[1]) for n in nodes[1:]))}
    outer = sum(n[3] for n in nodes if n[1] == ids["outer"])
    want = sum(end - begin for name, begin, end in all_boxes if name == "outer")
    if abs(outer - want) > SLACK_NS * 20:
        problems.append(f"outer has {outer} ns, not {want}")
    first = [n for n in nodes if n[1] == ids["first half"]]
    if not first or any(nodes[n[0]][1] != ids["outer"] for n in first):
        problems.append("'first half' is not inside 'outer'")
    return problems


def check_slices(server, all_boxes):
    tracks = server.api("tracks")
    lanes = [lane for p in tracks["processes"] for t in p["threads"] for lane in t["lanes"] if lane["kind"] == "slices"]
    problems = []
    for bin_ns in (8, 64, 4096, 1 << 20):
        duration = tracks["duration_ns"]
        top = min(duration, bin_ns * 16000)
        _, _, body = server.ask(f"/api/slices?from=0&to={top}&bin={bin_ns}&lanes=" + ",".join(str(x["lane"]) for x in lanes))
        for lane, rows in decode_slices(body).items():
            last = -1
            for begin, end, _, busy, is_cell in rows:
                if begin < last or end <= begin or not busy or (is_cell and end - begin > 16 * bin_ns):
                    problems.append(f"bin {bin_ns}, lane {lane}: {begin} to {end} after {last}")
                last = end
    # Slices of two bins are always drawn for themselves; of one, where there are fewer than bins.
    least, most = (sum(1 for _, begin, end in all_boxes if end - begin >= bins << 20) for bins in (2, 1))
    _, _, body = server.ask(f"/api/slices?bin={1 << 20}&lanes=" + ",".join(str(x["lane"]) for x in lanes))
    drawn = sum(1 for rows in decode_slices(body).values() for r in rows if not r[4])
    if drawn < least - 1 or drawn > most + 1:  # one may be a microsecond longer or shorter than the bin
        problems.append(f"{drawn} slices of at least a bin, not {least} to {most}")
    return problems


REFUSED = [
    "slices?from=0&to=9000000000000000000&bin=8&lanes=0", "slices?bin=7&lanes=0", "slices?bin=0&lanes=0", "slices?lanes=0-999999",
    "slices?lanes=99999999999999999999", "slices?lanes=x", "slices?lanes=1;2", "slices?from=5&to=5&lanes=0", "slices?from=x&lanes=0",
    "event?lane=-1&at=0", "event?lane=999999&at=0", "event?at=0", "search", "search?text=", "search?text=a&limit=100000000",
    "stats?limit=0", "stats?from=1e3", "flame?source=elsewhere", "flame?process=-5", "names?ids=,", "names?ids=" + "1," * 5000 + "1",
    "io?from=9223372036854775807", "counters?lanes=0-5000",
]


def check_counters(server, run, start):
    """Of random windows: the readings in it, one before and one after, whatever the zoom."""
    tracks = server.api("tracks")["processes"]
    lanes = {lane["name"]: lane["lane"] for p in tracks for t in p["threads"] for lane in t["lanes"]
             if lane["kind"] == "counter" and p.get("process") is None}
    truth = {}
    for row in events(run, "counter"):
        if row["name"] in lanes and row["pid"] is None:
            truth.setdefault(row["name"], []).append((row["ts_ns"] - start, row["value"]))
    problems = [] if lanes and truth else ["there are no counters of the machine"]
    for name in random.sample(sorted(truth), min(8, len(truth))):
        points = sorted(truth[name])
        for _ in range(10):
            low = random.randrange(points[0][0] - 1000, points[-1][0] + 1000)
            high = low + random.choice([8, 4000, 10**6, 10**8])
            low, high = max(0, low), max(8, high)
            got = server.api("counters", **{"from": low, "to": high, "bin": 8 * max(1, (high - low) // 16000), "lanes": lanes[name]})[0]["points"]
            times = [p[0] for p in got]
            before, after = [p for p in points if p[0] < low], [p for p in points if p[0] >= high]
            if times != sorted(times):
                problems.append(f"{name}: not in order: {times}")
            if before and (not got or (got[0][0], got[0][3]) != before[-1]):
                problems.append(f"{name}: before {low} it was {before[-1]}, not {got[:1]}")
            if after and (not got or (got[-1][0], got[-1][3]) != after[0]):
                problems.append(f"{name}: after {high} it was {after[0]}, not {got[-1:]}")
    return problems


def check_refused(server):
    problems = []
    for path in REFUSED:
        status, _, body = server.ask("/api/" + path)
        if status != 400 or b'"error"' not in body:
            problems.append(f"{path[:60]}: {status} {body[:80]}")
    return problems


def check_report(run, where):
    path = os.path.join(where, "r.html")
    subprocess.run([tap.SONDE, "report", "-o", path, run], check=True, stdout=subprocess.DEVNULL, timeout=tap.LIMIT_SECONDS)
    text = open(path, encoding="utf-8").read()
    problems = []
    if "<img" in text:
        problems.append("a name of the run is markup in the report")
    if text.count("</script") != 2:
        problems.append(f"{text.count('</script')} script ends")
    if 'src="http' in text or 'href="http' in text or "@import" in text:
        problems.append("the report loads from elsewhere")
    return problems


def check_cache(run):
    problems = []
    kept = os.path.join(run, "pyramid", "lanes.pyr")
    if not os.path.exists(kept):
        problems.append("the first view kept no pyramid")
    subprocess.run([tap.SONDE, "clean", run], check=True, stdout=subprocess.DEVNULL)
    if os.path.exists(kept):
        problems.append("sonde clean left the pyramid")
    subprocess.run([tap.SONDE, "preprocess", run], check=True, stdout=subprocess.DEVNULL)
    if os.stat(kept).st_mode & 0o77:
        problems.append("others can read the pyramid")
    return problems


def check_damaged_cache(run):
    """A pyramid that is not whole is made anew."""
    kept = os.path.join(run, "pyramid", "lanes.pyr")
    with open(kept, "r+b") as f:
        f.truncate(os.path.getsize(kept) // 2)
    server = Server(run)
    names = server.api("stats")["names"]
    server.stop()
    return [] if names > 3 else ["the damaged pyramid was believed"]


def main():
    with tempfile.TemporaryDirectory() as where:
        run = record(where)
        server = Server(run)
        info = server.api("run")
        start, duration = info["start_mono_ns"], info["duration_ns"]
        all_boxes, marks = boxes(run, start), [m["name"] for m in events(run, "mark")]
        tap.check("statistics of the whole run are what the tables hold", check_whole(server, all_boxes, marks))
        seed = random.randrange(1 << 32)
        tap.diag(f"seed {seed}")
        random.seed(seed)
        problems = []
        for _ in range(20):
            low = random.randrange(0, duration - 1)
            problems += check_stats(server, all_boxes, marks, low, random.randrange(low + 1, duration + 1))
        tap.check("statistics of random windows are an independent sum", problems)
        tap.check("an event is found by name and shown as its row", check_event(server, run, start))
        tap.check("the flame graph conserves time and nests", check_flame(server, all_boxes))
        tap.check("slices are in order at every resolution", check_slices(server, all_boxes))
        tap.check("counters are known at every instant of a window", check_counters(server, run, start))
        steps = server.api("steps")["steps"]
        tap.check("steps are all there", [] if [s[2] for s in steps] == list(range(20)) else [str(steps)])
        io = {f["name"]: f["bytes"] for f in server.api("io", limit=10000)["files"]}
        written = io.get(os.path.join(os.path.realpath(where), "data"), io.get(os.path.join(where, "data")))
        tap.check("bytes are counted by file", [] if written == 20 * 10 * 4096 else [f"{written} bytes"])
        tap.check("the summary is that of sonde summary", [] if server.api("summary")["wall_ns"] == duration else ["another wall"])
        tap.check("questions beyond all bounds are refused", check_refused(server))
        paths = ["/", "/app.js", "/app.css", "/cpu-report.html", "/gpu-report.html"]
        bad = [p for p in paths if server.ask(p)[0] != 200]
        tap.check("the page and SOFA's names of it are served", bad)
        status = server.stop()
        tap.check("it ends when it is told to", [] if status == 0 else [f"status {status}"])
        tap.check("the report holds the run and nothing foreign", check_report(run, where))
        tap.check("the pyramid is kept, cleaned and made", check_cache(run))
        tap.check("a damaged pyramid is made anew", check_damaged_cache(run))
    sys.exit(tap.done())


main()
