#!/bin/bash
# Bundles that were recorded before, compared: whole programs, and the steps inside them.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python


for i in 1 2 3; do
	"$SONDE" record --probes trace -o "small-$i" -- /usr/bin/python3 -S -c 'x = bytearray(20_000_000)'
	"$SONDE" record --probes trace -o "large-$i" -- /usr/bin/python3 -S -c 'x = bytearray(90_000_000)'
done
run "$SONDE" duet runs small-1 small-2 small-3 --metric rss --json -- large-1 large-2 large-3
is 'more memory is slower' "$(jq -r '"\(.verdict) \(.runs) \(.ratio > 1.5)"' <<<"$out") $status" 'slower 3 true 3'
run "$SONDE" duet runs small-1 --metric rss --json -- large-1 large-2
is 'as many of one side as of the other' "$status" 2
run "$SONDE" duet runs small-1 -- no-such-run
is 'a run that is not there' "$status" 1

for i in 1 2 3; do
	for side in 20000000:a 60000000:b; do
		"$SONDE" record --probes trace -o "steps-${side#*:}-$i" -- /usr/bin/python3 -c "
import sonde
for i in range(20):
    sonde.step('turn', i, ${side%:*} + i)"
	done
done
run "$SONDE" duet runs steps-a-1 steps-a-2 steps-a-3 --metric value --json --samples -- steps-b-1 steps-b-2 steps-b-3
is 'values of steps' "$(jq -r '"\(.verdict) \(.runs)"' <<<"$out")" 'slower 3'
ok 'their ratio' test "$(jq '.ratio > 2.9 and .ratio < 3.1' <<<"$out")" = true
done_testing
