#!/bin/sh
# check.sh LIBSONDE RINGDUMP PROGRAM [ARGUMENT...]: run PROGRAM traced; its trace must be what it said, line for line.
set -eu
for name; do # files by their whole path: the program gets a directory of its own
	shift
	[ -e "$name" ] && name=$(realpath "$name")
	set -- "$@" "$name"
done
lib=$1 ringdump=$2 program=$3
shift 3
top=$(mktemp -d "${TMPDIR:-/tmp}/sonde-preload.XXXXXX")
trap 'chmod -R u+rwx "$top" 2>/dev/null; rm -rf "$top"' EXIT
mkdir "$top/work"
cd "$top/work"
: >"$top/want"
status=0
env WANT_FILE="$top/want" CANNOT_FILE="$top/cannot" SONDE_RING="$top/ring" LD_PRELOAD="$lib" "$program" "$@" >"$top/out" 2>"$top/err" || status=$?
if [ $status -ne 0 ]; then
	echo "the program failed: $status"
	cat "$top/err"
	[ $status -eq 77 ] && exit 77
	exit 1
fi
"$ringdump" "$top/ring" "$(basename "$program")" | sort -s -n -k1,1 -k2,2 >"$top/got"
# A line that begins with ~ may be missing.
awk 'NR == FNR { seen[$0]++; next } /^~/ { line = substr($0, 2); if (seen[line]-- > 0) print line; next } { print }' \
	"$top/got" "$top/want" | sort -s -n -k1,1 -k2,2 >"$top/sorted"
if ! diff -u "$top/sorted" "$top/got" >"$top/diff"; then
	echo "what the program did (-) and what the trace says (+):"
	cat "$top/diff"
	exit 1
fi
echo "$(wc -l <"$top/got") calls as expected"
