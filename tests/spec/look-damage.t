#!/bin/bash
# A run that is cut, damaged or incomplete: what is intact is shown and the loss is stated; never a crash.
. "$(dirname "$0")/../lib/tap.sh"

holds() { jq -e "$1" <<<"$out" >/dev/null; }
are() { jq -es "all(.[]; $1)" <<<"$out" >/dev/null; }

mkdir files
for i in $(seq 300); do echo "$i" >files/"$i"; done
"$SONDE" record -o whole -- tar -cf out.tar files
rows=$("$SONDE" events --json whole | wc -l)

# damaged: a fresh copy.
fresh() {
	rm -rf damaged
	cp -r whole damaged
}

run "$SONDE" info --check whole
is 'a whole run is fine' "$status" 0

fresh
truncate -s -40 damaged/tables/io.tbl
run "$SONDE" info --check damaged
is 'a table without its index: --check fails' "$status" 1
like 'and it is said' "$out" "table 'io': "
run "$SONDE" events --json damaged
is 'its events are all there' "$status:$(wc -l <<<"$out")" "0:$rows"

fresh
truncate -s $(($(stat -c %s whole/tables/io.tbl) / 2)) damaged/tables/io.tbl
run "$SONDE" info --check --json damaged
is 'half a table: --check fails' "$status" 1
ok 'the loss is in the table and in words' holds '.tables.io.loss.is_open and (.loss | length > 0)'
run "$SONDE" events --json damaged
is 'events end where the table does' "$status" 0
ok 'and are fewer' test "$(wc -l <<<"$out")" -lt "$rows"
run "$SONDE" info damaged
is 'without --check the status is 0' "$status" 0

fresh
for offset in 300 400 500; do
	printf '\xa5' | dd of=damaged/tables/io.tbl bs=1 seek=$offset conv=notrunc 2>/dev/null
done
run "$SONDE" info --check damaged
is 'flipped bytes are found' "$status" 1
run "$SONDE" events --json damaged
is 'events go on' "$status" 0
run "$SONDE" export damaged
ok 'a trace is still valid' holds .

for table in io process thread file call string; do
	fresh
	rm damaged/tables/$table.tbl
	run "$SONDE" info damaged
	is "without the table $table: info works" "$status" 0
	like "without the table $table: it is said" "$out" "the table '$table' is gone"
	run "$SONDE" events --json damaged
	is "without the table $table: events work" "$status" 0
	ok "without the table $table: and are valid" are 'has("path") and has("call")'
	run "$SONDE" export damaged
	ok "without the table $table: the trace is valid" holds .
	printf 'garbage' >damaged/tables/$table.tbl
	run "$SONDE" info --check damaged
	is "garbage for the table $table is found" "$status" 1
	run "$SONDE" events --table process damaged
	is "garbage for the table $table: events work" "$status" 0
done

fresh
printf '{"sonde_run": 1, "state": "comp' >damaged/run.json
run "$SONDE" info damaged
is 'a cut run.json: info works' "$status" 0
like 'a cut run.json: it is said' "$out" 'run.json is damaged'
run "$SONDE" events --json damaged
is 'a cut run.json: all events' "$(wc -l <<<"$out")" "$rows"
rm damaged/run.json
run "$SONDE" info damaged
is 'no run.json: refused' "$status" 1
like 'with the way out' "$err" 'hint: sonde recover damaged'
printf '{"sonde_run": 999}' >damaged/run.json
run "$SONDE" info damaged
is 'a newer version: refused' "$status" 1
like 'and it says so' "$err" 'version 999'

done_testing
