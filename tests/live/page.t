#!/bin/bash
# The live page without a browser: who may see it, what it is told, and how sonde view finds it.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

name=page-$$
start_app "$name"
start_live url --control control.sock
code() { curl -s -o page -D headers -w '%{http_code}' "$@"; }
is 'metrics are open on loopback' "$(code "$(<url)/metrics")" 200
is 'the page is not' "$(code "$(<url)/live")" 403
is 'nor what it is told' "$(code "$(<url)/api/live")" 403
is 'nor a key to it' "$(code -X POST "$(<url)/api/link")" 403

run "$SONDE" view --live control.sock --json
is 'sonde view asks the control socket' "$status" 0 || diag "$err"
link=$(jq -r .url <<<"$out")
like 'for an address of the server' "$link" "^$(<url)/\?token="
is 'which leads to the page' "$(code -c jar -L "$link")" 200
like 'with its script and nothing from elsewhere' "$(<page)$(<headers)" "/app.js.*Content-Security-Policy: default-src 'none'; script-src 'self'"
is 'once' "$(code "$link")" 403
is 'and gives a cookie for the rest' "$(code -b jar "$(<url)/api/live")" 200
# of NAME: a sample of the application as the page is told it.
of() { jq -r --arg n "$1" --arg a "$name" '.samples[] | select(.[0] == $n and .[1].app == $a) | .[2]' page; }
is 'a counter' "$(of sonde_app_frames_seen_total)" 3
is 'a gauge' "$(of sonde_app_queue_depth)" 7
is 'the count of a histogram, and no buckets' "$(of sonde_app_latency_seconds_count) $(grep -c _bucket page)" '3 0'
is 'what was before is told when it is asked for' "$(jq -r 'has("history")' page)" false
has_past() { curl -s -b jar "$(<url)/api/live?history=1" >past && jq -e --arg a "$name" \
	'.history.every_s == 2 and (.history.series | map(select(.[0] == "sonde_app_queue_depth" and .[1].app == $a))[0][2][0] == 7)' past >/dev/null; }
poll has_past
is 'and then every metric has its values' "$?" 0
is 'there are no rules' "$(jq -c '[.controller, .journal]' page)" '[null,[]]'
is 'another site may not ask' "$(code -b jar -H 'Origin: http://evil.example' "$(<url)/api/live")" 403
is 'by the socket it is the same' "$(curl -s --unix-socket control.sock http://x/api/live | jq -r '.samples | length > 10')" true

run "$SONDE" view --live /nonexistent.sock
like 'a socket that is not there' "$status $err" "1 .*cannot reach the control socket '/nonexistent.sock'.*sonde live --control"
/usr/bin/python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("other.sock"); s.listen(); open("listening", "w").close(); c = s.accept()[0]; c.recv(100); c.sendall(b"hello"); c.close()' &
other=$!
poll test -e listening
run "$SONDE" view --live other.sock
like 'one that is somebody else'"'"'s' "$status $err" '1 .*not a sonde live with a page'
wait "$other"
run "$SONDE" view --live control.sock some-run
is 'it has no run' "$status" 2
kill "$live"
wait "$live"

start_live url2 --token me:secret
is 'with a token, the name and token open it' "$(code -u me:secret "$(<url2)/live")" 200
is 'and nothing is open' "$(code "$(<url2)/metrics")" 401
kill "$live"
wait "$live"
touch stop
wait "$app"
done_testing
