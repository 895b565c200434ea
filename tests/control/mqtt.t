#!/bin/bash
# Messages to a real broker, mosquitto: with its word and without; a broker that is not there is told, and spoils nothing.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"
PATH=$PATH:/usr/sbin
command -v mosquitto >/dev/null || skip_service 'mosquitto is not installed'

name=mqtt-$$
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir app
echo 1 >app/level
level() { echo "$1" >app/level.new && mv app/level.new app/level; }
is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
printf 'listener %s 127.0.0.1\nallow_anonymous true\nuser root\n' "$port" >mosquitto.conf
start_broker() {
	mosquitto -c mosquitto.conf >broker.log 2>&1 &
	broker=$!
	poll is_open
}
start_broker
/usr/bin/python3 "$SOURCE_DIR/tests/control/subscriber.py" "$port" heard 2>subscriber.err &
subscriber=$!
poll test -e heard.ready || diag "$(<subscriber.err)" "$(<broker.log)"

"$SONDE" live run --name "$name" -- /usr/bin/python3 "$SOURCE_DIR/tests/control/app.py" "$TEST_DIR/app" &
app=$!
cat >rules.yml <<END
interval: 50ms
journal: $TEST_DIR/journal.ndjson
rules:
  - name: high
    when: sonde_app_level{app="$name"} > 5
    do: [ mqtt 127.0.0.1:$port edge/sure 1, mqtt 127.0.0.1:$port edge/perhaps 0 ]
    else: [ mqtt 127.0.0.1:$port edge/sure 1 ]
END
start_live url --rules rules.yml
level 9
poll grep -qs edge/sure heard
poll grep -qs edge/perhaps heard
message() { sed -n "s|^edge/$1 [01] ||p" heard | tail -n 1; }
is 'the broker gets it for sure' "$(grep -c '^edge/sure 1 ' heard)" 1
is 'and without its word' "$(grep -c '^edge/perhaps 0 ' heard)" 1
is 'the message is the alert' "$(message sure | jq -r '.status, .alerts[0].labels.alertname' | paste -sd' ')" 'firing high'
level 1
poll grep -qs resolved heard
is 'its end too' "$(message sure | jq -r .status)" resolved

kill "$broker"
wait "$broker" "$subscriber" 2>/dev/null
level 9
poll eval "grep -q '\"action\":\"mqtt.*\"result\":\"failed\"' journal.ndjson"
like 'a broker that is not there is told' "$(grep '"result":"failed"' journal.ndjson | tail -n 1)" 'mqtt 127.0.0.1'
level 1
start_broker
/usr/bin/python3 "$SOURCE_DIR/tests/control/subscriber.py" "$port" again 2>subscriber.err &
subscriber=$!
poll test -e again.ready
level 9
ok 'one that is back is spoken to again' poll grep -qs 'edge/sure.*firing' again
kill "$live" "$broker"
wait "$live" "$broker" "$subscriber" 2>/dev/null
touch app/stop
wait "$app"
done_testing
