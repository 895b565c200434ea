#!/bin/bash
# A ring that another build of libsonde left is read by the table of calls beside it, or refused: never under wrong names.
. "$(dirname "$0")/../lib/tap.sh"

SONDE_RING=$TEST_DIR/ring LD_PRELOAD=$SONDE_STAGE/lib/libsonde.so cat /etc/hostname >/dev/null
ours=$(cd ring && echo calls-*)
like 'libsonde leaves its table in the ring' "$ours" '^calls-[0-9a-f]{16}$'
like 'as lines' "$(cat "ring/$ours")" $'\nclose OPEN CLOSE NONE NONE C \n'
run "$SONDE" record -o run --probes trace -- true
is 'a run has its hash' "$(jq -r .calls_hash run/run.json)" "${ours#calls-}"

# patch HASH FILE...: write the hash where sonde/shm.h has calls_hash of a segment.
patch() {
	local hash=$1 bytes='' i
	for ((i = 14; i >= 0; i -= 2)); do bytes+="\\x${hash:i:2}"; done
	shift
	for i; do printf '%b' "$bytes" | dd of="$i" bs=1 seek=64 conv=notrunc status=none; done
}
reads() { "$SONDE" events "$1" --json 2>&1 | jq -r 'select(.path == "/etc/hostname" and .ret > 0 and .ret < 4096) | .call' | sort -u | paste -sd ' '; }
before=$(reads ring)
like 'the ring has the reads' "$before" 'read'

cp -r ring patched
patch 0123456789abcdef patched/*.[0-9]*
run "$SONDE" events patched --json
is 'a ring of an unknown build is refused' "$status:$out" '1:'
like 'with both hashes' "$err" "0123456789abcdef, ours is ${ours#calls-}"
like 'and the remedy' "$err" 'hint: use the version of sonde'

# A table of another build: one row more at its start, so that every number is that of the row before.
cp -r ring other
{ echo 'teleport DATA OTHER NONE NONE NO '; cat "ring/$ours"; } >table
hash=$(python3 - table <<'PY'
import struct, sys
data, mask = open(sys.argv[1], "rb").read(), (1 << 64) - 1
p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
rotate = lambda v, n: (v << n | v >> (64 - n)) & mask
mix = lambda acc, word: rotate((acc + word * p2) & mask, 31) * p1 & mask
lanes, at = [p1 + p2 & mask, p2, 0, -p1 & mask], 0
for at in range(0, len(data) - 31, 32):
    lanes = [mix(v, w) for v, w in zip(lanes, struct.unpack_from("<4Q", data, at))]
h, at = sum(rotate(v, n) for v, n in zip(lanes, (1, 7, 12, 18))) & mask, at + 32
for v in lanes:
    h = ((h ^ mix(0, v)) * p1 + p4) & mask
h = (h + len(data)) & mask
for at in range(at, len(data) - 7, 8):
    h = (rotate(h ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & mask
at = len(data) // 8 * 8
if len(data) - at >= 4:
    h, at = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * p1 & mask, 23) * p2 + p3) & mask, at + 4
for byte in data[at:]:
    h = rotate(h ^ byte * p5 & mask, 11) * p1 & mask
h = (h ^ h >> 33) * p2 & mask
h = (h ^ h >> 29) * p3 & mask
print(f"{h ^ h >> 32:016x}")
PY
)
mv table "other/calls-$hash"
patch "$hash" other/*.[0-9]*
run "$SONDE" events other --json
is 'a ring of a known build is read' "$status" 0
shifted() { for name; do { echo teleport; awk '{ print $1 }' "ring/$ours"; } | grep -x -B1 -m1 "$name" | head -1; done | sort | paste -sd ' '; }
# shellcheck disable=SC2086
is 'under the names of that build' "$(reads other)" "$(shifted $before)"

# A killed recorder leaves the table, too.
{ "$SONDE" record -o killed --probes trace -- sh -c 'kill -9 $PPID; cat /etc/hostname'; } >/dev/null 2>&1
ring=$(jq -r .ring killed/run.json)
ok 'a ring of a recorder has the table' test -s "$ring/$ours"
patch 0123456789abcdef "$ring"/*.[0-9]*
for _ in $(seq 100); do run "$SONDE" recover killed; [[ $err == *'still running'* ]] || break; sleep 0.1; done
is 'recover refuses another build, too' "$status" 1
like 'with the same sentence' "$err" 'written by another build of libsonde: its table of calls is 0123456789abcdef'
patch "${ours#calls-}" "$ring"/*.[0-9]*
run "$SONDE" recover killed
is 'the ring is still there, and recovered when that is mended' "$status" 0
ok 'then it is gone' test ! -e "$ring"
done_testing
