#!/bin/bash
# Rules at work: control groups, knobs, signals, commands, webhooks and messages; everything is put back, whatever happens.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

"$SONDE" live run --group -- true 2>group.err || skip_all "no control group can be made here: $(<group.err)"
name=control-$$
app_dir=$TEST_DIR/app
mkdir app
echo 1 >app/level
"$SONDE" live run --name "$name" --group -- /usr/bin/python3 "$SOURCE_DIR/tests/control/app.py" "$app_dir" &
app=$!
/usr/bin/python3 "$SOURCE_DIR/tests/control/server.py" "$TEST_DIR" 2>server.err &
server=$!
poll test -e ports
poll test -e app/knob
read -r hook broker <ports
level() { echo "$1" >app/level.new && mv app/level.new app/level; }
journal_has() { grep -Fq "$1" journal.ndjson 2>/dev/null; }
# of KEY: what the journal's last line with an action has under this key.
of() { jq -r "select(.action | startswith(\"$1\")) | .$2" journal.ndjson | tail -n 1; }

cat >rules.yml <<END
interval: 50ms
lease: 20s
journal: $TEST_DIR/journal.ndjson
spool: $TEST_DIR/spool
off_file: $TEST_DIR/off
apps:
  $name: { floor: { cpus: 0.5 } }
rules:
  - name: high
    when: sonde_app_level{app="$name"} > 5
    for: 100ms
    do:
      - weight $name 300
      - cap $name 0.1
      - knob $name batch 16
      - signal $name USR1
      - exec touch $TEST_DIR/executed
      - webhook http://127.0.0.1:$hook/alert
      - mqtt 127.0.0.1:$broker edge/high 1
      - knob $name batch 1000
    else: [ webhook http://127.0.0.1:$hook/alert ]
  - name: disks
    when: sonde_app_level{app="$name"} > 5
    do: [ io $name 200 ]
  - name: unknown
    when: sonde_app_nothing{app="$name"} > 5
    do: [ freeze $name ]
END
run "$SONDE" rules check rules.yml
is 'the rules are fine' "$status$err" 0
start_live url --rules rules.yml --control control.sock
poll grep -q 'sonde_controller_ticks_total [1-9]' <(curl -s "$(<url)/metrics")
is 'nothing is done before its time' "$(test -e journal.ndjson && wc -l <journal.ndjson)" 0
is 'the knob has its own value' "$(<app/knob)" 4

level 9
poll test -s hooks
poll test -s messages
ok 'a signal is sent' poll test -e app/signal
ok 'a command is run' poll test -e executed
ok 'the knob is turned' poll grep -qx 16 app/knob
weight_file=$(of "weight" place) cap_file=$(of "cap" place)
case $weight_file in
*cpu.shares) weight_high=3072 weight_usual=1024 ;;
*) weight_high=300 weight_usual=100 ;;
esac
is 'the weight is set' "$(<"$weight_file")" "$weight_high"
poll journal_has '"rule":"disks"'
io_file=$(of "io" place)
if test -n "$io_file"; then
	is 'its weight at disks too' "$(grep -o '[0-9]*$' "$io_file" | head -n 1) $(of io before | grep -o '[0-9]*$')" '200 100'
else
	skip 'its weight at disks too' "$(of io message)"
fi
is 'the cap not below the floor' "$(cut -d' ' -f1 "$cap_file")" 50000
is 'what stood there is in the journal' "$(of weight before)" "$weight_usual"
like 'and why' "$(of weight why)" "sonde_app_level.* = 9"
is 'a webhook gets what Alertmanager sends' "$(head -n 1 hooks)" '4 firing high'
is 'a broker gets a message and says so' "$(<messages)" 'edge/high 1 firing'
is 'a value that the program forbids is not set' "$(of "knob $name batch 1000" result)" failed
is 'what is unknown does nothing' "$(grep -c '"rule":"unknown"' journal.ndjson)" 0
curl -s -o page "$(<url)/metrics"
like 'the rule fires' "$(<page)" 'sonde_rule_state\{rule="high"\} 2'
like 'actions are counted' "$(<page)" 'sonde_actions_total\{action="knob",result="failed"\} 1'
is 'who may not, does not see the rules' "$(curl -s -o page -w "%{http_code}" "$(<url)/rules")" 403

asked() { curl -s --unix-socket control.sock "http://x/$1" "${@:2}"; }
is 'who may sees them at the control socket, with their state' "$(asked rules | jq -r '.rules[] | select(.name == "high").state')" firing
is 'and the journal' "$(asked journal | jq -r 'map(select(.action | startswith("weight"))) | length')" 1
if command -v setpriv >/dev/null && test "$(id -u)" = 0; then
	chmod 666 control.sock
	chmod 755 "$TEST_DIR"
	is 'another user does not, though the mode lets him' "$(setpriv --reuid 65534 --regid 65534 --clear-groups \
		curl -s -o /dev/null -w '%{http_code}' --unix-socket "$TEST_DIR/control.sock" http://x/rules)" 403
else
	skip 'another user does not, though the mode lets him' 'only root can become another user'
fi
level 1
poll grep -q resolved hooks
is 'the weight is put back when it is over' "$(<"$weight_file")" "$weight_usual"
test -z "$io_file" || is 'and that at disks' "$(grep -o '[0-9]*$' "$io_file" | head -n 1)" 100
ok 'the knob too' poll grep -qx 4 app/knob
is 'and the webhook told' "$(tail -n 1 hooks)" '4 resolved high'

# A webhook that is not taken waits in the spool.
touch refuse
level 9
poll eval 'ls spool/*.request >/dev/null 2>&1'
rm refuse
poll eval '! ls spool/*.request >/dev/null 2>&1'
is 'a spooled webhook arrives' "$(tail -n 1 hooks)" '4 firing high'

# Off, and on again.
touch off
poll eval "grep -qx $weight_usual $weight_file"
is 'switched off, everything stands as it was' "$(<"$weight_file")" "$weight_usual"
rm off
ok 'switched on, the rule fires again' poll eval "grep -qx $weight_high $weight_file"

asked off -X POST >/dev/null
poll eval "grep -qx $weight_usual $weight_file"
asked on -X POST >/dev/null
ok 'by the control socket too' poll eval "grep -qx $weight_high $weight_file"

# A hang-up loads the rules again; bad ones change nothing.
cp rules.yml fine.yml
echo 'nonsense: 1' >>rules.yml
kill -HUP "$live"
poll grep -q 'keeping the previous configuration' url.err
is 'bad rules are refused and the old ones kept' "$(<"$weight_file")" "$weight_high"
sed 's/300/200/' fine.yml >rules.yml
kill -HUP "$live"
ok 'good ones are taken' poll eval "grep -qx $((weight_high * 2 / 3)) $weight_file"
like 'at the same address' "$(curl -s "$(<url)/metrics")" 'sonde_rule_state\{rule="high"\}'

# Killed, and still everything is put back: by the watchdog.
kill -KILL "$live"
wait "$live" 2>/dev/null
poll eval "grep -qx $weight_usual $weight_file"
is 'kill -9 of the controller puts the weight back' "$(<"$weight_file")" "$weight_usual"
test -z "$io_file" || { poll eval 'grep -q "100$" "$io_file"' && pass 'and that at disks'; }
poll eval '[[ $(cut -d" " -f1 "$cap_file") =~ ^(max|-1)$ ]]'
like 'and the cap' "$(<"$cap_file")" '^(max|-1)'
ok 'and the knob' poll grep -qx 4 app/knob
ok 'and the journal says so' poll journal_has 'the controller exited'

# A dry run, and a protected application.
sed "s/^interval/dry_run: true\ninterval/" fine.yml >dry.yml
rm journal.ndjson
start_live url2 --rules dry.yml
poll journal_has '"action":"weight'
is 'a dry run says what it would do' "$(of weight result) $(of weight after)" "dry run $weight_high"
is 'and does not' "$(<"$weight_file")" "$weight_usual"
kill "$live"
wait "$live"
is 'the server ends well' "$?" 0
sed "s/floor: .*/protected: true }/" fine.yml >protected.yml
rm journal.ndjson
start_live url3 --rules protected.yml
poll journal_has '"action":"cap'
is 'nothing is taken from who is protected' "$(of cap result): $(of cap message)" "refused: '$name' is protected"
is 'but given' "$(of weight result)" "done"
kill "$live"
wait "$live"
is 'ended, everything stands as it was' "$(<"$weight_file")" "$weight_usual"

touch app/stop
wait "$app"
kill "$server"
wait "$server" 2>/dev/null
done_testing
