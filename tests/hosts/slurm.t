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

# As tasks of srun each is a recorder of its own, and they make one run.
# shellcheck disable=SC2016
run timeout 120 srun -N2 -n4 "$SONDE" record -q -o tasks -- /bin/sh -c 'echo "rank $SLURM_PROCID" && exec /usr/bin/python3 "$0" 4 marks-of-tasks' "$mark"
is 'srun starts recorders' "$status" 0
[[ -z $err ]] || diag "$err"
is 'of every task' "$(sort <<<"$out")" $'rank 0\nrank 1\nrank 2\nrank 3'
is 'all of them are in the run' "$(jq -rc '[.hosts[].name] | sort' tasks/run.json)" '["n1","n1.1","n2","n2.1"]'
is 'complete' "$(jq -rc '[.hosts[].state] | unique' tasks/run.json)" '["complete"]'
marks_are_true tasks marks-of-tasks 16
is 'clocks of other nodes were asked, and that of the own node is the own' \
	"$(jq -c '[.hosts[] | .clock.pings > 0] | sort' tasks/run.json)" '[false,false,true,true]'
is 'counters of a machine are there once for each node' \
	"$("$SONDE" events tasks --table counter --json | jq -r '.name | select(test(":cpu\\."))' | cut -d: -f1 | sort -u | paste -sd,)" n1,n2
is 'and so are its CPUs' "$(jq '.host.cpus' tasks/run.json)" "$((2 * $(nproc)))"
run "$SONDE" summary tasks
is 'it can be looked at as any run' "$status" 0
# shellcheck disable=SC2016
run timeout 120 srun -N2 -n2 "$SONDE" record -q -o codes --probes trace -- /bin/sh -c 'exit $((4 * SLURM_PROCID))'
is 'the code is the program'"'"'s, as srun tells it' "$status" 4
is 'each task has its own' "$(jq -c '[.hosts[].exit.code] | sort' codes/run.json)" '[0,4]'
run timeout 120 srun -N2 -n2 "$SONDE" record -q -o codes --probes trace -- true
ok 'a run that is there is in the way of every task' test "$status" = 125
# shellcheck disable=SC2016
run timeout 200 srun -N2 -n2 "$SONDE" record -q -f -o codes --probes trace -- /bin/sh -c '[ $SLURM_PROCID = 0 ] || kill -9 $PPID'
like 'who lost his recorder is named, and nobody waits for him' "$(jq -rc '[.hosts[] | .reason // ""] | add' codes/run.json)" 'its recorder was killed'
run "$SONDE" recover codes/hosts/1-*
is 'what he left can be recovered' "$status" 0
run "$SONDE" join codes
is 'and joined again' "$status $(jq -rc '[.hosts[].state] | sort' codes/run.json)" '0 ["complete","recovered"]'
run timeout 120 srun -N2 -n2 "$SONDE" record -q -o nothing -- /no/such/program
is 'a program that is not there: 127, and no run' "$status $(find nothing 2>/dev/null | wc -l)" '127 0'
run timeout 120 srun -N2 -n2 "$SONDE" stat -o said --probes trace -- true
is 'stat of several tasks: one summary' "$status $(grep -c 'wall time' <<<"$err")" '0 1'
mkdir runs
SONDE_RUNS=runs run timeout 120 srun -N2 -n2 "$SONDE" record -q --probes trace -- true
is 'without -o it is where runs are' "$(jq '.hosts | length' runs/latest/run.json)" 2
is 'nothing is left of how they met' "$(find . -name '.sonde-step*' -o -name '.task-*' | wc -l)" 0
done_testing
