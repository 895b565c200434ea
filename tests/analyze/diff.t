#!/bin/bash
# Two runs and two sets of runs compared: what was added is found, what is the same is not accused, no interval without repeats.
. "$(dirname "$0")/../lib/tap.sh"

# program N: N small writes to one file, and a read for each
cat >program.py <<'EOF'
import os, sys
fd = os.open("out", os.O_RDWR | os.O_CREAT, 0o600)
for i in range(int(sys.argv[1])):
    os.pwrite(fd, b"x" * 100, 0)
EOF
for i in 1 2 3; do
	"$SONDE" record -q --probes trace -o "a$i" -- /usr/bin/python3 program.py 10
	"$SONDE" record -q --probes trace -o "b$i" -- /usr/bin/python3 program.py 40
done
fact() { jq -r "$1" <<<"$out"; }

run "$SONDE" diff --json --threshold 1000000% a1 b1
is 'two runs are compared' "$status" 0
is 'without an interval' "$(fact .note)" 'one run each, no interval'
is 'no item claims to be sure' "$(fact '[.items[] | select(.sure or .lo != null)] | length')" 0
is 'bytes written' "$(fact '.items[] | select(.list == "io" and .quantity == "write_bytes") | .change')" 3000
is 'calls' "$(fact '.items[] | select(.list == "io" and .quantity == "writes") | .change')" 30
is 'the verdict' "$(fact .verdict)" equivalent
is 'a file has its name' "$(fact '[.items[] | select(.list == "io.by_file" and .name == "'"$PWD"'/out")] | length')" 1

run "$SONDE" diff --json --threshold 1000000% a1,a2,a3 b1,b2,b3
is 'sets of runs' "$status" 0
is 'have no note' "$(fact .note)" null
is 'what always changes by the same is sure' "$(fact '.items[] | select(.list == "io" and .quantity == "writes") | "\(.sure) \(.lo) \(.hi)"')" 'true 30 30'
is 'and comes first' "$(fact '[.items[].sure] | . == (sort | reverse)')" true
is 'both numbers of runs' "$(fact '"\(.runs_a) \(.runs_b)"')" '3 3'

run "$SONDE" diff --json a1,a2,a3 a1,a2,a3
is 'a set and itself' "$(fact .ratio)" 1
is 'nothing is sure to have changed' "$(fact '[.items[] | select(.sure)] | length')" 0
isnt_slower=$(fact .verdict)
ok 'and nothing is slower' test "$isnt_slower" != slower -a "$status" = 0

# A wall time that is longer by a sleep: slower beyond any threshold that is below it.
"$SONDE" record -q --probes trace -o quick -- true
"$SONDE" record -q --probes trace -o slow -- sleep 1
run "$SONDE" diff quick slow
is 'slower exits with 3' "$status" 3
like 'and says so' "$out" '^B is slower: wall time \+'
like 'in words that promise no more' "$out" 'one run each, no interval'
run "$SONDE" diff slow quick
is 'faster is fine' "$status" 0

# Every list: functions, states, counters, iterations, swarms.
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
cat >steps.py <<'PY'
import sys, time, sonde
for i in range(12):
    sonde.step("train", i)
    sonde.counter("queue", int(sys.argv[1]))
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass
PY
"$SONDE" record -q -o s1 -- /usr/bin/python3 steps.py 5
"$SONDE" record -q -o s2 -- /usr/bin/python3 steps.py 9
is 'waits that happened to have a stack are no change' "$("$SONDE" diff s1 s2 --json | jq '[.items[] | select(.list | startswith("offcpu"))] | length')" 0
run "$SONDE" diff s1 s2 --json --threshold 1000000%
is 'a counter of the program' "$(fact '.items[] | select(.list == "counters.by_name" and .name == "queue") | "\(.quantity) \(.change)"')" 'mean 4'
is 'iterations' "$(fact '[.items[] | select(.list == "iterations.by_name" and .name == "train")] | length')" 1
has() { fact "[.items[] | select(.list == \"$1\")] | length > 0"; }
if [[ $("$SONDE" summary s1 --json | jq '.cpu.samples // 0') -gt 10 ]]; then
	is 'functions, swarms, states, counters of the machine' \
		"$(has cpu.by_function) $(has swarms.by_swarm) $(has states) $(has counters.of_probes)" 'true true true true'
else
	skip 'functions, swarms, states' 'CPU samples are not to be had here'
fi

# Traffic is by who talks to whom.
/usr/bin/python3 - <<'PY'
import struct
def capture(name, bytes_to):
    with open(name, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for host, n in bytes_to.items():
            udp = struct.pack(">HHHH", 5000, 6000, 8 + n, 0) + bytes(n)
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + bytes((10, 0, 0, 1, 10, 0, 0, host)) + udp
            out.write(struct.pack("<IIII", 1700000000, host, len(ip), len(ip)) + ip)
capture("few.pcap", {2: 100, 3: 100})
capture("more.pcap", {2: 100, 3: 1100})
PY
for traffic in few more; do
	"$SONDE" import "$traffic.pcap" -o "$traffic" >/dev/null
done
run "$SONDE" diff few more --json
is 'traffic' "$(fact '[.items[] | select(.list == "network.matrix" and .change != 0) | "\(.name) \(.quantity) \(.change)"] | join(", ")')" \
	'10.0.0.1 to 10.0.0.3 bytes 1000'

run "$SONDE" diff a1 none
is 'a run that is not there' "$status" 1
run "$SONDE" diff a1
is 'one run is a usage error' "$status" 2
run "$SONDE" diff --threshold lots a1 b1
is 'a threshold that is none' "$status" 2

done_testing
