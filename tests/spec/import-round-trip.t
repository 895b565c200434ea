#!/bin/bash
# A trace that was imported and exported again has every record it had; one of a recorded run is valid and complete.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/lib/dlio.sh"

cat >records.py <<'EOF'
import glob, gzip, json, sys

def records(path):
    opener = gzip.open if path.endswith(".gz") else open
    for line in opener(path, "rt", encoding="utf-8", errors="surrogateescape"):
        if line.startswith("{"):
            yield json.dumps(json.loads(line), sort_keys=True)

for path in sys.argv[1:]:
    print(sum(1 for _ in records(path)), hash(tuple(sorted(records(path)))))
EOF
export PYTHONHASHSEED=1

run "$SONDE" import "$SOURCE_DIR/tests/data/dlio-excerpt.pfw" -o first
is 'the excerpt is imported' "$status" 0
run "$SONDE" export --to pfw -o second.pfw first
is 'and exported' "$status" 0
run python3 records.py "$SOURCE_DIR/tests/data/dlio-excerpt.pfw" second.pfw
is 'with all its records' "$(sed -n 1p <<<"$out")" "$(sed -n 2p <<<"$out")"
is 'in brackets' "$(head -n 1 second.pfw)$(tail -n 1 second.pfw)" '[]'
run "$SONDE" import second.pfw -o third
for table in io span line meta process thread; do
	"$SONDE" events --table $table --json first | sort >one
	"$SONDE" events --table $table --json third | sort >two
	ok "the table $table is the same again" cmp -s one two
done

# Every generation, compressed on the way: the tables of the second run are those of the first.
for generation in a b c d e; do
	"$SONDE" import -q "$SOURCE_DIR/tests/data/generation-$generation.pfw" -o "one-$generation"
	"$SONDE" export --to pfw -o "$generation.pfw.gz" "one-$generation"
	ok "generation $generation is compressed" gzip -t "$generation.pfw.gz"
	"$SONDE" import -q "$generation.pfw.gz" -o "two-$generation"
	for run in one two; do
		for table in io span line meta process thread counter; do
			"$SONDE" events --table $table --json "$run-$generation" | sort
		done >"$run.rows"
	done
	ok "generation $generation: all tables are the same again" cmp one.rows two.rows
	ok "generation $generation: and they hold something" test -s one.rows
done

# Members hold whole lines, so that each can be read by itself.
awk '/^{/ { for (i = 0; i < 1500; i++) print }' "$SOURCE_DIR/tests/data/dlio-excerpt.pfw" >long.pfw
"$SONDE" import -q long.pfw -o long
"$SONDE" export --to pfw -o long.pfw.gz long
cat >members.py <<'EOF'
import sys, zlib
data, members = open(sys.argv[1], "rb").read(), 0
while data:
    inflate = zlib.decompressobj(31)
    text = inflate.decompress(data) + inflate.flush()
    data, members = inflate.unused_data, members + 1
    assert inflate.eof and (not data or text.endswith(b"\n")) and text[:1] in b"[{]", text[-80:]
print("several members of whole lines" if members > 2 else members)
EOF
run /usr/bin/python3 members.py long.pfw.gz
is 'a long trace' "$out$err" 'several members of whole lines'
is 'has the same lines as without compression' "$(zcat long.pfw.gz | md5sum)" "$("$SONDE" export --to pfw long | md5sum)"
run "$SONDE" export --to pfw -o /no/such/x.gz long
is 'a name that cannot be made is an error' "$status" 1

check_job() {
	"$SONDE" import -q "$2" -o job
	"$SONDE" export --to pfw -o job.pfw job
	for file in "$2"/*.gz; do zcat "$file" && echo; done >all.pfw
	run python3 "$TEST_DIR/records.py" all.pfw job.pfw
	is "$1: a whole job comes back" "$(sed -n 1p <<<"$out")" "$(sed -n 2p <<<"$out")"
	is "$1: with every record" "$(sed -n 's/ .*//p;q' <<<"$out")" "$(truth '.events + .metadata')"
}
each_dlio_job check_job

for format in pfw_c pfw_d pfw_e; do
	"$SONDE" export --to $format -o again.pfw first
	run "$SONDE" import again.pfw -o $format --json
	is "as $format it has the same events" "$(jq .events <<<"$out")" 55
done

echo hello >file
"$SONDE" record -q -o recorded -- cat file >/dev/null
for format in pfw pfw_d pfw_e; do
	run "$SONDE" export --to $format -o recorded-$format.pfw recorded
	is "a recorded run is exported as $format" "$status" 0
	run "$SONDE" trace validate recorded-$format.pfw
	is "which is a valid trace" "$status" 0
done
cat >check.py <<'EOF'
import hashlib, json, sys
records = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
names = {r["args"]["value"]: r["args"]["name"] for r in records if r["name"] in ("FH", "SH", "HH")}
for value, name in names.items():
    digest = hashlib.md5(name.encode()).digest()
    if sys.argv[2] == "C":
        assert value == int("".join("%x" % (b >> 4) for b in digest), 16), name
    else:
        assert value == digest[::2].hex(), name
reads = [r for r in records if r["name"] == "read" and names.get(r["args"].get("fhash"), "").endswith("/file")]
print("names are known by their hashes;", reads[0]["args"]["ret"], "bytes read")
assert {"start"} <= {r["name"] for r in records}
EOF
run python3 check.py recorded-pfw.pfw C
is 'generation C: hashes are those of the tracer' "$out" 'names are known by their hashes; 6 bytes read'
run python3 check.py recorded-pfw_d.pfw D
is 'generation D: hashes are those of the tracer' "$out" 'names are known by their hashes; 6 bytes read'

done_testing
