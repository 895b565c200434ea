#!/bin/bash
# SIGKILL of the recorder: the program goes on undisturbed, the run opens and says what is missing.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

mkfifo fifo
exec 9<>fifo # so that nobody waits to open it
"$SONDE" record -q -o run --freq 999 -- "$TRUTH" hold "$PWD/fifo" >out &
recorder=$!
has_samples() { [[ -s run/tables/sample.tbl ]] && (($("$SONDE" events run --table sample --json 2>/dev/null | wc -l) > 200)); }
ok 'samples reach the disk while it runs' wait_for has_samples
kill -KILL $recorder
wait $recorder 2>/dev/null
echo >&9
ok 'the program ends by itself and says what it computed' wait_for grep -q rounds out

run "$SONDE" info run
is 'the run opens' "$status" 0
like 'and says that it was not finished' "$out$err" 'recorder has not finished'
# What probes had counted died with it; whether they ran, and why not, did not.
is 'no count is said that nobody knows' "$(jq '[.probes[] | keys[] | select(. == "events" or . == "lost" or . == "dropped" or . == "cpu_ns")] | length' run/run.json)" 0
"$SONDE" record -q -o whole -- true
states() { jq -c '.probes[] | select(.name != "gpu") | [.name, .state, .reason]' "$1/run.json"; } # of which the end decides
is 'probes that could not run are said to be so' "$(states run | grep -v '"ran"')" "$(states whole | grep -v '"ran"')"
run "$SONDE" recover run
is 'it can be recovered' "$status" 0
is 'what was lost is a number, or it is said that nobody knows' "$(jq '.recovered | has("lost_events")' run/run.json)" true
is 'the run says that it was recovered' "$(jq -r .state run/run.json)" recovered
lost=$(jq .recovered.lost_events run/run.json)
like 'and what is missing' "$("$SONDE" info run)" "the recorder was killed: $lost events of the tracer and the last events of other probes are lost"
ok 'the samples are there' test "$("$SONDE" events run --table sample --json | wc -l)" -gt 0
run "$SONDE" export --to folded run
like 'with their stacks' "$out" ';main;.*burn'

# With somebody between (a timeout) and with walls around it, the program goes on too.
for place in '--timeout 100s' --sandbox '--pids-limit 50'; do
	# shellcheck disable=SC2086 # an option and its value
	if ! "$SONDE" record -q -o "can$place" $place -- true 2>why; then
		skip "recorder killed, $place" "$(head -1 why)"
		continue
	fi
	# shellcheck disable=SC2086,SC2016
	"$SONDE" record -q -o "run$place" $place -- sh -c 'echo begun; read -r line; echo "heard $line"' <&9 >"out$place" &
	recorder=$!
	ok "$place: the program has begun" wait_for grep -q begun "out$place"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	echo still >&9
	ok "$place: undisturbed by the recorder's death" wait_for grep -q 'heard still' "out$place"
	run "$SONDE" info "run$place"
	is "$place: the run opens" "$status" 0
	run "$SONDE" recover "run$place"
	is "$place: and can be recovered" "$status" 0
done
done_testing
