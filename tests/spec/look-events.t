#!/bin/bash
# sonde events --table io --json: one object a line with the promised keys; unknown values are null; in time order.
. "$(dirname "$0")/../lib/tap.sh"

all() { jq -es "all(.[]; $1)" <<<"$out" >/dev/null; }
holds() { jq -es "$1" <<<"$out" >/dev/null; }

cat >program.py <<'PROGRAM'
import os, threading
fd = os.open("data.bin", os.O_RDWR | os.O_CREAT, 0o640)
os.pwrite(fd, b"x" * 1000, 24)
os.pread(fd, 50, 0)
os.close(fd)
os.rename("data.bin", "other.bin")
try:
    os.open("missing", os.O_RDONLY)
except OSError:
    pass
def work():
    for i in range(300):
        os.stat("other.bin")
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
PROGRAM
"$SONDE" record --probes trace -- /usr/bin/python3 program.py

run "$SONDE" events --json
is 'it exits with 0' "$status" 0
is 'it says nothing on standard error' "$err" ''
ok 'every line is an object' all 'type == "object"'
is 'as many as the table has' "$(wc -l <<<"$out")" "$("$SONDE" info --json | jq .tables.io.rows)"
ok 'with the promised keys' all 'has("ts_ns") and has("dur_ns") and has("pid") and has("tid") and has("call") and has("path")
	and has("fd") and has("ret") and has("errno") and has("size") and has("offset")'
ok 'and the further ones' all 'has("process") and has("category") and has("path2") and has("args") and has("text")'
ok 'all have the same keys' holds '[.[] | keys] | unique | length == 1'
ok 'numbers are numbers' all '(.ts_ns | type) == "number" and (.pid | type) == "number"'
ok 'names are never null' all '.call | type == "string"'
ok 'the order is that of time' holds '[.[].ts_ns] | . == sort'
ok 'times lie in the run' holds "$("$SONDE" info --json | jq -c '{from: .clock.start_mono_ns,
	to: (.clock.start_mono_ns + .wall_ns)}') as \$run | all(.[]; .ts_ns >= \$run.from and .ts_ns <= \$run.to)"

is 'pwrite as it was' "$(jq -c 'select(.call | startswith("pwrite")) | [.path, .ret, .errno, .size, .offset]' <<<"$out")" \
	"[\"$TEST_DIR/data.bin\",1000,0,1000,24]"
is 'pread as it was' "$(jq -c 'select((.call | startswith("pread")) and (.path | endswith("data.bin"))) |
	[.ret, .size, .offset]' <<<"$out")" '[50,50,0]'
is 'rename has two paths' "$(jq -c 'select(.call == "rename") | [.path, .path2, .ret, .fd, .size, .offset]' <<<"$out")" \
	"[\"$TEST_DIR/data.bin\",\"$TEST_DIR/other.bin\",0,null,null,null]"
is 'a failure has its error' "$(jq -c 'select(.path == "'"$TEST_DIR/missing"'") | [.ret, .errno, .error]' <<<"$out")" \
	'[-1,2,"ENOENT"]'
is 'arguments have their names' "$(jq -c 'select(.path == "'"$TEST_DIR/data.bin"'" and (.call | startswith("open"))) |
	.args.mode' <<<"$out")" "$((8#640))"
is 'threads are told apart' "$(jq -c 'select(.path == "'"$TEST_DIR/other.bin"'" and (.call | test("stat"))) | .tid' \
	<<<"$out" | sort | uniq -c | awk '{ print $1 }' | sort -u)" 300

# For people.
run "$SONDE" events
is 'one line each and a heading' "$(wc -l <<<"$out")" "$(($("$SONDE" events --json | wc -l) + 1))"
like 'the call with its arguments and result' "$out" \
	"pwrite(64)?\(fd=[0-9]+, size=1000, offset=24\) -> 1000 +$TEST_DIR/data.bin"
like 'errors by name' "$out" "-> -1 ENOENT +$TEST_DIR/missing"
like 'two paths' "$out" "rename\(\) -> 0 +$TEST_DIR/data.bin, $TEST_DIR/other.bin"
like 'time since the start' "$out" $'\n +0\.[0-9]{9} +[0-9.]+ [mun]?s '

# The other tables.
run "$SONDE" events --table process --json
is 'a process as it was' "$(jq -c '[.process, .parent, .exit_code, .exit_signal, .argv, .cwd, .state]' <<<"$out")" \
	"[1,null,0,null,[\"/usr/bin/python3\",\"program.py\"],\"$TEST_DIR\",\"ended\"]"
ok 'with all its keys' all 'has("pid") and has("ppid") and has("start_ns") and has("end_ns") and has("exe") and
	has("events") and has("dropped") and has("filtered")'
run "$SONDE" events --table thread --json
is 'five threads' "$(wc -l <<<"$out")" 5
run "$SONDE" events --table call --json
ok 'calls have names and categories' all '(.call | type) == "string" and (.category | type) == "string"'
run "$SONDE" events --table file --json
ok 'files have absolute paths' holds 'any(.[]; .path == "'"$TEST_DIR/data.bin"'")'
for table in span step mark counter meta; do
	run "$SONDE" events --table $table --json
	is "an absent table $table is empty" "$status:$out" '0:'
done
run "$SONDE" events --table no-such
is 'an unknown table is a usage error' "$status" 2
for table in process thread call file; do
	run "$SONDE" events --table $table
	is "$table for people" "$status" 0
	unlike "$table has no blanks at line ends" "$out" $' (\n|$)'
done

# Real programs.
"$SONDE" record --probes trace -- sqlite3 test.db 'create table t(a); insert into t values (1), (2); select sum(a) from t;' >/dev/null
run "$SONDE" events --json --path test.db
ok 'sqlite3 wrote its database' holds 'any(.[]; .call | test("write")) and ([.[].ts_ns] | . == sort)'

done_testing
