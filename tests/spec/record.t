#!/bin/bash
# record leaves a run where it says and hands on the program's own end.
. "$(dirname "$0")/../lib/tap.sh"

run "$SONDE" record -- sh -c 'echo to stdout; echo to stderr >&2; exit 3'
is 'the exit code is the program'"'"'s' "$status" 3
is 'so is standard output' "$out" 'to stdout'
is 'and standard error' "$err" 'to stderr'
ok 'the run is in sonde-runs, and latest names it' test -f sonde-runs/latest/run.json
is 'nobody else may look' "$(stat -c %a "sonde-runs/$(readlink sonde-runs/latest)" sonde-runs/latest/run.json | tr '\n' ' ')" '700 600 '
is 'the exit code is in run.json' "$(jq .exit.code sonde-runs/latest/run.json)" 3

run "$SONDE" record -o here --name mine -- true
is '-o makes the bundle there' "$(jq -r .name here/run.json)" mine
run "$SONDE" record -o here -- true
is 'and refuses to write over it' "$status" 125
like 'saying so' "$err" 'here'

before=$(find sonde-runs -maxdepth 1 | wc -l)
run "$SONDE" record -- no-such-program
is 'a program that is not there: 127' "$status" 127
like 'with its name' "$err" "cannot execute 'no-such-program'"
run "$SONDE" record -- /etc/passwd
is 'one that cannot be executed: 126' "$status" 126
run "$SONDE" record --
is 'no program at all: a usage error' "$status" 2
run "$SONDE" record --probes nonsense -- true
is 'an unknown probe: a usage error' "$status" 2
is 'failures leave no run behind' "$(find sonde-runs -maxdepth 1 | wc -l)" "$before"

run "$SONDE" record "sh -c 'exit 5'"
is 'a command given as one string is split' "$status" 5
# shellcheck disable=SC2016 # that is the point
run "$SONDE" record 'echo $HOME'
is 'and never expanded' "$status" 2
like 'with a word on what to do' "$err" 'hint'

# shellcheck disable=SC2016
run "$SONDE" record --shell 'echo $((6 * 7))'
is '--shell lets a shell do it' "$out" 42

run bash -c "'$SONDE' record -- sh -c 'kill -TERM \$\$'; echo \$?"
is 'a signal that kills the program is handed on' "$out" 143
run "$SONDE" record -v -- true
like '-v says what was recorded' "$err" 'recorded .* events of 1 process in sonde-runs/'

# The reading commands and what they know.
mkdir data
echo hello >data/in
"$SONDE" record -o cat --probes trace -- cat data/in >/dev/null
"$SONDE" events cat --table io --json >trace
is 'every event has the stable keys' \
	"$(jq -c 'select((["ts_ns","dur_ns","pid","tid","call","path","fd","ret","errno","size","offset"] - keys) != [])'  trace)" ''
is 'the read of the file is there' \
	"$(jq -c "select(.path == \"$PWD/data/in\" and .call == \"read\" and .ret == 6) | [.size > 0, .offset, .errno]"  trace)" '[true,0,0]'
is 'cat opened it once' "$(jq -r "select(.path == \"$PWD/data/in\") | .call" trace | grep -c '^open')" 1

# Filters.
"$SONDE" record -o only --include data -- cat data/in /etc/hostname >/dev/null
is '--include keeps what is below' "$("$SONDE" events only --json | jq -r 'select(.call == "read") | .path' | sort -u)" "$PWD/data/in"
ok 'and counts what it left out' test "$(jq '.probes[0].filtered' only/run.json)" -gt 0
"$SONDE" record -o without --exclude data -- cat data/in /etc/hostname >/dev/null
is '--exclude leaves out what is below' "$("$SONDE" events without --json | jq -r .path | grep -c "$PWD/data/in")" 0
"$SONDE" record -o data-only --only data -- cat data/in >/dev/null
is '--only keeps the categories' "$("$SONDE" events data-only --json | jq -r .category | sort -u)" data
"$SONDE" record -o slow --min-duration 10s -- cat data/in >/dev/null
is '--min-duration drops what is quick' "$("$SONDE" events slow --json | jq -c 'select(.dur_ns != null and .dur_ns < 10000000000)' | wc -l)" 0

# Children that outlive the program.
run "$SONDE" record -o gone -- sh -c 'sleep 5 & echo $! >pid'
is 'the program'"'"'s end is the end' "$status" 0
is 'what still ran is said to' "$("$SONDE" info gone --json | jq -r '[.processes[].state] | map(select(. == "running")) | length')" 1
kill "$(cat pid)"
run "$SONDE" record -o all --follow -- sh -c 'sh -c "sleep 0.3; echo late >late" & exit 0'
is '--follow waits for the others' "$(cat late 2>/dev/null)" late
ok 'and records them' test "$("$SONDE" events all --json --path "$PWD/late" | wc -l)" -gt 0
done_testing
