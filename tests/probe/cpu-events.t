#!/bin/bash
# What is sampled when nobody says: cycles where there are hardware counters, else the clock; true seconds either way.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf
[[ -n ${HARDWARE:-} ]] || skip_all 'machines are made up on x86-64 only'

of_cpu() { jq -r ".probes[] | select(.name == \"cpu\").$2" "$1/run.json"; }
# on MACHINE RUN OPTIONS... -- PROGRAM: recorded on such a machine.
on() {
	local machine=$1 run=$2
	shift 2
	run env LD_PRELOAD="$HARDWARE" PERF_HARDWARE="$machine" "$SONDE" record -q -o "$run" "$@"
	is "$machine: the program runs" "$status" 0
}
# weights_are_true RUN: all of them are the CPU time of the threads, and what was sampled is most of it.
weights_are_true() {
	local samples
	samples=$("$SONDE" events "$1" --table sample --json)
	near "$1: weights are the CPU time" "$(jq -s 'map(.weight_ns) | add' <<<"$samples")" \
		"$("$SONDE" events "$1" --table task --json | jq -s 'map(.run_ns) | add')" 0.02
	within "$1: which is what the program measured" "$(jq -s 'map(.weight_ns) | add' <<<"$samples")" "$(jq .cpu_ns <<<"$out")" \
		"$(cpu_bound "$1" "$(jq .cpu_ns <<<"$out")")"
	is "$1: no weight is negative" "$(jq -c 'select(.weight_ns != null and .weight_ns < 0)' <<<"$samples")" ''
	# Shares are of weights here, since the ticks of cycles are not of equal length.
	"$SONDE" query --json "$1" "select coalesce(sum(weight_ns), 0) ns from sample where event != 'unsampled'" >sampled
	ok "$1: nearly all of it was sampled" test "$(jq '.[0].ns' sampled)" -ge "$(jq '.cpu_ns * 0.9 | floor' <<<"$out")"
}

# With counters.
on cycles counted --freq 499 -- "$TRUTH" shares 40
is 'with counters: cycles' "$(of_cpu counted event)" cycles
is 'nobody is told of a fallback' "$(of_cpu counted 'reason // ""' | grep -c cpu-clock)" 0
weights_are_true counted
# stolen: by the hypervisor so far, in ns; perf counts it for a thread, its own clock does not.
stolen() { awk '/^cpu / { printf "%.0f", $9 * 10000000 }' /proc/stat; }
before=$(stolen)
on cycles alone --probes cpu --freq 499 -- "$TRUTH" shares 20
is 'without the probe sched as well' "$(of_cpu alone event)" cycles
within 'alone: weights are the CPU time' "$("$SONDE" events alone --table sample --json | jq -s 'map(.weight_ns) | add')" \
	"$(jq .cpu_ns <<<"$out")" "$(jq ".cpu_ns * 0.05 + 20000000 + $(stolen) - $before | round" <<<"$out")"
on cycles asked --events cpu-clock --freq 499 -- "$TRUTH" shares 5
is '--events has the last word' "$(of_cpu asked event)" cpu-clock

# Without.
on closed closed --freq 499 -- "$TRUTH" shares 20
is 'counters that the user may not use: the clock' "$(of_cpu closed event)" cpu-clock
weights_are_true closed
on none none --freq 499 -- "$TRUTH" shares 2
is 'no perf events: the probe failed' "$(of_cpu none state)" failed
like 'and says why' "$(of_cpu none reason)" 'cannot open perf events'
ok 'the program was recorded all the same' test "$("$SONDE" events none --json | wc -l)" -gt 0

# Here, whatever it is: the choice is written down, and the weights are true.
run "$SONDE" record -q -o here --freq 499 -- "$TRUTH" shares 20
like 'here: cycles or the clock' "$(of_cpu here event)" '^(cycles|cpu-clock)$'
weights_are_true here
done_testing
