#!/bin/bash
# sonde export --to folded, pprof and speedscope: three readers find the same samples in the same functions.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SOURCE_DIR/tests/lib PYTHONDONTWRITEBYTECODE=1

cat >check.py <<'EOF'
import collections, gzip, json, subprocess, sys
from protobuf import fields, varint

sonde = sys.argv[1]

def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values

def clean(name):
    return name.replace(";", ",").replace("\n", " ")

def from_folded():
    found = collections.Counter()
    for line in open("run.folded"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        found[tuple(f[:-4] if f.endswith("_[k]") else f for f in stack.split(";")[1:])] += int(count)
    return found

def from_pprof():
    profile = fields(gzip.open("run.pb.gz").read())
    strings = [s.decode("utf-8") for s in profile[6]]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    types = [strings[fields(t)[1][0]] for t in profile[1]]
    assert types[0] == "samples"
    functions = {f[1][0]: strings[f[2][0]] for f in map(fields, profile[5])}
    mappings = {m[1][0] for m in map(fields, profile[3])}
    lines = {}
    for location in map(fields, profile[4]):
        assert all(m in mappings for m in location[2])
        lines[location[1][0]] = functions[fields(location[4][0])[1][0]]
    found, ns = collections.Counter(), 0
    for sample in map(fields, profile[2]):
        values = packed(sample[2][0])
        assert len(values) == len(types)
        stack = [clean(lines[n]) for n in packed(sample[1][0])] if 1 in sample else []
        found[tuple(reversed(stack))] += values[0]
        ns += values[1] if len(types) > 1 else 0
        keys = {strings[fields(label)[1][0]] for label in sample[3]}
        assert keys == {"thread", "pid", "tid"}, keys
    return found, ns

def from_speedscope():
    profile = json.load(open("run.speedscope.json"))
    frames = [clean(f["name"]) for f in profile["shared"]["frames"]]
    found, ns = collections.Counter(), 0
    for thread in profile["profiles"]:
        assert thread["type"] == "sampled" and len(thread["samples"]) == len(thread["weights"])
        assert thread["endValue"] == sum(thread["weights"]) and thread["unit"] == "nanoseconds"
        ns += thread["endValue"]
        for stack in thread["samples"]:
            found[tuple(frames[n] for n in stack)] += 1
    return found, ns

rows = [json.loads(line) for line in subprocess.run([sonde, "events", "--table", "sample", "--json", "run"], check=True,
                                                      stdout=subprocess.PIPE).stdout.splitlines()]
rows = [r for r in rows if r["event"] == rows[0]["event"]]
folded, (pprof, pprof_ns), (speedscope, speedscope_ns) = from_folded(), from_pprof(), from_speedscope()
assert sum(folded.values()) == len(rows), (sum(folded.values()), len(rows))
assert pprof == folded, (pprof - folded, folded - pprof)
if not any(r.get("stack") is None for r in rows):
    assert speedscope == folded, (speedscope - folded, folded - speedscope)
assert sum(speedscope.values()) == len(rows)
want_ns = sum(r["weight_ns"] for r in rows)
assert pprof_ns == speedscope_ns == want_ns, (pprof_ns, speedscope_ns, want_ns)
print("the same samples")
EOF

# shellcheck disable=SC2016
"$SONDE" record -q -o run -- sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; seq 200000 | sort -R | md5sum' >/dev/null
if [[ $("$SONDE" events --table sample --json run | wc -l) -eq 0 ]]; then
	skip_service 'no CPU samples can be taken here'
fi
"$SONDE" export --to folded -o run.folded run
"$SONDE" export --to pprof -o run.pb.gz run
"$SONDE" export --to speedscope -o run.speedscope.json run
run /usr/bin/python3 check.py "$SONDE"
is 'folded, pprof and speedscope tell the same' "$out$err" 'the same samples'
if command -v protoc >/dev/null; then
	ok 'protoc reads the profile' sh -c 'zcat run.pb.gz | protoc --decode_raw >/dev/null'
else
	skip_missing 'protoc reads the profile' 'protoc is not installed'
fi
is 'the profile is compressed once' "$(zcat run.pb.gz | head -c 2 | od -An -tx1 | tr -d ' ')" 0a04

"$SONDE" import -q "$SOURCE_DIR/tests/data/dlio-excerpt.pfw" -o none
"$SONDE" export --to speedscope -o none.json none
is 'a run without samples has no profiles' "$(jq -c .profiles none.json)" '[]'
run "$SONDE" export --to pprof -o none.pb.gz none
is 'and its pprof has none either' "$status:$(zcat none.pb.gz | wc -c | xargs test 5 -lt && echo some)" '0:some'

done_testing
