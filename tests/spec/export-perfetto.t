#!/bin/bash
# sonde export --to perfetto: an independent reader of Protocol Buffers finds each event of `sonde events` at its
# time, on its thread, inside what encloses it.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SOURCE_DIR/tests/lib PYTHONDONTWRITEBYTECODE=1

cat >check.py <<'EOF'
import collections, gzip, json, struct, subprocess, sys
from protobuf import fields

sonde, path = sys.argv[1], sys.argv[2]

def text(message, number):
    return message[number][0].decode("utf-8") if number in message else None

data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
names = [{}, {}, {}]  # categories, events, arguments
tracks, packets = {}, []
functions, frames, callstacks, samples = {}, {}, {}, collections.Counter()
for index, packet in enumerate(map(fields, fields(data)[1])):
    assert packet[10] == [1] and packet[13] == [1 if index == 0 else 2]
    if 12 in packet:
        interned = fields(packet[12][0])
        for kind in (1, 2, 3):
            for entry in map(fields, interned[kind]):
                assert entry[1][0] not in names[kind - 1]
                names[kind - 1][entry[1][0]] = text(entry, 2)
        functions.update((e[1][0], text(e, 2)) for e in map(fields, interned[5]))
        paths = {e[1][0] for e in map(fields, interned[17])}
        assert all(e[7][0] in paths for e in map(fields, interned[19]))
        frames.update((e[1][0], functions[e[2][0]]) for e in map(fields, interned[6]))
        callstacks.update((e[1][0], tuple(frames[n] for n in e[2])) for e in map(fields, interned[7]))
    if 66 in packet:
        sample = fields(packet[66][0])
        samples[sample[3][0], packet[8][0], callstacks[sample[4][0]] if 4 in sample else ()] += 1
    if 60 in packet:
        track = fields(packet[60][0])
        assert track[1][0] not in tracks
        tracks[track[1][0]] = track
    if 11 in packet:
        event = fields(packet[11][0])
        assert event[11][0] in tracks, "a track is described before its first event"
        assert all(n in names[1] for n in event[10]) and all(n in names[0] for n in event[3])
        packets.append((packet[8][0], len(packets), event))

def thread_of(uuid):
    track = tracks[uuid]
    while 4 not in track:
        track = tracks[track[5][0]]
    thread = fields(track[4][0])
    return thread[1][0], thread[2][0]

def arguments(event):
    found = {}
    for argument in map(fields, event[4]):
        value = next((argument[n][0] for n in (4, 6, 9) if n in argument), None)
        found[names[2][argument[1][0]]] = value
    return found

got, lasts, values, stacks = collections.Counter(), collections.Counter(), collections.Counter(), collections.defaultdict(list)
for ts, _, event in sorted(packets, key=lambda p: p[:2]):
    kind, uuid = event[9][0], event[11][0]
    if kind == 1:
        got[names[1][event[10][0]], *thread_of(uuid), ts] += 1
        stacks[uuid].append((names[1][event[10][0]], ts, arguments(event)))
    elif kind == 2:
        name, begin, args = stacks[uuid].pop()
        lasts[name, begin, args.get("dur_ns", ts - begin)] += 1
    elif kind == 3:
        got[names[1][event[10][0]], *thread_of(uuid), ts] += 1
    else:
        assert 8 in tracks[uuid]
        values[text(tracks[uuid], 2), struct.unpack("<d", event[44][0])[0], ts] += 1
assert not any(stacks.values())

def table(name):
    rows = subprocess.run([sonde, "events", "--json", "--table", name, "run"], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in rows.splitlines()]

want = collections.Counter((r["call"], r["pid"], r["tid"], r["ts_ns"]) for r in table("io"))
for kind in ("span", "mark", "step"):
    want += collections.Counter((r["name"], r["pid"], r["tid"], r["ts_ns"]) for r in table(kind))
assert got == want, (got - want, want - got)
want = collections.Counter((r["call"], r["ts_ns"], r["dur_ns"]) for r in table("io") if r["dur_ns"] is not None)
want += collections.Counter((r["name"], r["ts_ns"], r["dur_ns"]) for r in table("span"))
assert lasts == want, (lasts - want, want - lasts)
want = collections.Counter((r["name"], float(r["value"]), r["ts_ns"]) for kind in ("counter", "step") for r in table(kind)
                           if r["value"] is not None)
assert values == want, (values - want, want - values)
folded = collections.Counter()
for line in subprocess.run([sonde, "export", "--to", "folded", "run"], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines():
    stack, count = line.rsplit(" ", 1)
    folded[tuple(f[:-4] if f.endswith("_[k]") else f for f in stack.split(";")[1:])] += int(count)
by_stack = collections.Counter()
for (_, _, stack), count in samples.items():
    by_stack[tuple(f.replace(";", ",") for f in stack)] += count
assert by_stack == folded, (by_stack - folded, folded - by_stack)
rows = [r for r in table("sample") if r["event"] != "unsampled"]
rows = collections.Counter((r["tid"], r["ts_ns"]) for r in rows if r["event"] == rows[0]["event"])
assert collections.Counter((t, ts) for (t, ts, _), n in samples.items() for _ in range(n)) == rows
named = [fields(t[3][0]) for t in tracks.values() if 3 in t]
assert all(6 in p for p in named) and named
print("all", len(named), "processes")
EOF

check() {
	"$SONDE" export --to perfetto -o trace.pftrace run
	run /usr/bin/python3 check.py "$SONDE" trace.pftrace
	is "$1: the trace says what the events say" "$status:$err" '0:'
	like "$1: of named processes" "$out" '^all [1-9]'
	if command -v protoc >/dev/null; then
		ok "$1: protoc reads it" sh -c 'protoc --decode_raw <trace.pftrace >/dev/null'
	else
		skip "$1: protoc reads it" 'protoc is not installed'
	fi
}

mkdir files
for i in $(seq 40); do echo "$i" >files/"$i"; done
"$SONDE" record -q -o run -- sh -c 'tar -czf out.tgz files; cat files/1 | sort; exec ls files' >/dev/null
check 'sh, tar and gzip'
"$SONDE" export --to perfetto -o trace.gz run
run /usr/bin/python3 check.py "$SONDE" trace.gz
is 'compressed it says the same' "$status:$err" '0:'

if [[ -d $SONDE_STAGE/lib/sonde/python/sonde ]]; then
	cat >program.py <<-'PROGRAM'
		import sonde, threading, os
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
	rm -r run
	PYTHONPATH=$SONDE_STAGE/lib/sonde/python "$SONDE" record -q --probes trace -o run -- /usr/bin/python3 program.py
	check 'annotations in threads'
else
	skip 'annotations in threads' 'the Python package is not there'
fi
rm -r run
# Spans that cross each other lie on lanes beside their thread.
cat >cross.json <<'EOF'
{"id":1,"name":"a","cat":"x","pid":7,"tid":7,"ts":1000,"dur":500,"ph":"X","args":{}}
{"id":2,"name":"b","cat":"x","pid":7,"tid":7,"ts":1200,"dur":500,"ph":"X","args":{}}
{"id":3,"name":"c","cat":"x","pid":7,"tid":7,"ts":1300,"dur":900,"ph":"X","args":{}}
{"id":4,"name":"bad \udcff \u0000 name","cat":"x","pid":7,"tid":7,"ts":1300,"dur":1,"ph":"X","args":{"deep":[1,{"x":null}]}}
{"id":5,"name":"d","cat":"POSIX","pid":-9,"tid":4294967296,"ts":1300,"dur":1,"ph":"X","args":{"ret":-9223372036854775807}}
EOF
"$SONDE" import -q --from pfw cross.json -o run
"$SONDE" export --to perfetto -o trace.pftrace run
if command -v protoc >/dev/null; then
	is 'spans that cross have lanes' "$(protoc --decode_raw <trace.pftrace | grep -c 'spans that cross others')" 2
	ok 'invalid text became valid' sh -c 'protoc --decode_raw <trace.pftrace | grep -q "bad .357.277.275 .000 name"'
else
	skip 'spans that cross have lanes' 'protoc is not installed'
fi
run "$SONDE" export --to perfetto -o /dev/full run
is 'a full disk is an error' "$status" 1

done_testing
