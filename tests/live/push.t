#!/bin/bash
# A real Pushgateway, and node_exporter's text file: sonde live delivers.
. "$(dirname "$0")/../lib/tap.sh"
command -v prometheus-pushgateway >/dev/null || skip_service 'prometheus-pushgateway is not installed'
. "$SOURCE_DIR/tests/live/lib.sh"

port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus-pushgateway --web.listen-address="127.0.0.1:$port" >gateway.log 2>&1 &
gateway=$!
printf 'textfile: %s/sonde.prom\npush: http://127.0.0.1:%s/\nevery: 200ms\n' "$TEST_DIR" "$port" >live.yml
name=push-test-$$
start_app "$name"
start_live url --config live.yml
has() { curl -s "http://127.0.0.1:$port/metrics" | grep -q "sonde_app_frames_seen_total{app=\"$name\".*} 3"; }
ok 'the Pushgateway has the metrics' poll has
poll grep -q "sonde_app_frames_seen_total{app=\"$name\"} 3" sonde.prom
is 'the text file too, and others can read it' "$(stat -c %a sonde.prom)" 644
run promtool check metrics <sonde.prom
is 'promtool is content' "$status" 0
kill "$gateway"
wait "$gateway" 2>/dev/null
undelivered() { curl -s "$(<url)/metrics" | grep -q 'sonde_live_undelivered_total [1-9]'; }
ok 'what cannot be delivered is counted' poll undelivered
touch stop
wait "$app"
kill "$live"
wait "$live"
is 'the server ends well' "$?" 0
ok 'and takes its file away' test ! -e sonde.prom
done_testing
