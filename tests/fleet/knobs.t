#!/bin/bash
# Knobs of a job are set while it runs, and are there again after its agent was lost.
. "$(dirname "$0")/fleet.sh"

sonde fleet up --lease 2s >/dev/null || fail 'a fleet comes up'
cat >turn.py <<'END'
import os, time
from sonde import job
told = {}
with open("attempts", "a") as file:
    file.write(f"{os.getpid()}\n")
while not job.should_stop() and not os.path.exists("go"):
    job.changed()
    now = {"threads": job.knob("threads", 1), "mode": job.knob("mode", "slow"), "rate": job.knob("rate", 0.5)}
    if now != told:
        with open("seen", "a") as file:
            file.write(f'{now["threads"]} {now["mode"]} {now["rate"]}\n')
        told = now
    time.sleep(0.02)
END
job=$(sonde submit --env "PYTHONPATH=$SONDE_STAGE/lib/sonde/python" -- /usr/bin/python3 turn.py)
last() { [[ -e seen && $(tail -n 1 seen) == "$1" ]]; }
ok 'it starts with its defaults' wait_for last '1 slow 0.5'
run sonde job knob "$job" threads=4
is 'a knob is set' "$status" 0
ok 'the program has it' wait_for last '4 slow 0.5'
sonde job knob "$job" mode=fast rate=0.25
ok 'a text and a number too' wait_for last '4 fast 0.25'
for bad in threads 'a b=1' =1 'x.y=1' "$(printf 'x%.0s' {1..70})=1"; do
	run sonde job knob "$job" mode=never "$bad"
	is "'$bad' is no knob" "$status" 1
done
run sonde job knob "$job"
is 'none at all' "$status" 2
kill -9 "$(processes agent)"
sonde fleet add
two() { [[ $(wc -l <attempts) == 2 ]]; }
ok 'its agent killed, it is started again' wait_for two
ok 'with the knobs that were set' wait_for last '4 fast 0.25'
touch go
ok 'it ends' wait_for is_now "$job" "done"
run sonde job knob "$job" threads=1
is 'then there is nothing to set' "$status" 1
like 'which is said' "$err" 'has already ended'
is 'nothing else was seen' "$(sort -u seen | grep -c never)" 0

# Who never listens is not held up, nor does it hold anybody up.
job=$(sonde submit -- sh -c 'while [ ! -e deaf.go ]; do sleep 0.05; done')
runs() { is_now "$job" running; }
ok 'a job that does not listen runs' wait_for runs
for i in 1 2 3; do sonde job knob "$job" "a=$i" "b=$(printf 'x%.0s' {1..900})"; done
touch deaf.go
ok 'and ends' wait_for is_now "$job" "done"
sonde fleet down
done_testing
