#!/bin/bash
# Manners of a daemon: sd_notify, the watchdog, a reload, and applications that are found again after a restart.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

# What systemd would hear, a message a line.
cat >listen.py <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
with open("bound", "w"):
    pass
while not os.path.exists("deaf"):
    s.settimeout(0.2)
    try:
        text = s.recv(4096).decode()
    except socket.timeout:
        continue
    with open("heard", "a") as f:
        f.write(text.replace("\n", " ") + "\n")
END
/usr/bin/python3 listen.py "$TEST_DIR/notify" &
listener=$!
poll test -e bound
heard() { grep -q "$1" heard 2>/dev/null; }
heard_times() { test "$(grep -c "$1" heard 2>/dev/null)" -ge "$2"; }

name=daemon-$$
start_app "$name"
printf 'series: 10\n' >live.yml
export NOTIFY_SOCKET=$TEST_DIR/notify WATCHDOG_USEC=400000
start_live url --config live.yml
unset NOTIFY_SOCKET WATCHDOG_USEC
poll heard 'READY=1'
is 'it says when it is ready' "$(head -n 1 heard)" 'READY=1 STATUS=watching'
like 'and is, then' "$(curl -s "$(<url)/metrics")" "sonde_processes\{app=\"$name\"\} 1"
ok 'it tells the watchdog that it lives, again and again' poll heard_times '^WATCHDOG=1' 3

kill -HUP "$live"
ok 'it says that it loads again' poll heard '^RELOADING=1 MONOTONIC_USEC=[0-9]'
ok 'and when it is ready again' poll heard_times 'READY=1' 2
like 'at the same address' "$(curl -s "$(<url)/metrics")" "sonde_processes\{app=\"$name\"\} 1"
echo 'nonsense: 1' >live.yml
kill -HUP "$live"
ok 'a bad configuration is refused' poll grep -q 'keeping the previous configuration' url.err
ok 'which is no end of being ready' poll heard_times 'READY=1' 3
rm live.yml
frames=$(curl -s "$(<url)/metrics" | sed -n "s/^sonde_app_frames_seen_total{app=\"$name\"} //p")
kill "$live"
wait "$live"
is 'it ends well' "$?" 0
ok 'and says so' poll heard '^STOPPING=1'

start_live url2
is 'after a restart the application is found again, with what it has counted' \
	"$(curl -s "$(<url2)/metrics" | sed -n "s/^sonde_app_frames_seen_total{app=\"$name\"} //p")" "$frames"
kill -KILL "$live"
wait "$live" 2>/dev/null
start_live url3
like 'after being killed too' "$(curl -s "$(<url3)/metrics")" "sonde_processes\{app=\"$name\"\} 1"
kill "$live"
wait "$live"

# A socket that is not there, a beat that makes no sense, and one that is another process's to give.
touch deaf
wait "$listener"
rm -f deaf bound heard
export NOTIFY_SOCKET=/nonexistent/notify WATCHDOG_USEC=nonsense WATCHDOG_PID=1
start_live url4
unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID
like 'where nobody listens it works all the same' "$(curl -s "$(<url4)/metrics")" 'sonde_build_info'
kill "$live"
wait "$live"
touch stop
wait "$app"
done_testing
