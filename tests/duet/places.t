#!/bin/bash
# Comparing programs with limits, in a sandbox and in a container: what can be had here; the rest is skipped with the reason.
. "$(dirname "$0")/../lib/tap.sh"

duet() { run timeout 120 "$SONDE" duet "$@" --runs 2 --pairs 1 --design rmit --no-self-check --json; }

if "$SONDE" record --probes none -o probe --memory-limit 64M -- true 2>limits.log; then
	echo 'import os; open("leaf", "w").write(open("/proc/self/cgroup").read()); x = bytearray(10_000_000)' >fits.py
	echo 'x = bytearray(300_000_000)' >grows.py
	duet -a '/usr/bin/python3 fits.py' -b '/usr/bin/python3 fits.py' --memory-limit 128M
	is 'two programs with a limit' "$(jq -r .runs <<<"$out")" 2
	like 'are in control groups of their own' "$(cat leaf)" sonde-
	duet -a '/usr/bin/python3 fits.py' -b '/usr/bin/python3 grows.py' --memory-limit 128M
	ok 'one that takes more is no comparison' test "$status" != 0
	like 'it was killed' "$err" 'B was killed by signal 9'
else
	skip 'limits' "$(head -1 limits.log)"
fi

if "$SONDE" record --probes none -o box --sandbox -- true 2>sandbox.log; then
	echo outside >file
	duet -a "sh -c 'test \$(cat file) = outside && echo inside >file'" -b "sh -c 'test \$(cat file) = outside'" --sandbox
	is 'in a sandbox each finds the files as they were' "$(jq -r .runs <<<"$out")" 2
	is 'and leaves them' "$(cat file)" outside
else
	skip 'a sandbox' "$(head -1 sandbox.log)"
fi

run "$SONDE" duet -a true -b true --sandbox --explain
is 'what would record inside is a usage error' "$status" 2
run "$SONDE" duet -a true -b true --sandbox --image x
is 'so are two places' "$status" 2
done_testing
