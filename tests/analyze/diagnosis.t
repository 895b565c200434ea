#!/bin/bash
# Each rule of diagnosis accuses a program that has the fault, and not one that does the same work well.
. "$(dirname "$0")/../lib/tap.sh"

export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
[[ -d $PYTHONPATH/sonde ]] || skip_service 'the Python package is not there'

head -c 4000000 /dev/zero >data
cat >program.py <<'EOF'
import os, sys, threading, time, sonde

def tiny_reads(n, size):
    fd = os.open("data", os.O_RDONLY)
    for i in range(n):
        os.pread(fd, size, i * size)

def tiny_writes(n, size):
    fd = os.open("out", os.O_WRONLY | os.O_CREAT)
    piece = bytes(size)
    for i in range(n):
        os.write(fd, piece)

def opens(n):
    for i in range(20000 // n):
        fd = os.open("data", os.O_RDONLY)
        for j in range(n):
            os.lseek(fd, j, 0)
        os.close(fd)

def stats(n):
    for i in range(n):
        os.stat("data")
    for i in range(20000 - n):
        os.getpid()

def wait_for(name, seconds):            # a call on a file that lasts so long
    os.mkfifo(name)
    fd = os.open(name, os.O_RDWR)
    threading.Timer(seconds, os.write, (fd, b"x")).start()
    os.read(fd, 1)

def blocked(seconds):
    wait_for(f"fifo-{seconds}", seconds)
    time.sleep(2.5 - seconds)

def pipeline(is_ahead):
    def load():
        with sonde.span("load", "reader"):
            time.sleep(0.04)
    for i in range(20):
        ahead = threading.Thread(target=load) if is_ahead else None
        if is_ahead:
            ahead.start()
        else:
            load()
        with sonde.span("forward", "compute"):
            time.sleep(0.04)
            if is_ahead:
                ahead.join()

def team(seconds):                      # four processes; one waits in calls for so long, the others 0.05 s
    for i in range(4):
        if os.fork() == 0:
            wait_for(f"fifo-{seconds}-{i}", seconds if i == 2 else 0.05)
            os._exit(0)
    for i in range(4):
        os.wait()

def writer(seconds):                    # children say what they have done; who made them waits in calls on a file
    source, sink = os.pipe()
    for i in range(4):
        if os.fork() == 0:
            os.close(os.open("data", os.O_RDONLY))
            os.write(sink, b"done")
            os._exit(0)
    os.read(source, 16)
    wait_for("fifo-writer", seconds)
    for i in range(4):
        os.wait()

{"tiny_reads": lambda: tiny_reads(60000, 16), "tiny_reads-clean": lambda: tiny_reads(15, 65536),
 "tiny_writes": lambda: tiny_writes(60000, 16), "tiny_writes-clean": lambda: tiny_writes(15, 65536),
 "repeated_opens": lambda: opens(1), "repeated_opens-clean": lambda: opens(1000),
 "repeated_stats": lambda: stats(20000), "repeated_stats-clean": lambda: stats(20),
 "io_bound": lambda: blocked(2.4), "io_bound-clean": lambda: blocked(0.05),
 "input_waits": lambda: pipeline(False), "input_waits-clean": lambda: pipeline(True),
 "imbalance": lambda: team(0.9), "imbalance-clean": lambda: team(0.05),
 "writer": lambda: writer(0.9),
 }[sys.argv[1]]()
EOF

# has RULE RUN: is the run accused of it?
has() { "$SONDE" summary "$2" --json | jq "[.diagnosis[] | select(.rule == \"$1\")] | length"; }

for rule in tiny_reads tiny_writes repeated_opens repeated_stats io_bound input_waits imbalance; do
	for kind in "$rule" "$rule-clean"; do
		"$SONDE" record --probes trace -o "run-$kind" -- /usr/bin/python3 program.py "$kind" || fail "$kind runs"
	done
	is "$rule: the faulty program is accused" "$(has "$rule" "run-$rule")" 1
	is "$rule: the clean one is not" "$(has "$rule" "run-$rule-clean")" 0
	finding=$("$SONDE" summary "run-$rule" --json | jq ".diagnosis[] | select(.rule == \"$rule\")")
	is "$rule: evidence, range, time and a next step" \
		"$(jq '.evidence != "" and .next != "" and .from_ns >= 0 and .to_ns > .from_ns and .recoverable_ns > 0' <<<"$finding")" true
	PATH=$SONDE_STAGE/bin:$PATH run bash -c "$(jq -r .next <<<"$finding")"
	is "$rule: the next step works" "$status" 0
	ok "$rule: and tells something" test "$(wc -l <<<"$out")" -gt 1
done
# Processes that wait for each other at their pipes do no input and output, and none does more of it than the others.
"$SONDE" record -q --probes trace -o pipeline -- sh -c '(sleep 1; echo x) | cat | cat | wc -c' >/dev/null
for rule in io_bound imbalance; do
	is "$rule: a pipeline is not accused" "$(has "$rule" pipeline)" 0
done
mkfifo slow
# A buffer makes few large calls of many small ones, and one of them may take its time.
sh -c 'exec 3<slow; sleep 1; exec cat <&3 >/dev/null' &
"$SONDE" record -q --probes trace -o buffered -- "$FAULTY" print slow
wait
ok 'tiny writes: the bytes were written' test "$("$SONDE" events buffered --table io --json | grep -c printf)" -gt 0
is 'tiny_writes: buffered bytes are not accused' "$(has tiny_writes buffered)" 0
"$SONDE" record -q --probes trace -o roles -- sh -c '(sleep 1; echo x >slow) & ls / | sort | head -c 5; cat slow' >/dev/null
is 'imbalance: nor are programs that do different things' "$(has imbalance roles)" 0
"$SONDE" record -q --probes trace -o writer -- /usr/bin/python3 program.py writer
is 'imbalance: the calls of all five are there' \
	"$("$SONDE" query writer "SELECT count(DISTINCT process) AS n FROM io WHERE path LIKE '%/data' OR path LIKE '%/fifo-writer'" --json | jq '.[0].n')" 5
is 'imbalance: nor is one that writes while those whom it made only talk' "$(has imbalance writer)" 0
done_testing
