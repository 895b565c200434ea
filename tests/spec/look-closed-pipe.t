#!/bin/bash
# A reader that goes away ends the output quietly; a full disk does not.
# shellcheck disable=SC2016 # jq and other shells have variables of their own
. "$(dirname "$0")/../lib/tap.sh"

"$SONDE" record -- sh -c 'for i in $(seq 2000); do read line </proc/uptime; done'
for command in 'events' 'events --json' 'info' 'info --json' 'export' 'events --table file'; do
	# shellcheck disable=SC2086 # words of a command
	"$SONDE" $command 2>err | head -c 1 >/dev/null
	is "$command into head -c 1" "${PIPESTATUS[0]}" 0
	is "$command: quietly" "$(<err)" ''
done
for command in 'events --json' 'info' 'export'; do
	# shellcheck disable=SC2086
	"$SONDE" $command 2>err >/dev/full
	is "$command onto a full disk fails" "$?" 1
	like "$command: and says so" "$(<err)" 'No space left on device'
done
"$SONDE" events --json 2>err >&-
is 'no standard output at all fails' "$?" 1

done_testing
