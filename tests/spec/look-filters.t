#!/bin/bash
# The filters of sonde events: each alone and together they select what jq selects from everything.
. "$(dirname "$0")/../lib/tap.sh"

cat >program.py <<'PROGRAM'
import os, sys, threading, time
os.makedirs("data/sub", exist_ok=True)
os.makedirs("data2", exist_ok=True)
for name in ["data/a.txt", "data/sub/b.txt", "data2/c.txt", "d.dat"]:
    with open(name, "wb", buffering=0) as f:
        f.write(b"12345")
        f.write(b"67890")
    with open(name, "rb", buffering=0) as f:
        f.read(4)
try:
    os.open("data/none", os.O_RDONLY)
except OSError:
    pass
r, w = os.pipe()
t = threading.Timer(0.5, lambda: os.write(w, b"x"))
t.start()
os.read(r, 1)
t.join()
if os.fork() == 0:
    os.stat("d.dat")
    os._exit(0)
os.wait()
PROGRAM
"$SONDE" record -- /usr/bin/python3 program.py
"$SONDE" events --json >all.json
start=$("$SONDE" info --json | jq .clock.start_mono_ns)

# same NAME JQ OPTION...: the options select what the jq expression does, and that is something.
same() {
	local name=$1 expression=$2
	shift 2
	jq -c "select($expression)" all.json >want.json
	"$SONDE" events --json "$@" | jq -c . >got.json
	ok "$name: there is something to select" test -s want.json
	is "$name: the same" "$(cmp want.json got.json 2>&1)" ''
}

pid=$(jq -s '.[0].pid' all.json)
child=$(jq -s "[.[].pid | select(. != $pid)][0]" all.json)
tid=$(jq -s "[.[] | select(.pid == $pid) | .tid | select(. != $pid)][0]" all.json)
same '--pid' ".pid == $child" --pid "$child"
same '--tid' ".tid == $tid" --tid "$tid"
same '--call' '.call == "write"' --call write
same '--call with several' '.call == "write" or .call == "read"' --call write,read
same '--call twice' '.call == "write" or .call == "read"' --call write --call read
same '--call with a pattern' '.call | test("^[^/]*stat[^/]*$")' --call '*stat*'
same '--path below a directory' '.path == "'"$PWD/data"'" or (.path // "" | startswith("'"$PWD/data/"'"))' --path data
same '--path with a slash' '.path == "'"$PWD/data"'" or (.path // "" | startswith("'"$PWD/data/"'"))' --path ./data/
same '--path absolute' '.path == "'"$PWD/d.dat"'"' --path "$PWD/d.dat"
same '--path with a pattern' '.path // "" | endswith(".txt")' --path '*.txt'
same '--errors' '.errno > 0' --errors
same '--min-duration' '.dur_ns != null and .dur_ns >= 40000000' --min-duration 40ms
middle=$(jq -s "[.[].ts_ns] | sort | .[length / 2 | floor] - $start" all.json)
same '--from' ".ts_ns >= $start + $middle" --from "${middle}ns"
same '--to' ".ts_ns < $start + $middle" --to "${middle}ns"
same 'together' '.call == "write" and (.path // "" | startswith("'"$PWD/data/"'"))' --call write --path data --to 10s

for n in 1 7 100000; do
	is "--limit $n is the first" "$("$SONDE" events --json --limit $n | jq -c .)" "$(head -n $n all.json | jq -c .)"
	is "--tail $n is the last" "$("$SONDE" events --json --tail $n | jq -c .)" "$(tail -n $n all.json | jq -c .)"
done
is '--tail of a selection' "$("$SONDE" events --json --tail 2 --call write | jq -c .)" \
	"$(jq -c 'select(.call == "write")' all.json | tail -n 2)"

run "$SONDE" events --call no_such_call --json
is 'what selects nothing prints nothing and is fine' "$status:$out" '0:'
run "$SONDE" events --path /no/such/path --json
is 'a path that is not there too' "$status:$out" '0:'

usage() {
	run "$SONDE" events "${@:2}"
	is "$1" "$status" 2
	is "$1: nothing is printed" "$out" ''
}
usage '--limit and --tail together' --limit 1 --tail 1
usage '--call of spans' --table span --call read
usage '--name of calls' --name x
usage '--errors of processes' --table process --errors
usage '--from of files' --table file --from 1s
usage '--pid of calls in general' --table call --pid 1
usage 'a time without a unit' --from 5
usage 'a limit of 0' --limit 0
like 'it says what does not fit' "$("$SONDE" events --table span --call read 2>&1)" "--call does not apply to the table 'span'"

run "$SONDE" events --table process --json --pid "$child"
is 'processes by pid' "$(jq .pid <<<"$out")" "$child"
run "$SONDE" events --table file --json --path data
is 'files by path' "$(jq -r .path <<<"$out" | sort -u | head -n 1)" "$PWD/data"

done_testing
