#!/bin/bash
# A loop of twenty iterations that nobody announced is found, with noise between its calls and jitter in its time.
. "$(dirname "$0")/../lib/tap.sh"

cat >program.py <<'PY'
import os, random, sys, time
random.seed(int(sys.argv[1]))
iterations = int(sys.argv[2])
fd = os.open("data", os.O_RDWR | os.O_CREAT, 0o600)
def noise():                                    # one call of twenty is none of the loop's
    if random.random() < 0.05:
        random.choice((lambda: os.access("/etc", 0), lambda: os.lseek(fd, 0, 0), lambda: os.stat("/")))()
for i in range(iterations):
    for k in range(20):
        os.pwrite(fd, b"x" * 64, k * 64)
        noise()
    for k in range(random.randint(9, 11)):      # a tenth more or less
        os.pread(fd, 64, k * 64)
        noise()
    os.ftruncate(fd, 4096)
    os.fdatasync(fd)
    time.sleep(0.004 * random.uniform(0.9, 1.1))
PY
for seed in 1 2 7 19; do
	"$SONDE" record -q --probes trace -o "r$seed" -- /usr/bin/python3 program.py "$seed" 20
	run "$SONDE" summary "r$seed" --json
	is "twenty iterations among noise, seed $seed" "$(jq '.iterations.by_name[0].count' <<<"$out")" 20
	is 'each of them is there' "$(jq '.iterations.each | length' <<<"$out")" 20
	is 'and says where they were found' "$(jq -r .iterations.source <<<"$out")" 'found in calls'
	is 'iterations follow each other' \
		"$(jq '[.iterations.each as $e | range(1; $e | length) | $e[.].from_ns >= $e[. - 1].from_ns + $e[. - 1].dur_ns] | all' <<<"$out")" true
done
"$SONDE" record -q --probes trace -o more -- /usr/bin/python3 program.py 1 37
run "$SONDE" summary more --json
is 'any other number, too' "$(jq '.iterations.by_name[0].count' <<<"$out")" 37
run "$SONDE" summary more
like 'people see it' "$out" 'found in calls'

"$SONDE" record -q --probes trace -o none -- /usr/bin/python3 -c 'import os
for i in range(5): os.stat("/")'
run "$SONDE" summary none --json
is 'where there is no loop none is found' "$(jq .iterations <<<"$out")" null
like 'and the reason is given' "$(jq -r .reasons.iterations <<<"$out")" 'no steps'

# Python imports a hundred modules with the same calls each: that is not the loop of a program that has another or none.
imports='import argparse, asyncio, csv, email.message, http.client, json, logging, sqlite3, subprocess, unittest, xml.dom.minidom'
cat >compute.py <<PY
$imports
import time
end = time.process_time() + 2
while time.process_time() < end:
    sum(range(1000))
PY
cat >epochs.py <<PY
$imports
import os, time
fd = os.open("log", os.O_WRONLY | os.O_CREAT, 0o600)
for epoch in range(25):
    time.sleep(0.04)
    os.write(fd, b"%d\n" % epoch)
PY
cat >children.py <<PY
$imports
for i in range(30):
    assert subprocess.run(["/bin/echo", str(i)], capture_output=True, text=True).stdout == f"{i}\n"
PY
cat >files.py <<PY
$imports
import os, time
os.mkdir("many")
for i in range(60):
    with open(f"many/{i}", "wb") as f:
        f.write(bytes(20000))
    time.sleep(0.005)
PY
found() { "$SONDE" record -q --probes trace -o "$1" -- /usr/bin/python3 "$1.py" && "$SONDE" summary "$1" --json | jq -r '.iterations.count'; }
is 'imports before a computation are no iterations' "$(found compute)" null
is 'a call now and then is an iteration' "$(found epochs)" 25
is 'so is a child' "$(found children)" 30
is 'and a file' "$(found files)" 60

run "$SONDE" summary "$TEST_DIR/r1" --part 0/2 -o p0
run "$SONDE" summary "$TEST_DIR/r1" --part 1/2 -o p1
"$SONDE" merge p0 p1 --json >merged.json
"$SONDE" summary "$TEST_DIR/r1" --json >whole.json
ok 'parts find the same' cmp merged.json whole.json

done_testing
