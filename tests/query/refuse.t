#!/bin/bash
# A statement reads and nothing else, limits hold and are stated, errors say what and where.
. "$(dirname "$0")/../lib/tap.sh"

"$SONDE" record -q --probes trace -o r -- /usr/bin/python3 -c 'import os
for i in range(500): os.stat("/etc")'
ask() { run "$SONDE" query r "$@"; }
sum() { cat r/run.json r/tables/* | sha256sum; }
before=$(sum)

for sql in "ATTACH 'other.db' AS x" 'PRAGMA journal_mode = WAL' 'PRAGMA writable_schema = 1' "SELECT load_extension('x')" \
	'CREATE TABLE x(a)' 'CREATE TEMP TABLE x(a)' 'DROP TABLE io' 'DROP VIEW calls' 'DELETE FROM io' 'UPDATE run SET path = 1' \
	'INSERT INTO tables(name) VALUES (1)' 'VACUUM' "VACUUM INTO 'copy.db'" 'BEGIN' 'DETACH main' 'REINDEX' 'ANALYZE' \
	'ALTER TABLE run ADD COLUMN x' 'CREATE VIRTUAL TABLE x USING run_table' 'SAVEPOINT a' \
	'SELECT 1; SELECT 2' 'SELECT 1; DROP TABLE io' 'SELECT 1; nonsense' ';' '/* nothing */ ;' 'SELECT'; do
	ask "$sql"
	is "refused: $sql" "$status" 1
	ok 'with a sentence' test -n "$err"
done
is 'nothing was made' "$(find . -name '*.db*')" ''
is 'and the run is as it was' "$(sum)" "$before"

ask 'SELECT 1; -- a comment'
is 'a comment behind a statement is fine' "$status" 0
ask 'SELECT missing FROM io'
like 'an error says what and where' "$err" 'no such column: missing, at character 8'
ask 'SELECT * FROM nowhere'
like 'an unknown table' "$err" 'no such table: nowhere'
like 'says where to look' "$err" 'hint: .*FROM tables'
ask "SELECT * FROM quantile('io', 'nothing', 0.5)"
like 'a table function says what is wrong' "$err" "the table 'io' has no column 'nothing'"
ask "SELECT * FROM quantile('io', 'dur_ns', 2)"
like 'also of its numbers' "$err" 'between 0 and 1'

ask 'SELECT * FROM io' --rows 3 --csv
is 'a cut answer exits with 1' "$status" 1
is 'has so many rows' "$(wc -l <<<"$out")" 4
like 'and says so' "$err" 'truncated after 3 rows, the limit'
ask 'SELECT pid FROM process LIMIT 1' --rows 1
is 'an answer of just as many is whole' "$status" 0
ask 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c' --timeout 200ms
is 'time is limited' "$status" 1
like 'and it says so' "$err" 'stopped after 0.2 s, the limit'
ask 'SELECT median(a.dur_ns + b.dur_ns) FROM io a, io b' --memory 600K
is 'memory is limited' "$status" 1
like 'and it says that' "$err" 'of memory, the limit'
ask 'SELECT count(*) AS n FROM step' --json
is 'a table that was not recorded is empty' "$(jq .[0].n <<<"$out")" 0
like 'with a word' "$err" "note: the run has no table 'step'"
ask 'SELECT 1' --json --csv
is 'two formats are none' "$status" 2
run "$SONDE" query r </dev/null
is 'a run alone is no question' "$status" 2
run "$SONDE" query nowhere 'SELECT 1'
is 'a run that is not there' "$status" 1

# Hostile text is text.
mkdir $'a\tb"c\xff' && run "$SONDE" record -q --probes trace -o h -- ls $'a\tb"c\xff'
run "$SONDE" query h "SELECT path FROM io WHERE path LIKE '%b\"c%' LIMIT 1" --json
is 'names that are no UTF-8 are valid JSON' "$(jq length <<<"$out")" 1

# A damaged table is read as far as it goes, and what is missing is said.
cp -r r d
/usr/bin/python3 - <<'PY'
import os
path = "d/tables/io.tbl"
size = os.path.getsize(path)
with open(path, "r+b") as f:
    f.seek(size // 3)
    f.write(b"\xaa" * 64)
PY
run "$SONDE" query d 'SELECT * FROM io'
is 'a damaged run is answered' "$status" 0
ok 'with a note' test -n "$err"

done_testing
