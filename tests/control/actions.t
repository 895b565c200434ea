#!/bin/bash
# What rules do to a control group that the kernel keeps, beyond weight and cap: freeze, memory, processes; and the end of an
# application that ignores what it is asked. Another application's metric is what the rules look at.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

"$SONDE" live run --group -- true 2>group.err || skip_all "no control group can be made here: $(<group.err)"
dial=dial-$$ name=stubborn-$$
mkdir app
level() { echo "$1" >app/level.new && mv app/level.new app/level; }
level 0
"$SONDE" live run --name "$dial" -- /usr/bin/python3 "$SOURCE_DIR/tests/control/app.py" "$TEST_DIR/app" &
app=$!
cat >stubborn.py <<'END'
import os
import signal
import time
import sonde
for s in (signal.SIGINT, signal.SIGTERM):
    signal.signal(s, signal.SIG_IGN)
os.fork()
open(f"pid.{os.getpid()}", "w").close()
while True:
    sonde.rate("turns")
    time.sleep(0.02)
END
"$SONDE" live run --name "$name" --group -- /usr/bin/python3 stubborn.py &
stubborn=$!
poll eval 'test "$(ls pid.* 2>/dev/null | wc -l)" = 2'
cat >rules.yml <<END
interval: 50ms
journal: $TEST_DIR/journal.ndjson
rules:
  - { name: frozen, when: 'sonde_app_level{app="$dial"} == 1', do: [ freeze $name ] }
  - { name: memory, when: 'sonde_app_level{app="$dial"} == 2', do: [ memory $name 512M ] }
  - { name: high, when: 'sonde_app_level{app="$dial"} == 2', do: [ high $name 256M ] }
  - { name: pids, when: 'sonde_app_level{app="$dial"} == 2', do: [ pids $name 50 ] }
  - { name: end, when: 'sonde_app_level{app="$dial"} == 3', do: [ end $name ] }
END
start_live url --rules rules.yml
# of RULE KEY: of the last action of that rule in the journal.
of() { jq -r "select(.rule == \"$1\" and .action != \"revert\") | .$2" journal.ndjson 2>/dev/null | tail -n 1; }
has_acted() { test -n "$(of "$1" result)"; }

level 1
poll has_acted frozen
place=$(of frozen place)
case $place in
*freezer.state) frozen=FROZEN thawed=THAWED ;;
*) frozen=1 thawed=0 ;;
esac
poll grep -qx "$frozen" "$place"
is 'freeze: it stands still' "$(of frozen result) $(<"$place")" "done $frozen"
level 0
poll grep -qx "$thawed" "$place"
is 'and goes on when that is over' "$(<"$place")" "$thawed"

level 2
for rule in memory high pids; do poll has_acted "$rule"; done
for row in memory:$((512 << 20)) high:$((256 << 20)) pids:50; do
	rule=${row%:*} place=$(of "${row%:*}" place)
	if [[ $(of "$rule" result) == "done" ]]; then
		is "$rule is set" "$(<"$place")" "${row#*:}"
	else
		skip "$rule is set" "$(of "$rule" message)"
	fi
done
level 0
is_back() { test "$(jq -r 'select(.result == "reverted") | .rule' journal.ndjson | grep -c "$1")" -gt 0; }
for rule in memory high pids; do
	if [[ $(of "$rule" result) == "done" ]]; then
		poll is_back "$rule"
		is "$rule is put back" "$(<"$(of "$rule" place)")" "$(of "$rule" before)"
	fi
done

level 3
wait "$stubborn"
is 'end: who ignores INT and TERM is killed' "$?" 137
alive=0
for f in pid.*; do kill -0 "${f#pid.}" 2>/dev/null && alive=$((alive + 1)); done
is 'with all of its group' "$alive" 0
is 'after being asked twice' "$(jq -r 'select(.action | startswith("signal")) | .action' journal.ndjson | paste -sd,)" 'signal TERM,signal KILL'
kill "$live"
wait "$live"
touch app/stop
wait "$app"
done_testing
