#!/bin/bash
# sonde export --to chrome: valid JSON with every event, at its time, properly nested on each thread.
. "$(dirname "$0")/../lib/tap.sh"

# Compare a trace with what sonde events says.
cat >check.py <<'CHECK'
import collections, json, subprocess, sys
sonde, path = sys.argv[1], sys.argv[2]
trace = json.load(open(path))
start = trace["otherData"]["start_mono_ns"]
events = trace["traceEvents"]

def table(name):
    text = subprocess.run([sonde, "events", "--json", "--table", name], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]

def ns(us):
    return round(us * 1000)

def counted(items=()):
    return collections.Counter(items)

# every call and span once, at its time
got = counted((e["name"], e["pid"], e["tid"], start + ns(e["ts"])) for e in events if e["ph"] in ("X", "b", "i"))
want = counted()
for row in table("io"):
    want[(row["call"], row["pid"], row["tid"], row["ts_ns"])] += 1
for kind in ("span", "mark", "step"):
    for row in table(kind):
        want[(row["name"], row["pid"], row["tid"], row["ts_ns"])] += 1
assert got == want, (got - want, want - got)

# for as long as it took: boxes, and asynchronous pairs
ends = {e["id"]: e["ts"] for e in events if e["ph"] == "e"}
lasts = counted()
for e in events:
    if e["ph"] in ("X", "b"):
        dur = ns(e["dur"]) if e["ph"] == "X" else ns(ends[e["id"]]) - ns(e["ts"])
        lasts[e["name"], start + ns(e["ts"]), e.get("args", {}).get("dur_ns", dur)] += 1
want = counted((r["call"], r["ts_ns"], r["dur_ns"]) for r in table("io") if r["dur_ns"] is not None)
want += counted((r["name"], r["ts_ns"], r["dur_ns"]) for r in table("span"))
assert lasts == want, (lasts - want, want - lasts)

# counters: those of the program, and the values of steps
values = counted((e["name"], e["args"]["value"], start + ns(e["ts"])) for e in events if e["ph"] == "C")
want = counted((r["name"], r["value"], r["ts_ns"]) for kind in ("counter", "step") for r in table(kind) if r["value"] is not None)
assert values == want, (values, want)

# times do not go back, boxes nest
threads = collections.defaultdict(list)
last = 0
for e in events:
    if e["ph"] == "M":
        continue
    if e["ph"] != "e":
        assert e["ts"] >= last, e
        last = e["ts"]
    if e["ph"] != "X":
        continue
    stack = threads[e["pid"], e["tid"]]
    begin, end = ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])
    while stack and stack[-1] <= begin:
        stack.pop()
    assert not stack or end <= stack[-1], e
    stack.append(end)

# every process has a name
named = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
assert {e["pid"] for e in events} <= named, named
# asynchronous pairs are whole
assert counted(e["id"] for e in events if e["ph"] == "b") == counted(e["id"] for e in events if e["ph"] == "e")
print(sum(1 for e in events if e["ph"] == "X"))
CHECK

check() {
	"$SONDE" export --to chrome -o trace.json
	run /usr/bin/python3 check.py "$SONDE" trace.json
	is "$1: the trace says what the events say" "$status:$err" '0:'
	ok "$1: and that is something" test "${out:-0}" -gt 0
}

mkdir files
for i in $(seq 50); do echo "$i" >files/"$i"; done
"$SONDE" record --probes trace -- tar -czf out.tgz files
check 'tar with gzip'
"$SONDE" record --probes trace -- sqlite3 test.db 'create table t(a); insert into t values (1); select * from t;' >/dev/null
check 'sqlite3'
"$SONDE" record --probes trace -- sh -c 'cat files/1 | sort; exec ls files' >/dev/null
check 'sh, with exec'

if [[ -d $SONDE_STAGE/lib/sonde/python/sonde ]]; then
	cat >program.py <<-'PROGRAM'
		import sonde, threading, time, os
		def work(n):
		    with sonde.span("thread", "work", n=n, text="\"quoted\"\n"):
		        for i in range(50):
		            with sonde.span("inner"):
		                os.stat("/")
		            sonde.step("loop", i, i / 2)
		threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
		[t.start() for t in threads]
		[t.join() for t in threads]
		sonde.instant("end")
		sonde.counter("done", 3)
	PROGRAM
	PYTHONPATH=$SONDE_STAGE/lib/sonde/python "$SONDE" record --probes trace -- /usr/bin/python3 program.py
	check 'annotations in threads'
else
	skip_missing 'annotations in threads: the trace says what the events say' 'the Python package is not there'
fi

"$SONDE" export >stdout.json
is 'without -o it goes to standard output' "$(cmp stdout.json trace.json 2>&1)" ''
"$SONDE" export -o - | cmp - trace.json
is "'-' is standard output" "$?" 0
run "$SONDE" export -o /no/such/dir/x
is 'a file that cannot be made is an error' "$status" 1
like 'and it is named' "$err" "^sonde: cannot write to '/no/such/dir/x': No such file"
run "$SONDE" export -o /dev/full
is 'a full disk is an error' "$status" 1
like 'and it is said' "$err" 'No space left'
run "$SONDE" export --to no-such
is 'an unknown format is a usage error' "$status" 2
run "$SONDE" export --from 1h
is 'a range without events is a valid trace' "$(jq '[.traceEvents[] | select(.ph != "M")] | length' <<<"$out")" 0

done_testing
