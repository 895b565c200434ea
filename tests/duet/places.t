#!/bin/bash
# Comparing programs with limits, with priority, in a sandbox and in a container: what can be had here; the rest is skipped with the reason.
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

# /proc/self/stat: 6 is the session, 19 the nice value, 41 the scheduling class (0 is the usual one)
about="sh -c 'cut -d \" \" -f 6,19,41 /proc/\$\$/stat >>told; cat /proc/\$\$/autogroup >>groups'"
own="$(cut -d ' ' -f 6 /proc/$$/stat)"
duet -a "$about" -b "$about" --priority none
is 'without priority programs are as we are' "$(sort -u told)" "$(cut -d ' ' -f 6,19,41 /proc/$$/stat)"
is 'and that is told' "$(jq .priority <<<"$out")" false
if nice -n -20 true 2>/dev/null && [[ $(nice -n -20 nice) == -20 ]]; then
	rm -f told groups
	duet -a "$about" -b "$about"
	is 'programs run ahead of others' "$(cut -d ' ' -f 2,3 told | sort -u)" '-20 0'
	is 'each in a session of its own' "$(grep -c "^$own " told) $(cut -d ' ' -f 1 told | sort -u | wc -l)" "0 $(wc -l <told)"
	if [[ $(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null) == 1 ]]; then
		is 'which is ahead of other sessions' "$(sed 's/.* nice //' groups | sort -u)" -20
	else
		skip 'which is ahead of other sessions' 'the kernel does not group sessions'
	fi
	is 'and that is told too' "$(jq .priority <<<"$out")" true
else
	skip 'priority' 'this user may not have one'
fi

# an ordinary user: no better nice value, but sessions of their own
if [ "$(id -u)" = 0 ] && chmod 755 "$TEST_DIR" && mkdir free && chmod 777 free && setpriv --reuid=65534 --regid=65534 --clear-groups "$SONDE" --version >/dev/null 2>&1; then
	cd free || exit 1
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$SONDE" duet -a "$about" -b "$about" --runs 2 --pairs 1 --design rmit --no-self-check --json
	is 'an ordinary user has what he may have' "$(cut -d ' ' -f 2,3 told | sort -u) $(jq .priority <<<"$out")" "$(cut -d ' ' -f 19,41 /proc/$$/stat) false" || diag "$err"
	is 'his programs are in sessions of their own' "$(grep -c "^$own " told) $(cut -d ' ' -f 1 told | sort -u | wc -l)" "0 $(wc -l <told)"
	cd .. || exit 1
else
	skip 'an ordinary user' 'we are not root, or nobody cannot read this directory'
fi

run "$SONDE" duet -a true -b true --sandbox --explain
is 'what would record inside is a usage error' "$status" 2
run "$SONDE" duet -a true -b true --sandbox --image x
is 'so are two places' "$status" 2
done_testing
