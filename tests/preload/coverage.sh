#!/bin/sh
# coverage.sh RINGDUMP PROGRAM...: does some test program exercise every row of the hook table?
# The programs say what they do without being traced; what a check of their traces covers is what they say.
set -eu
ringdump=$(realpath "$1")
shift
top=$(mktemp -d "${TMPDIR:-/tmp}/sonde-coverage.XXXXXX")
trap 'rm -rf "$top"' EXIT
: >"$top/want"
: >"$top/cannot"
for program; do
	program=$(realpath "$program")
	mkdir "$top/work"
	(cd "$top/work" && WANT_FILE="$top/want" CANNOT_FILE="$top/cannot" "$program" >/dev/null 2>&1 </dev/null) ||
		echo "note: $(basename "$program") ended with $?"
	chmod -R u+rwx "$top/work"
	rm -rf "$top/work"
done
awk '{ print $3 == "RUN" || $3 == "EXEC" ? $4 : $3 }' "$top/want" | sort -u >"$top/shown"
cut -d: -f1 "$top/cannot" | sort -u >"$top/excused"
"$ringdump" --calls | sort -u >"$top/table"
sort -u "$top/shown" "$top/excused" | comm -23 "$top/table" - >"$top/missing"
echo "$(wc -l <"$top/table") rows, $(comm -12 "$top/table" "$top/shown" | wc -l) exercised"
sed 's/^/not to be shown: /' "$top/cannot"
if [ -s "$top/missing" ]; then
	echo "no test program calls:"
	cat "$top/missing"
	exit 1
fi
