#!/bin/bash
# record -f replaces the files of a run, and no other file of its directory.
. "$(dirname "$0")/../lib/tap.sh"

record() { "$SONDE" record --probes trace "$@"; }
state() { jq -r .name "$1/run.json"; }
# fill DIR: a run with files of the user in and below it.
fill() {
	rm -rf "$1"
	record --name old -o "$1" -- true
	mkdir -p "$1/results"
	for file in thesis run.json.bak results/thesis tables/thesis tables/io.tbl.bak; do echo thesis >"$1/$file"; done
}
intact() { [[ $(cd "$1" && cat thesis run.json.bak results/thesis tables/thesis tables/io.tbl.bak | grep -c thesis) == 5 ]]; }

fill run
"$SONDE" preprocess run >/dev/null
echo thesis >run/pyramid/thesis
run record --name new -f -o run -- true
is 'a run with files of the user is replaced' "$status" 0
is 'by the new one' "$(state run)" new
ok 'the files stay' intact run
ok 'also those in a cache' test -e run/pyramid/thesis
ok 'the cache does not' test ! -e run/pyramid/lanes.pyr
run "$SONDE" info run --json
is 'and it can be read' "$status" 0

fill run
(cd run && record --name new -f -o . -- true)
is '-o . replaces the run of the current directory' "$? $(state run)" '0 new'
ok 'and keeps the files' intact run
fill run
run record --name new -f -o run/ -- true
is 'a trailing slash changes nothing' "$status $(state run)" '0 new'
ok 'the files stay there, too' intact run
fill run
ln -s run link
run record --name new -f -o link -- true
is 'the run behind a link is replaced' "$status $(state run)" '0 new'
ok 'and the link stays' test -L link
ok 'with the files' intact run

# What cannot be started deletes nothing.
run record -f -o run -- ./missing
is 'a program that is missing is an error' "$status" 127
is 'before anything is deleted' "$(state run)" new
: >not-executable
run record -f -o run -- ./not-executable
is 'so is one that cannot be executed' "$status $(state run)" '126 new'
run record -f -o run --pid 999999999
ok 'so is a process that is missing' test "$status" != 0
is 'and the run is kept' "$(state run)" new
ok 'the files as well' intact run
run record -f -o run --cgroup "$PWD/run"
is 'so is a control group that is missing' "$status $(state run)" '125 new'

# A new run that fails takes only its own files along.
mkdir own
run record -o own --pid 999999999
ok 'a directory of the user stays when recording fails' test -d own
mkdir -p runs
SONDE_RUNS=$PWD/runs run record --pid 999999999
is 'a directory that was made for the run does not' "$(find runs -mindepth 1 -maxdepth 1 -type d | wc -l)" 0

# Directories that are not runs.
mkdir -p thesis/tables
echo thesis >thesis/tables/io.tbl
run record -f -o thesis -- true
is 'a directory that is not a run is an error' "$status" 125
ok 'and stays' test -e thesis/tables/io.tbl
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
	fill run
	chmod 755 . run run/tables
	chmod 644 run/run.json
	chmod 777 run run/tables
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$SONDE" record --probes trace -f -o run -- true
	is 'a run of another user is an error' "$status" 125
	is 'and stays' "$(state run)" old
	ok 'with all files' intact run
	chown 65534 run
	run record --name new -f -o run -- true
	is 'unless root replaces it' "$status $(state run)" '0 new'
else
	for name in 'a run of another user is an error' 'and stays' 'with all files' 'unless root replaces it'; do
		skip "$name" 'needs root and setpriv'
	done
fi

# join has the same option.
for host in a b; do record -o "$host" -- true; done
fill run
run "$SONDE" join -f -o run a b
is 'join -f replaces a run' "$status" 0
ok 'and keeps the files' intact run
fill run
run "$SONDE" join -f -o run a missing
ok 'join of a run that is missing fails' test "$status" != 0
is 'before anything is deleted' "$(state run)" old
done_testing
