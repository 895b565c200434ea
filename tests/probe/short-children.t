#!/bin/bash
# Processes that live for milliseconds are all there, with the CPU time that they used.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

for probes in all system; do
	"$SONDE" record -q -o "$probes" --probes "$probes" -- "$TRUTH" kids 40 5 >truth
	"$SONDE" events "$probes" --table task --json >task.rows
	parent=$(jq -s 'min_by(.start_ns).pid' task.rows)
	kids=$(jq -s "map(select(.ppid == $parent))" task.rows)
	is "--probes $probes: every child is a task" "$(jq length <<<"$kids")" 40
	is 'each has its CPU time' "$(jq 'map(select(.run_ns == null)) | length' <<<"$kids")" 0
	is 'and its end' "$(jq 'map(select(.end_ns == null or .end_ns < .start_ns)) | length' <<<"$kids")" 0
	sum=$(jq 'map(.run_ns) | add' <<<"$kids")
	ok 'which is at least what they measured' test "$sum" -ge "$(jq '.kids_ns * 0.98 | floor' truth)"
	ok 'and at most what the system charged them' test "$sum" -le "$(jq '.rusage_ns * 1.02 | floor' truth)"
done
is 'without the tracer every one is a process of the run' "$("$SONDE" events system --table process --json | jq -s 'map(.process) | unique | length')" 41
is 'with its program' "$("$SONDE" events system --table process --json | jq -r .exe | sort -u)" "$TRUTH"
is 'and tasks belong to them' "$("$SONDE" events system --table task --json | jq -c 'select(.process == null)')" ''
"$SONDE" record -q -o again -- "$TRUTH" kids 40 5 >truth
usage=$(jq '.usage.user_ns + .usage.system_ns' again/run.json)
near 'run.json has the exact use of the whole tree' "$usage" "$(jq '.rusage_ns + .own_ns' truth)" 0.05
# Ends are the kernel's own, not when we saw them.
is 'processes end when their first threads do' "$("$SONDE" query --json again 'select count(*) n from process p join task t on t.pid = p.pid and t.tid = p.pid
	where p.end_ns is not null and p.process is not null and p.end_ns != t.end_ns' | jq '.[0].n')" 0
weights=$("$SONDE" events again --table sample --json | jq -s 'map(.weight_ns) | add')
near 'no CPU time is missing among the samples, sampled or not' "$weights" \
	"$("$SONDE" events again --table task --json | jq -s 'map(.run_ns) | add')" 0.02

# Who ends before a sample is due has none, and that is said.
run "$SONDE" record -v -o shortly -- "$TRUTH" kids 100 2
like 'that few are sampled is said' "$err" 'cpu: .*[0-9]+ % of the CPU time is of threads that ran too little to be sampled'
like 'with what to do' "$err" 'hint: a higher --freq'
run "$SONDE" record -v -o often --freq 9999 -- "$TRUTH" kids 100 2
unlike 'and not where they are' "$err" 'too little to be sampled'
run "$SONDE" record -v -o little -- true
unlike 'nor where there is little to sample' "$err" 'too little to be sampled'
done_testing
