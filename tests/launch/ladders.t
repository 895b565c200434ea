#!/bin/bash
# Time is up: INT, TERM, KILL for the whole tree in every place, and nobody is left.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/launch/lib.sh"

marker=marker-$$-self
sh -c ": $marker; while :; do sleep 0.1; done" &
is 'the check sees who lives' "$(with_marker $marker)" 1
kill -KILL $! && wait $! 2>/dev/null

check_ladder process "$SONDE" record -q -o process --timeout 1s
if "$SONDE" record -q -o can-cgroup --pids-limit 100 -- true 2>why; then
	check_ladder 'control group' "$SONDE" record -q -o cgroup --timeout 1s --pids-limit 100
else
	skip 'control group' "$(head -1 why)"
fi
if "$SONDE" record -q -o can-sandbox --sandbox -- true 2>why; then
	check_ladder sandbox "$SONDE" record -q -o sandbox --timeout 1s --sandbox
else
	skip sandbox "$(head -1 why)"
fi

# One that ends when it is asked the first time is not asked again.
run "$SONDE" record -q -o polite --timeout 1s -- sh -c 'trap "echo INT; exit 0" INT; trap "echo TERM" TERM; while :; do sleep 0.1; done'
is 'who ends at INT hears no TERM' "$status $out" '124 INT'
done_testing
