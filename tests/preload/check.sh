#!/bin/sh
# check.sh LIBSONDE RINGDUMP PROGRAM: run PROGRAM traced; its trace must be what it said, line for line.
set -eu
lib=$1 ringdump=$2 program=$3
top=$(mktemp -d "${TMPDIR:-/tmp}/sonde-preload.XXXXXX")
trap 'chmod -R u+rwx "$top" 2>/dev/null; rm -rf "$top"' EXIT
mkdir "$top/work"
cd "$top/work"
: >"$top/want"
status=0
env WANT_FILE="$top/want" CANNOT_FILE="$top/cannot" SONDE_RING="$top/ring" LD_PRELOAD="$lib" "$program" >"$top/out" 2>"$top/err" || status=$?
if [ $status -ne 0 ]; then
	echo "the program failed: $status"
	cat "$top/err"
	[ $status -eq 77 ] && exit 77
	exit 1
fi
"$ringdump" "$top/ring" "$(basename "$program")" | sort -s -n -k1,1 -k2,2 >"$top/got"
sort -s -n -k1,1 -k2,2 "$top/want" >"$top/sorted"
if ! diff -u "$top/sorted" "$top/got" >"$top/diff"; then
	echo "what the program did (-) and what the trace says (+):"
	cat "$top/diff"
	exit 1
fi
echo "$(wc -l <"$top/got") calls as expected"
