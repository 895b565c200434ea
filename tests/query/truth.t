#!/bin/bash
# What SQL answers is what Python computes from `sonde events --json` by itself.
. "$(dirname "$0")/../lib/tap.sh"

cat >program.py <<'PY'
import os, threading
def work(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
    for i in range(300):
        os.pwrite(fd, b"x" * (i % 50 + 1), i * 64)
        os.pread(fd, 32, i * 64)
        os.stat(name)
    os.close(fd)
    try:
        os.open("/nonexistent/%s" % name, os.O_RDONLY)
    except FileNotFoundError:
        pass
threads = [threading.Thread(target=work, args=("f%d" % k,)) for k in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
PY
"$SONDE" record -q -o r -- /usr/bin/python3 program.py
"$SONDE" events r --json >events.json

# Each question, and the same in Python over the events.
cat >check.py <<'PY'
import collections, json, math, subprocess, sys
sonde = sys.argv[1]
events = [json.loads(line) for line in open("events.json")]

def ask(sql, *options):
    out = subprocess.run([sonde, "query", "r", sql, "--json", *options], capture_output=True, check=True)
    return json.loads(out.stdout)

def check(name, is_fine, detail=""):
    print(("ok" if is_fine else "not ok"), name, "" if is_fine else detail)

def union(rows):
    total, end = 0, -1
    for ts, dur in sorted((e["ts_ns"], e["dur_ns"]) for e in rows if e["dur_ns"]):
        total += max(0, ts + dur - max(ts, end))
        end = max(end, ts + dur)
    return total

def durs(rows):
    return [e["dur_ns"] for e in rows if e["dur_ns"] is not None]

by_call = collections.defaultdict(list)
for e in events:
    by_call[e["call"]].append(e)

check("count", ask("SELECT count(*) n FROM io")[0]["n"] == len(events))
got = ask("SELECT call, count(*) n, sum(dur_ns) s, min(dur_ns) lo, max(dur_ns) hi FROM io GROUP BY call ORDER BY call")
by_call = {c: v for c, v in by_call.items() if durs(v)}
got = [r for r in got if r["call"] in by_call]
want = [{"call": c, "n": len(v), "s": sum(durs(v)), "lo": min(durs(v)), "hi": max(durs(v))}
        for c, v in sorted(by_call.items())]
check("a group-by in SQL", got == want)
got = [r for r in ask("SELECT key AS call, count AS n, sum AS s, min AS lo, max AS hi FROM stats('io', 'dur_ns', 'call') "
                      "ORDER BY key") if r["call"] in by_call]
check("a group-by of the engine", got == want, (got, want))
for p in (0, 0.25, 0.5, 0.99, 1):
    for call, rows in by_call.items():
        values = sorted(durs(rows))
        exact = values[math.floor(p * (len(values) - 1))]
        got = ask(f"SELECT quantile(dur_ns, {p}) q FROM io WHERE call = '{call}'")[0]["q"]
        near = [r["value"] for r in ask(f"SELECT * FROM quantile('io', 'dur_ns', {p}, 'call')") if r["key"] == call][0]
        if got != exact or abs(near - exact) > exact / 256 + 1:
            check("quantiles", False, (p, call, got, near, exact))
            break
    else:
        continue
    break
else:
    check("quantiles of each call, exact in SQL and within 1/256 of the engine", True)
check("a union in SQL", ask("SELECT union_ns(ts_ns, dur_ns) u FROM io")[0]["u"] == union(events))
check("a union of the engine", ask("SELECT union_ns u FROM union_ns('io')")[0]["u"] == union(events))
got = {r["key"]: r["union_ns"] for r in ask("SELECT * FROM union_ns('io', 'tid')")}
tids = {e["tid"] for e in events}
check("unions by thread", got == {t: union([e for e in events if e["tid"] == t]) for t in tids})
times = sorted(e["ts_ns"] for e in events)
lo, hi = times[len(times) // 3], times[2 * len(times) // 3]
for condition, keep in ((f"ts_ns >= {lo} AND ts_ns < {hi}", lambda e: lo <= e["ts_ns"] < hi),
                        (f"ts_ns > {lo}.5 AND ts_ns <= {hi}", lambda e: lo + .5 < e["ts_ns"] <= hi),
                        (f"ts_ns = {lo}", lambda e: e["ts_ns"] == lo),
                        (f"ts_ns BETWEEN {hi} AND {lo}", lambda e: False),
                        (f"tid = {min(tids)} AND call = 'pread64'", lambda e: e["tid"] == min(tids) and e["call"] == "pread64"),
                        ("call = 'no such call'", lambda e: False),
                        ("call = 'PREAD64' COLLATE NOCASE", lambda e: e["call"] == "pread64"),
                        (f"tid = '{min(tids)}'", lambda e: e["tid"] == min(tids)),
                        ("errnum <> 0", lambda e: e["error"]),
                        ("tid = NULL", lambda e: False),
                        ("fd IS NULL", lambda e: e["fd"] is None)):
    got = ask(f"SELECT count(*) n FROM io WHERE {condition}")[0]["n"]
    check(f"WHERE {condition}", got == sum(1 for e in events if keep(e)), got)
paths = collections.Counter(e["path"] for e in events if e["path"])
got = {r["path"]: r["calls"] for r in ask("SELECT path, calls FROM files")}
check("the view files", got == paths)
got = {r["key"]: r["count"] for r in ask("SELECT key, count FROM stats('io', 'dur_ns', 'path')") if r["key"]}
check("groups by path", got == paths)
check("bytes", ask("SELECT sum(bytes) b FROM calls WHERE call = 'pwrite64'")[0]["b"] == 4 * sum(i % 50 + 1 for i in range(300)))
buckets = ask("SELECT * FROM buckets('io', 7)")
check("buckets hold all", sum(b["count"] for b in buckets) == len(events))
check("and each what begins in it", all(b["count"] == sum(b["from_ns"] <= t < b["to_ns"] for t in times) for b in buckets))
got = ask("SELECT count(*) n FROM io JOIN process ON process.process = io.process WHERE exe LIKE '%python%'")[0]["n"]
check("a join on an id", got == len(events), got)
got = ask("SELECT count(*) n FROM io JOIN file ON file.file = io.file WHERE file.path LIKE '%/f2'")[0]["n"]
check("a join on files", got == sum(n for p, n in paths.items() if p.endswith("/f2")), got)
if ask("SELECT count(*) n FROM sample")[0]["n"]:
    got = ask("SELECT (SELECT sum(self_ns) FROM functions) a, (SELECT sum(weight_ns) FROM sample WHERE stack IS NOT NULL) b")[0]
    check("functions sum to the samples", got["a"] == got["b"], got)
    got = ask("SELECT count(*) n FROM functions WHERE total_ns < self_ns")[0]["n"]
    check("no function is longer by itself than with what it called", got == 0)
if ask("SELECT count(*) n FROM sched")[0]["n"]:
    got = ask("SELECT t.tid, max(0, min(coalesce(t.end_ns, r.end_ns), r.end_ns) - max(coalesce(t.start_ns, r.start_ns), "
              "r.start_ns)) life, (SELECT sum(ns) FROM states s WHERE s.tid = t.tid) s FROM task t, run r")
    check("states sum to lives within 0.1 %", all(abs(r["life"] - r["s"]) <= r["life"] * 0.001 + 50000 for r in got), got)
PY
while IFS= read -r line; do
	case $line in
	'ok '*) ok "${line#ok }" true ;;
	*) diag "$line"; ok "${line#not ok }" false ;;
	esac
done < <(/usr/bin/python3 check.py "$SONDE" 2>&1)

run "$SONDE" query r "SELECT 'a,b' x, NULL y, 'q\"r' z, '' e" --csv
is 'CSV' "$out" $'x,y,z,e\r\n"a,b",,"q""r",""\r'
run "$SONDE" query r 'SELECT 1 AS a, 2 AS a' --json
is 'names of columns differ' "$(jq -c . <<<"$out")" '[{"a":1,"a_2":2}]'
run "$SONDE" query r 'SELECT 1 AS a WHERE 0' --json
is 'no rows are an empty array' "$(jq -c . <<<"$out")" '[]'
run bash -c '"$1" query r - <<<"SELECT count(*) FROM run"' - "$SONDE"
is 'a statement from standard input' "$status $out" $'0 count(*)\n       1'

done_testing
