#!/bin/bash
# Bytes are those that the program moved, whatever calls it used: by its own count and the sizes of its files.
. "$(dirname "$0")/../lib/tap.sh"

seq 1 20000 >input
size=$(stat -c %s input)
run "$SONDE" record -o r -- "$BYTES" input
is 'the program runs' "$status" 0
read -r read_bytes line_bytes <<<"$out"
is 'it read the file five times' "$read_bytes" $((5 * size))

# value SQL: the single value of an answer.
value() { "$SONDE" query r "$1" --json | jq -r '.. | numbers' | head -n 1; }

is 'files: all reads of the input' "$(value "SELECT read_bytes FROM files WHERE path LIKE '%/input'")" "$read_bytes"
is 'files: formatted and put lines' "$(value "SELECT written_bytes FROM files WHERE path LIKE '%/lines'")" "$line_bytes"
for name in copied sent spliced; do
	is "files: $name is written" "$(value "SELECT written_bytes FROM files WHERE path LIKE '%/$name'")" "$size"
done
is 'the source of a copy is not written' "$(value "SELECT count(written_bytes) FROM files WHERE path LIKE '%/input'")" 0
is 'positions are no reads' "$(value "SELECT count(*) FROM io WHERE call LIKE 'fgetpos%' AND kind = 'seek'")" 1000
is 'names of users are no reads' "$(value "SELECT count(*) FROM io WHERE call = 'getpwnam' AND kind = 'read'")" 0
is 'a position has no bytes, not 0' "$(value "SELECT count(bytes) FROM io WHERE call LIKE 'fgetpos%'")" 0

"$SONDE" summary r --json >summary.json
file() { jq -r --arg path "$1" ".io.by_file[] | select(.path | endswith(\$path)) | .$2" summary.json; }
is 'summary: the input' "$(file /input read_bytes)" "$read_bytes"
is 'summary: nothing is written to it' "$(file /input write_bytes)" 0
is 'summary: the lines' "$(file /lines write_bytes)" "$line_bytes"
is 'summary: a copy' "$(file /copied write_bytes)" "$size"
is 'summary: copies are counted' "$(jq '.io.copies > 0' summary.json)" true

# The same calls, seen from the kernel's side by strace.
if command -v strace >/dev/null; then
	strace -f -ttt -T -y -o trace.txt "$BYTES" input >/dev/null
	run "$SONDE" import -o imported trace.txt
	is 'strace: its log is imported' "$status" 0
	query() { "$SONDE" query imported "$1" --json | jq -r '.. | numbers' | head -n 1; }
	is 'strace: a copy is written to its target' \
		"$(query "SELECT written_bytes FROM files WHERE path LIKE '%/copied'")" "$size"
	is 'strace: and not to its source' "$(query "SELECT count(written_bytes) FROM files WHERE path LIKE '%/input'")" 0
else
	skip_missing 'strace' 'strace is not installed'
fi
done_testing
