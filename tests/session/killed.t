#!/bin/bash
# A session that is killed takes all with it: the application with those that it forked away, tools and companions.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/launch/lib.sh"

marker=marker-$$-session
cat >stays.sh <<END
: $marker
trap "" INT HUP
echo >"$TEST_DIR/\$0.up"
while :; do sleep 0.1; done
END
cat >app.sh <<END
: $marker
(setsid sh -c '. ./stays.sh' daemon $marker >/dev/null 2>&1 </dev/null &)
until [ -e end ]; do sleep 0.1; done
END
# stays NAME: by a name that no check takes for one of sonde's own
stays() { echo "[ sh, -c, '. $TEST_DIR/stays.sh', $1, $marker ]"; }
cat >app.yml <<END
command: [ sh, app.sh, $marker ]
companions: [ { name: server, command: $(stays companion), ready: { file: companion.up } } ]
tools: [ { name: watcher, command: $(stays tool) } ]
END
all_are_up() { [[ -e daemon.up && -e companion.up && -e tool.up ]]; }

"$SONDE" session app.yml -o killed >/dev/null 2>err &
session=$!
until all_are_up; do
	kill -0 "$session" 2>/dev/null || break
	sleep 0.05
done
ok 'application, companion and tool run' all_are_up || diag "$(<err)"
ok 'and the check sees all four' test "$(with_marker "$marker")" -ge 4
kill -KILL "$session"
wait "$session" 2>/dev/null
ok 'with the session goes all of it' none_with "$marker"
run "$SONDE" recover killed
is 'what was recorded can be recovered' "$status" 0 || diag "$err"

touch end
run "$SONDE" session app.yml -o over
is 'a session that comes to its end' "$status" 0 || diag "$err"
ok 'leaves nothing behind either' none_with "$marker"
done_testing
