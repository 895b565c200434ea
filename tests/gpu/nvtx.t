#!/bin/bash
# NVTX 3: ranges and marks of a program become annotations, and it computes and prints what it does without.
. "$(dirname "$0")/../lib/tap.sh"
unset LD_LIBRARY_PATH # the build has stand-ins on it

# Threads have numbers of their own.
rows_of() { "$SONDE" events "$1" --table span --json | jq -r '"\(.cat) \(.name) \(.is_open) \(.args)"' | sed 's/"started_by":[0-9]*/"started_by":TID/' | sort; }
want=$(sort <<'WANT'
nvtx epoch false {"category":7,"payload":0.5}
nvtx batch false null
nvtx batch false null
nvtx batch false null
nvtx längs false null
nvtx längs false null
nvtx längs false null
nvtx outside false null
loader fetch false null
nvtx overlap false null
nvtx across false {"started_by":TID}
WANT
)
check() {
	local program=$1 what=$2 rows
	run "$program"
	is "$what: the program alone" "$status $out" '4 levels -30'
	run "$SONDE" record -q -o "$what" -- "$program"
	is "$what: recorded it says the same" "$status $out" '4 levels -30'
	rows=$(rows_of "$what")
	is "$what: its ranges" "$(grep -v 'never popped' <<<"$rows")" "$want"
	like "$what: a range that never ended is open" "$rows" 'never popped true'
	is "$what: its marks" "$("$SONDE" events "$what" --table mark --json | jq -r '"\(.cat) \(.name)"')" "$(printf 'nvtx here\nloader fetch')"
	is "$what: ranges nest" "$("$SONDE" events "$what" --table span --json | jq -s -c 'map(select(.name == "epoch" or .name == "batch").depth) | unique')" '[0,1]'
}

check "$NVTX" own-caller
header=$(printf '%s\n' /usr/include /usr/local/cuda*/include | while read -r d; do [[ -e $d/nvtx3/nvToolsExt.h ]] && echo "$d" && break; done)
if [[ $header ]] && cc -DHAS_NVTX -D_GNU_SOURCE -I"$header" "$SOURCE_DIR/tests/gpu/nvtx.c" -o real -ldl -lpthread 2>cc.log; then
	check "$PWD/real" header
else
	skip 'with the header of NVIDIA' "no nvtx3/nvToolsExt.h here that compiles ($(tail -1 cc.log 2>/dev/null))"
fi

# Somebody else's injection stays.
run env NVTX_INJECTION64_PATH=/nonexistent/other.so "$SONDE" record -q -o other -- "$NVTX"
is 'a library that the user named is not replaced' "$status $out" '4 levels -30'
ok 'so nothing is recorded of it' test ! -e other/tables/span.tbl
done_testing
