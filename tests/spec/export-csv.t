#!/bin/bash
# sonde export --to csv and sofa: Python's csv module reads the values that `sonde events` prints.
. "$(dirname "$0")/../lib/tap.sh"

cat >check.py <<'EOF'
import csv, json, subprocess, sys

sonde = sys.argv[1]

def events(table):
    text = subprocess.run([sonde, "events", "--json", "--table", table, "run"], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]

def rows(name):
    with open(name, newline="", encoding="utf-8", errors="surrogateescape") as text:
        return list(csv.DictReader(text))

def same(table, columns):
    got, want = rows(table + ".csv"), events(table)
    assert len(got) == len(want) > 0, (table, len(got), len(want))
    for g, w in zip(got, want):
        for column, key in columns.items():
            value = w.get(key)
            if isinstance(value, float):
                assert float(g[column]) == value, (column, g, w)
            else:
                assert g[column] == ("" if value is None else str(value)), (column, g, w)

same("io", {"ts_ns": "ts_ns", "dur_ns": "dur_ns", "pid": "pid", "tid": "tid", "call": "call", "file": "path", "ret": "ret"})
same("counter", {"ts_ns": "ts_ns", "name": "name", "value": "value"})

SOFA = "timestamp,event,duration,deviceId,copyKind,payload,bandwidth,pkt_src,pkt_dst,pid,tid,name,category".split(",")
for name in ("cputrace", "strace", "nettrace", "gputrace", "blktrace", "mpstat", "diskstat", "netstat", "vmstat",
             "nvsmi_trace", "cuda_api_trace", "pystacks"):
    with open("sofa/" + name + ".csv", newline="") as text:
        lines = list(csv.reader(text))
    assert lines[0] == SOFA, name
    assert all(len(line) == 13 for line in lines), name
    assert all(float(cell) is not None for line in lines[1:] for i, cell in enumerate(line) if i != 11), name
    if name != "mpstat":
        assert all(a[0] == "" or float(a[0]) <= float(b[0]) for a, b in zip(lines[1:], lines[2:])), name
calls = rows("sofa/strace.csv")
want = events("io")
start = json.load(open("run/run.json"))["clock"]["start_mono_ns"]
assert [(round(float(r["timestamp"]), 6), r["name"].split("(")[0], int(r["tid"])) for r in calls] == \
       [(round((w["ts_ns"] - start) / 1e9, 6), w["call"], w["tid"]) for w in want]
samples = [s for s in events("sample") if s["weight_ns"] is not None]
got = rows("sofa/cputrace.csv")
assert len(got) == len(samples)
assert abs(sum(float(r["duration"]) for r in got) - sum(s["weight_ns"] for s in samples) / 1e9) < 1e-5 * (len(got) + 1)
for r in rows("sofa/mpstat.csv"):
    shares = r["name"].split("|")[1:6]
    assert abs(sum(map(float, shares)) - 100) < 0.6, r
machine = rows("sofa/vmstat.csv")
assert [r["name"] for r in machine] == ["vmstat:" + n for n in "bi bo in cs wa st usr sys".split()] * (len(machine) // 8)
for i in range(0, len(machine), 8):
    assert 0 <= sum(float(r["duration"]) for r in machine[i + 4:i + 8]) < 100.001, machine[i:i + 8]
    assert len({r["timestamp"] for r in machine[i:i + 8]}) == 1, machine[i:i + 8]
print("the same")
EOF

mkdir 'odd, "name"
of two lines'
"$SONDE" record -q -o run -- sh -c 'ls odd*; seq 50000 | sort -R | md5sum; cat run/none' >/dev/null 2>&1
"$SONDE" export --to csv -o io.csv run
"$SONDE" export --to csv --table counter -o counter.csv run
"$SONDE" export --to sofa -o sofa run
run /usr/bin/python3 check.py "$SONDE"
is 'tables and files hold what the run holds' "$out$err" 'the same'
is 'the names of columns are those of the table' "$("$SONDE" export --to csv --table step run)" 'ts_ns,process,pid,tid,name,index,value'
ok 'sofa tells when it began' grep -qE '^[0-9]{10}\.[0-9]{6}$' sofa/sofa_time.txt
"$SONDE" record -q -o python -- /usr/bin/python3 -c '
import time
def work():
    while time.thread_time() < 0.3: pass
work()'
"$SONDE" export --to sofa -o sofa-python python
is 'samples of Python have their stacks' "$(tail -n +2 sofa-python/pystacks.csv | wc -l)" \
	"$("$SONDE" query python "SELECT count(DISTINCT s.rowid) AS n FROM sample s JOIN frame f ON f.stack = s.stack WHERE f.source = f.module" --json | jq '.[0].n')"
is 'from the outermost function on' "$(grep -c 'work.*<br>.*<module>' sofa-python/pystacks.csv)" 0
run "$SONDE" export --to sofa run
is 'sofa without a directory is a usage error' "$status" 2
run "$SONDE" export --to csv -o /dev/full run
is 'a full disk is an error' "$status" 1
run "$SONDE" export --to csv --table nonsense run
is 'an unknown table is a usage error' "$status" 2

done_testing
