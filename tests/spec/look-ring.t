#!/bin/bash
# A ring directory that a program left without a recorder is read as a run, and stays as it is.
. "$(dirname "$0")/../lib/tap.sh"

holds() { jq -e "$1" <<<"$out" >/dev/null; }

mkdir ring temp
echo data >file
SONDE_RING=$TEST_DIR/ring LD_PRELOAD=$SONDE_STAGE/lib/libsonde.so cat file >/dev/null
ok 'libsonde alone makes a ring' test -e ring/control
export TMPDIR=$TEST_DIR/temp
before=$(cd ring && cksum ./*)

run "$SONDE" info ring
is 'info reads it' "$status:$err" '0:'
like 'under its name' "$out" $'^run +ring\n'
like 'with the program' "$out" $'\nprogram +cat file\n'
run "$SONDE" events --json ring
is 'events read it' "$status:$err" '0:'
is 'the file is there' "$(jq -c 'select(.call == "read" and .ret == 5) | .path' <<<"$out")" "\"$TEST_DIR/file\""
first=$out
run "$SONDE" events --json ring
is 'and again' "$out" "$first"
run "$SONDE" export ring
ok 'export reads it' holds '.traceEvents | length > 5'
is 'nothing is left behind' "$(ls -A temp)" ''
is 'the ring is as it was' "$(cd ring && cksum ./*)" "$before"

TMPDIR=/no/such/dir run "$SONDE" info ring
is 'without a place for it: an error' "$status" 1
like 'with a hint' "$err" 'hint: .*TMPDIR'

mkdir empty
: >empty/control
run "$SONDE" info empty
is 'a broken ring is refused' "$status" 1
is 'nothing is left behind then, either' "$(ls -A temp)" ''

done_testing
