#!/bin/bash
# sonde export --to perfetto: an independent reader of Protocol Buffers finds each event of `sonde events` at its
# time, on its thread, inside what encloses it.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SOURCE_DIR/tests/lib PYTHONDONTWRITEBYTECODE=1

cat >check.py <<'EOF'
import collections, gzip, json, subprocess, sys
from perfetto import COUNTER, INSTANT, SLICE_BEGIN, SLICE_END, Message

sonde, path = sys.argv[1], sys.argv[2]

trace = Message("Trace", (gzip.open if path.endswith(".gz") else open)(path, "rb").read())
interned = {kind: {} for kind in ("event_categories", "event_names", "debug_annotation_names", "function_names", "mapping_paths",
                                  "source_paths", "mappings", "frames", "callstacks")}
tracks, packets, samples = {}, [], collections.Counter()

def learn(data):
    for kind, known in interned.items():
        for entry in getattr(data, kind):
            assert entry.one("iid") > 0 and entry.one("iid") not in known, (kind, entry.one("iid"))
            known[entry.one("iid")] = entry
    assert all(p in interned["mapping_paths"] for m in data.mappings for p in m.path_string_ids)
    for frame in data.frames:
        assert frame.one("function_name_id") in interned["function_names"]
        mapping, source = frame.one("mapping_id"), frame.one("source_path_iid")
        assert mapping is None or mapping in interned["mappings"] and frame.one("rel_pc"), "a mapping goes with an address in it"
        assert source is None or source in interned["source_paths"]
    assert all(f in interned["frames"] for c in data.callstacks for f in c.frame_ids)

def name(kind, iid):
    return interned[kind][iid].one("name")

def functions(iid):
    frames = interned["callstacks"][iid].frame_ids if iid else ()
    return tuple(name("function_names", interned["frames"][f].one("function_name_id")) for f in frames)

for index, packet in enumerate(trace.packet):
    assert packet.one("trusted_packet_sequence_id") == 1 and packet.one("sequence_flags") == (1 if index == 0 else 2)
    if packet.interned_data:
        learn(packet.one("interned_data"))
    if packet.perf_sample:
        sample = packet.one("perf_sample")
        samples[sample.one("tid"), packet.one("timestamp"), functions(sample.one("callstack_iid"))] += 1
    if packet.track_descriptor:
        track = packet.one("track_descriptor")
        assert track.one("uuid") not in tracks
        tracks[track.one("uuid")] = track
    if packet.track_event:
        event = packet.one("track_event")
        assert event.one("track_uuid") in tracks, "a track is described before its first event"
        assert all(n in interned["event_names"] for n in event.name_iid) and all(n in interned["event_categories"] for n in event.category_iids)
        packets.append((packet.one("timestamp"), len(packets), event))

def thread_of(uuid):
    track = tracks[uuid]
    while not track.thread:
        track = tracks[track.one("parent_uuid")]
    return track.one("thread").one("pid"), track.one("thread").one("tid")

def arguments(event):
    return {name("debug_annotation_names", a.one("name_iid")): (a.int_value + a.string_value + a.legacy_json_value + [None])[0]
            for a in event.debug_annotations}

got, lasts, values, stacks = collections.Counter(), collections.Counter(), collections.Counter(), collections.defaultdict(list)
for ts, _, event in sorted(packets, key=lambda p: p[:2]):
    kind, uuid = event.one("type"), event.one("track_uuid")
    called = name("event_names", event.one("name_iid")) if event.name_iid else None
    if kind == SLICE_BEGIN:
        got[called, *thread_of(uuid), ts] += 1
        stacks[uuid].append((called, ts, arguments(event)))
    elif kind == SLICE_END:
        began, begin, args = stacks[uuid].pop()
        lasts[began, begin, args.get("dur_ns", ts - begin)] += 1
    elif kind == INSTANT:
        got[called, *thread_of(uuid), ts] += 1
    else:
        assert kind == COUNTER and tracks[uuid].counter
        values[tracks[uuid].one("name"), event.one("double_counter_value"), ts] += 1
assert not any(stacks.values())
clocks = {c.one("clock_id"): c.one("timestamp") for c in trace.packet[0].clock_snapshot[0].clocks} if trace.packet[0].clock_snapshot else {}
assert not clocks or clocks[6] == clocks[3], "the trace's clock is the run's"

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
named = [t.one("process") for t in tracks.values() if t.process]
assert named and all(p.process_name for p in named)
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
		skip_missing "$1: protoc reads it" 'protoc is not installed'
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
	skip_missing 'annotations in threads' 'the Python package is not there'
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
	is 'spans that cross have lanes' "$(protoc --decode_raw <trace.pftrace | grep -c 'overlapping spans')" 2
	ok 'invalid text became valid' sh -c 'protoc --decode_raw <trace.pftrace | grep -q "bad .357.277.275 .000 name"'
else
	skip_missing 'spans that cross have lanes' 'protoc is not installed'
fi
run "$SONDE" export --to perfetto -o /dev/full run
is 'a full disk is an error' "$status" 1

done_testing
