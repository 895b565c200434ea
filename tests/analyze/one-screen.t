#!/bin/bash
# What `sonde summary` prints by default is one screen, however much a run holds; --full and --top show the rest.
. "$(dirname "$0")/../lib/tap.sh"

# lines FILE: of a screen of 100 columns.
lines() { fold -w 100 "$1" | wc -l; }

cat >program.py <<'EOF'
import os, sys, threading
os.makedirs("a" * 200, exist_ok=True)
for i in range(300):                    # many files with long names, tiny writes, repeated opens and stats
    fd = os.open(f"{'a' * 200}/{i:03}{'b' * 200}", os.O_RDWR | os.O_CREAT)
    for k in range(20):
        os.write(fd, b"x")
    os.close(fd)
for i in range(20000):
    os.stat("program.py")
    os.close(os.open("program.py", os.O_RDONLY))
fd = os.open("program.py", os.O_RDONLY)
for i in range(20000):
    os.pread(fd, 1, i % 100)
threads = [threading.Thread(target=sum, args=(range(3000000),)) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
EOF
chmod +x program.py
"$SONDE" record -q -o run -- /usr/bin/python3 program.py

for width in 60 80 100 200; do
	COLUMNS=$width "$SONDE" summary run >screen
	ok "$width columns: no line but a command to type is longer" \
		sh -c "! grep -v '^   try: ' screen | grep -v '^More: ' | grep -qE '^.{$((width + 1))}'"
done
COLUMNS=100 "$SONDE" summary run >screen
ok 'at most 40 lines of 100 columns' test "$(lines screen)" -le 40
text=$(<screen)
like 'it says how long it took' "$text" 'wall time [0-9.]+ m?s'
like 'what to do next' "$text" 'What to change'
like 'with a command to type' "$text" '1\. .*try: [a-z]'
like 'where calls went' "$text" 'Calls +[0-9.]+ k'
like 'which files' "$text" 'Files +read .*, written .*, in '
like 'what is not there' "$text" 'Not recorded +.*Spans'
like 'and where the rest is' "$text" 'sonde summary --full run'
if jq -e '.probes[] | select(.name == "sched" and .state == "ran")' run/run.json >/dev/null; then
	like 'what the time of threads went to' "$text" 'Thread time'
	# Shares of the states add up: all of them are of the thread lifetime.
	# The first of a line is the state's own; a small one has no bar behind it.
	is 'shares add up to the whole' "$(sed -n '/^Thread time/,/^total/s/^[^%]* \([0-9.]*\) %.*/\1/p' screen |
		awk '{ sum += $1 } END { print (sum > 99.5 && sum < 100.5) }')" 1
else
	skip_missing 'what the time of threads went to' 'context switches are not seen here'
fi

COLUMNS=100 "$SONDE" summary --full run >full
ok 'in full it is longer' test "$(lines full)" -gt 40
like 'and has the tables' "$(<full)" 'CALL +COUNT +ERRORS'
"$SONDE" summary --top 2 run >top
like '--top shows every section too' "$(<top)" 'CALL +COUNT +ERRORS'
run "$SONDE" summary --json run
is 'JSON has every key' "$(jq -c '[has("wall_ns", "processes", "threads", "states", "cpu", "io", "network", "iterations", "swarms", "diagnosis", "probes")] | all' <<<"$out")" true

# A run that knows next to nothing.
"$SONDE" record -q --probes trace -o little -- true
run "$SONDE" summary little
is 'a run with one event: fine' "$status:$err" '0:'
like 'no issues: it says so' "$out" 'No issues found'

done_testing
