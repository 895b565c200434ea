#!/bin/bash
# A controller that did not renew its lease: the watchdog reverts every change; when it wakes up it starts over.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

name=lease-$$
mkdir app
echo 9 >app/level
"$SONDE" live run --name "$name" -- /usr/bin/python3 "$SOURCE_DIR/tests/control/app.py" "$TEST_DIR/app" &
app=$!
poll test -e app/knob
cat >rules.yml <<END
interval: 100ms
lease: 1s
journal: $TEST_DIR/journal.ndjson
rules:
  - name: high
    when: sonde_app_level{app="$name"} > 5
    do: [ knob $name batch 16 ]
END
start_live url --rules rules.yml
poll grep -qx 16 app/knob
is 'the knob is turned' "$(<app/knob)" 16

kill -STOP "$live"
poll grep -qx 4 app/knob
is 'while the controller is silent it is as it was' "$(<app/knob)" 4
poll grep -q 'did not renew its lease' journal.ndjson
like 'the journal says who put it back' "$(<journal.ndjson)" '"result":"reverted".*did not renew its lease'
kill -CONT "$live"
poll grep -qx 16 app/knob
is 'awake, it begins anew' "$(<app/knob)" 16
like 'and says why' "$(<journal.ndjson)" 'the lease expired'

# Killed while its changes are in force.
kill -KILL "$live"
wait "$live" 2>/dev/null
poll grep -qx 4 app/knob
is 'killed, everything is put back' "$(<app/knob)" 4
touch app/stop
wait "$app"
done_testing
