#!/bin/bash
# Functions of one phase are a swarm, those of another phase another, with the same ids in each run; diff compares swarms.
. "$(dirname "$0")/../lib/tap.sh"

"$SONDE" record -q -o a -- "$PHASES" 0.15
run "$SONDE" summary a --json
if [[ $(jq '.cpu.samples // 0' <<<"$out") -lt 100 ]]; then
	skip_all 'CPU samples with stacks are not to be had here'
fi
one=$out
"$SONDE" record -q -o b -- "$PHASES" 0.15
two=$("$SONDE" summary b --json)
# swarm FUNCTION JSON: the id of the swarm that has it among its first members
swarm() { jq -r --arg f "$1" '.swarms.by_swarm[] | select(.members | split(", ") | index($f)) | .id' <<<"$2"; }

forward=$(swarm forward_layer "$one") backward=$(swarm backward_layer "$one")
ok 'a phase is a swarm' test -n "$forward"
is 'with both its functions' "$(swarm forward_norm "$one")" "$forward"
is 'and so is the other' "$(swarm backward_norm "$one")" "$backward"
ok 'they are two' test "$forward" != "$backward"
is 'the ids are those of another run' "$(swarm forward_layer "$two") $(swarm backward_norm "$two")" "$forward $backward"
is 'samples of swarms are all samples' \
	"$(jq '([.swarms.by_swarm[].samples] | add) + .swarms.left_out == .cpu.samples' <<<"$one")" true
is 'captions are functions' "$(jq -r --arg id "$forward" '.swarms.by_swarm[] | select(.id == $id) | .caption' <<<"$one")" forward_layer

"$SONDE" record -q -o slow -- "$PHASES" 0.3
run "$SONDE" diff a slow --json
is 'diff compares swarms' "$(jq '[.items[] | select(.list == "swarms.by_swarm" and .name == "forward_layer")] | length' <<<"$out")" 1
is 'and finds one that takes longer' \
	"$(jq '.items[] | select(.list == "swarms.by_swarm" and .name == "forward_layer") | .change > 0' <<<"$out")" true

done_testing
