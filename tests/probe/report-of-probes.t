#!/bin/bash
# The end of a recording has a line for each probe: what it did, or why it could not.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"

run "$SONDE" record -v -o run -- true
for probe in trace cpu sched system python block gpu net syscalls; do
	is "one line for $probe" "$(grep -c "^sonde: $probe: " <<<"$err")" 1
done
run "$SONDE" record -o quiet -- true
is 'nothing without -v and a terminal' "$err" ''
run "$SONDE" record -v -o some --probes system -- true
like 'a probe that was not asked for is off' "$err" 'sonde: cpu: off'
like 'the tracer too' "$err" 'sonde: trace: off'
is 'and run.json says so' "$(jq -rc '[.probes[] | select(.state != "off").name]' some/run.json)" '["system"]'
run "$SONDE" record -o none --probes none -- sh -c 'exit 7'
is '--probes none still runs the program' "$status" 7
is 'with no probe' "$(jq -rc '[.probes[] | .state] | unique' none/run.json)" '["off"]'

# Why nothing was traced.
run "$SONDE" record -v -o small -- sh -c 'ulimit -f 1; exec ls / >/dev/null'
like 'a tracer that got no room' "$err" '1 processes could not be traced'
run bash -c 'ulimit -f 20; exec "$@"' bash "$SONDE" record -v -o smaller -- ls /
like 'says so, if there is nobody else' "$(jq -r '.probes[0].reason' smaller/run.json)" 'the tracer finds no room for events there'

# stat needs no directory to be made first, and keeps the program's status and output.
run "$SONDE" stat -- sh -c 'echo mine; exit 3'
is 'stat hands the exit code on' "$status" 3
is 'stdout is the program'"'"'s' "$out" mine
ok 'the summary is on stderr' test -n "$err"
done_testing
