#!/bin/bash
# Accounting and ending: a thousand short children cost what they cost; who ignores signals and forks twice is gone.
. "$(dirname "$0")/../lib/tap.sh"

# Each child notes what it used itself: the truth to compare with.
cat >children.py <<'END'
import os
import resource
used = 0.0
for i in range(1000):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        while resource.getrusage(resource.RUSAGE_SELF).ru_utime < 0.002:
            pass
        os._exit(0)
    os.close(r), os.close(w)
    os.waitpid(pid, 0)
own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
with open("truth", "w") as f:
    f.write(str(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime))
END
printf 'command: [/usr/bin/python3, children.py]\n' >children.yml
run "$SONDE" session children.yml -o children --json
is 'a thousand children' "$status" 0
cpu=$(jq '.values[] | select(.name == "cpu_seconds") | .median' children/profile.json)
ok "their processor time, $cpu s, is within 1 % of the truth, $(<truth) s" \
	awk -v c="$cpu" -v t="$(<truth)" 'BEGIN { d = (c - t) / t; exit !(d > -0.01 && d < 0.01) }'

cat >stubborn.py <<'END'
import os
import signal
import time
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
with open(f"pid.{os.getpid()}", "w"):
    pass
while True:
    time.sleep(1)
END
printf 'command: [/usr/bin/python3, stubborn.py]\ntimeout: 1s\nladder: { interrupt: 200ms, terminate: 200ms }\n' >stubborn.yml
run "$SONDE" session stubborn.yml -o stubborn
like 'who does not end is ended, and the session has failed' "$status $err" '1 .*timed out'
alive=0 seen=0
for f in pid.*; do
	seen=$((seen + 1))
	kill -0 "${f#pid.}" 2>/dev/null && alive=$((alive + 1))
done
is 'with all that it started, however often it forked' "$seen $alive" '2 0'
done_testing
