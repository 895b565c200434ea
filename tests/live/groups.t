#!/bin/bash
# Control groups that are named in the configuration: v2 and v1, in trees of files; one that is not there is not shown.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

mkdir two one
printf 'usage_usec 3500000\nuser_usec 2500000\nsystem_usec 1000000\nnr_throttled 3\nthrottled_usec 250000\n' >two/cpu.stat
echo 1048576 >two/memory.current
printf 'some avg10=0.00 avg60=0.00 avg300=0.00 total=750000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n' >two/memory.pressure
printf 'user 250\nsystem 50\n' >one/cpuacct.stat
echo 2097152 >one/memory.usage_in_bytes
printf 'groups: { two: %s/two, one: %s/one, none: /nonexistent }\n' "$TEST_DIR" "$TEST_DIR" >live.yml
start_live url --config live.yml
curl -s -o page "$(<url)/metrics"
value() { sed -n "s/^$1 //p" page; }
is 'v2: processors' "$(value 'sonde_group_cpu_seconds_total{app="two",mode="user"}') $(value 'sonde_group_cpu_seconds_total{app="two",mode="system"}')" '2.5 1'
is 'v2: how long it was held' "$(value 'sonde_group_throttled_seconds_total{app="two"}')" 0.25
is 'v2: memory' "$(value 'sonde_group_memory_bytes{app="two"}')" 1048576
is 'v2: pressure' "$(value 'sonde_group_pressure_seconds_total{app="two",resource="memory",kind="some"}')" 0.75
is 'v1: processors' "$(value 'sonde_group_cpu_seconds_total{app="one",mode="user"}') $(value 'sonde_group_cpu_seconds_total{app="one",mode="system"}')" '2.5 0.5'
is 'v1: memory' "$(value 'sonde_group_memory_bytes{app="one"}')" 2097152
is 'what is not there is not shown' "$(grep -c 'app="none"' page)" 0
is 'each family is told once' "$(grep -c '^# TYPE sonde_group_cpu_seconds_total ' page)" 1
kill "$live"
wait "$live"
printf 'groups: { x: relative }\n' >bad.yml
run "$SONDE" live --listen 127.0.0.1:0 --config bad.yml
like 'a directory that is none' "$status $err" '1 .*bad.yml:1: a group must have a name and an absolute directory'

# An application with a group of its own, whichever version and however many hierarchies this machine has.
if "$SONDE" live run --group -- true 2>group.err; then
	cat >app.py <<-'PROGRAM'
		import os, time, sonde
		open("pid", "w").write(str(os.getpid()))
		kept = bytearray(32 << 20)
		while True:
		    sonde.metric_set("alive", 1)
		    time.sleep(0.05)
	PROGRAM
	"$SONDE" live run --name grouped --group -- /usr/bin/python3 app.py &
	app=$!
	start_live url
	is_shown() {
		curl -s -o page "$(<url)/metrics"
		memory=$(value 'sonde_group_memory_bytes{app="grouped"}')
		((${memory:-0} > 32 << 20))
	}
	poll is_shown
	is 'its memory is that of what it holds' "$((${memory:-0} > 32 << 20))" 1
	is 'its processor time is told once' "$(grep -c 'sonde_group_cpu_seconds_total{app="grouped",mode="user"}' page)" 1
	# The kernel's own figures before and after a scrape are on either side of what the scrape says, to a millisecond.
	core=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)$(sed -n 's/^0:://p' "/proc/$(<pid)/cgroup")
	if [[ -e $core/io.pressure ]]; then
		cat >busy.py <<-'PROGRAM'
			import os, sys
			fd = os.open("busy", os.O_WRONLY | os.O_CREAT, 0o600)
			while True:
			    os.pwrite(fd, os.urandom(65536), 0)
			    os.fdatasync(fd)
		PROGRAM
		/usr/bin/python3 busy.py & # in the application's group, where it waits for the disk and for processors
		busy=$!
		echo "$busy" >"$core/cgroup.procs"
		total() { sed -n 's/^some.*total=//p' "$core/$1.pressure"; }
		wrong=
		for ((i = 0; i < 20; i++)); do
			for resource in cpu memory io; do
				before=$(total "$resource")
				curl -s -o page "$(<url)/metrics"
				shown=$(value "sonde_group_pressure_seconds_total{app=\"grouped\",resource=\"$resource\",kind=\"some\"}")
				awk -v b="$before" -v s="$shown" -v a="$(total "$resource")" 'BEGIN { exit !(s != "" && s >= b / 1e6 - 1e-3 && s <= a / 1e6 + 1e-3) }' ||
					wrong+=" $resource: $before $shown"
			done
		done
		is 'its pressure is what the kernel says, at every scrape' "$wrong" ''
		kill "$busy"
		wait "$busy"
	else
		skip 'its pressure is what the kernel says, at every scrape' 'this kernel has no pressure of groups'
	fi
	kill "$live" "$app"
	wait "$live" "$app"
else
	skip 'a group of its own' "no control group can be made here: $(<group.err)"
fi
done_testing
