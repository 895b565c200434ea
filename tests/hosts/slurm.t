#!/bin/bash
# An allocation of Slurm: one recorder a node, one run. Two slurmd on this machine.
. "$(dirname "$0")/hosts.sh"

. "$SOURCE_DIR/tests/lib/slurm.sh"
mark=$SOURCE_DIR/tests/hosts/mark.py
slurm_start
run timeout 120 salloc -Q -N2 "$SONDE" record -q -o run --hosts slurm -- /usr/bin/python3 "$mark" 4 marks
is 'it runs on the nodes of the allocation' "$status" 0
[[ -z $err ]] || diag "$err"
is 'which are the hosts of the run' "$(jq -rc '[.hosts[].name]' run/run.json)" '["n1","n2"]'
marks_are_true run marks 8
diag "round trips: $(jq -c '[.hosts[].clock.trip_ns]' run/run.json) ns, bounds: $(jq -c '[.hosts[].clock.bound_ns]' run/run.json) ns"
run timeout 60 salloc -Q -N2 "$SONDE" record -q -o five --hosts slurm --probes trace -- /bin/sh -c 'exit 5'
is 'the status is the program'"'"'s' "$status" 5
done_testing
