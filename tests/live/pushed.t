#!/bin/bash
# The socket of Waggle's first profiler, and what failed there: 999!, dead clients, 100 000 pushes, bad JSON, cut messages.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

printf 'socket: %s/live.sock\n' "$TEST_DIR" >live.yml
start_live url --config live.yml
cat >push.py <<'END'
import json
import math
import os
import socket
import time

s = socket.socket(socket.AF_UNIX)
s.connect("live.sock")
def send(text):
    s.sendall(text.encode() + b"\n\n")
def push(name, value):
    send(json.dumps({name: {"value": value, "timestamp": time.time()}}))
push("fine", 1.5)
push("factorial", 120)
push("factorial", math.factorial(999))
push("bad", float("nan"))
push("word", "text")
send('{"broken": ')
send("[1, 2]")
s.sendall(b'{"cut": {"value"')
time.sleep(0.2)
s.sendall(b': 4, "timestamp": 1}}\n\n{"two": {"value": 1}}\n\n{"in_one": {"value": 2}}\n\n')
for i in range(100000):
    push("many", i)
open("pushed", "w").close()
while not os.path.exists("stop"):
    time.sleep(0.05)
os.kill(os.getpid(), 9)
END
/usr/bin/python3 push.py &
pusher=$!
poll test -e pushed
# sample NAME: its value, whoever pushed it.
sample() { sed -n "s/^sonde_app_$1{app=\"python3\"} //p" page; }
has_all() { curl -s -o page "$(<url)/metrics" && test "$(sample many)" = 99999; }
poll has_all
is 'the last of 100 000 pushes is there' "$(sample many)" 99999
is 'a value' "$(sample fine)" 1.5
is '999! is rejected alone: what was fine stays' "$(sample factorial)" 120
is 'a message in two pieces' "$(sample cut)" 4
is 'two in one' "$(sample two) $(sample in_one)" '1 2'
is 'what is no number is not there' "$(sample bad)$(sample word)" ''
is 'and counted, bad JSON too' "$(sed -n 's/^sonde_rejected_updates_total{app="python3"} //p' page)" 5
run promtool check metrics <page
test "$status" = 127 || is 'promtool is content' "$status" 0
touch stop
wait "$pusher" 2>/dev/null
gone() { ! curl -s "$(<url)/metrics" | grep -q 'sonde_app_many'; }
ok 'a dead client is gone' poll gone
kill "$live"
wait "$live"
is 'the server ends well' "$?" 0
ok 'and takes its socket away' test ! -e live.sock
done_testing
