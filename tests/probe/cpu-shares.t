#!/bin/bash
# CPU samples say where the time went, in true seconds: within 2 % or the bound of so many samples.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

"$SONDE" record -q -o run --freq 999 -- "$TRUTH" shares 60 >truth
samples=$("$SONDE" events run --table sample --json)
is 'every sample is a row' "$(jq -s 'map(select(.event != "unsampled")) | length' <<<"$samples")" \
	"$(jq '.probes[] | select(.name == "cpu").events' run/run.json)"
is 'none was lost' "$(jq '.probes[] | select(.name == "cpu").lost' run/run.json)" 0

# Weights: all of them are the CPU time. The program's own clock stops a little before its end.
cpu=$(jq .cpu_ns truth)
weight=$(jq -s 'map(.weight_ns) | add' <<<"$samples")
ran=$("$SONDE" events run --table task --json | jq -s 'map(.run_ns) | add')
near 'the weights of all samples are the CPU time' "$weight" "$ran" 0.02
within 'which is what the program measured' "$weight" "$cpu" "$(cpu_bound run "$cpu")"

# Shares. The bound is three standard deviations of a share of n samples, and 2 %.
"$SONDE" export --to folded -o folded run
n=$(awk '{ n += $NF } END { print n }' folded)
is 'the flame graph sums to the samples' "$n" "$(jq -s 'map(select(.event != "unsampled")) | length' <<<"$samples")"
share() { awk -v f=";$1;" '{ n += $NF } index($0, f) { k += $NF } END { print k / n }' folded; }
want=$(jq '.thirty_ns / .cpu_ns' truth)
bound=$(awk -v p="$want" -v n="$n" 'BEGIN { print 0.02 + 3 * sqrt(p * (1 - p) / n) }')
within 'thirty has its share' "$(share thirty)" "$want" "$bound"
within 'so has seventy' "$(share seventy)" "$(jq '.seventy_ns / .cpu_ns' truth)" "$bound"
ok 'stacks are whole: from the first frame to burn' grep -q '^truth;_start;.*;main;.*;thirty;burn' folded
ok 'hardly one was cut' test "$(jq '.probes[] | select(.name == "cpu").cut_stacks' run/run.json)" -le $((n / 50))

# No more of a stack is copied than is needed, and of a deep one all.
of_cpu() { jq ".probes[] | select(.name == \"cpu\").$2" "$1/run.json"; }
"$SONDE" record -q -o shallow --probes cpu --freq 999 -- "$TRUTH" deep 0 400
is 'little is copied of shallow stacks' "$(of_cpu shallow stack_bytes)" 4096
"$SONDE" record -q -o deep --probes cpu --freq 999 -- "$TRUTH" deep 10 400
is 'and much of deep ones' "$(of_cpu deep stack_bytes)" 16384
ok 'of which hardly one is cut' test "$(of_cpu deep cut_stacks)" -le $(($(of_cpu deep events) / 50))
"$SONDE" export --to folded -o deep.folded deep
ok 'they are whole' grep -q '^truth;_start;.*;main;deep;deep;deep;deep;deep;deep;deep;deep;deep;deep;deep;burn' deep.folded

# Again, from the cache.
"$SONDE" export --to folded -o again run
ok 'names are the same the second time' cmp -s folded again

# Frame pointers alone, and no stacks at all.
"$SONDE" record -q -o flat --stacks none -- "$TRUTH" shares 10 >/dev/null
is '--stacks none: samples without callers' "$("$SONDE" events flat --table stack --json | jq -c 'select(.parent != null)' | wc -l)" 0
ok 'but with a place' test "$("$SONDE" events flat --table sample --json | jq -c 'select(.stack != null)' | wc -l)" -gt 0

# Other events.
"$SONDE" record -q -o faults --events page-faults --freq 9999 -- "$TRUTH" faults 20000 >truth
"$SONDE" export --to folded -o folded faults
ok 'page faults are sampled where they happen' grep -q ';main;.*faults' folded
is 'and stand for no time' "$("$SONDE" events faults --table sample --json | jq -c 'select(.weight_ns != null)')" ''
run "$SONDE" record --events no-such-event -- true
is 'an event that there is not: a usage error' "$status" 2

# Threads: each has its own time, also where they take turns on one CPU.
for place in '' 'taskset -c '"$(taskset -pc $$ | sed 's/.*[ ,-]//')"; do
	rm -rf threads
	# shellcheck disable=SC2086 # a command and its options, or nothing
	"$SONDE" record -q -o threads --freq 999 -- $place "$TRUTH" threads >truth
	"$SONDE" events threads --table task --json >task.rows
	jq -r '"\(.tid) \(.cpu_ns)"' truth >tids
	while read -r tid cpu; do
		ran=$(jq "select(.tid == $tid).run_ns" task.rows)
		within "${place:-anywhere}: CPU time of a thread" "$ran" "$cpu" "$(cpu_bound threads "$cpu")"
	done <tids
	is "${place:-anywhere}: there were two" "$(wc -l <tids)" 2
done
done_testing
