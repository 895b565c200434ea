#!/bin/bash
# A fleet on the nodes of an allocation of Slurm: two slurmd on this machine.
. "$(dirname "$0")/fleet.sh"
. "$SOURCE_DIR/tests/lib/slurm.sh"

run sonde fleet up --listen 127.0.0.1 --hosts slurm
is 'outside of an allocation it does not come up' "$status" 1
like 'and says why' "$err" 'not inside a Slurm allocation.*hint: .*salloc'
slurm_start
slurm_stop() {
	local rc=$?
	timeout 60 "$SONDE" fleet down >/dev/null 2>&1
	(exit "$rc")
	slurm_exit
}
trap slurm_stop EXIT

# All of it within one allocation: this is what a batch script would have.
cat >batch.sh <<'X'
set -e
"$SONDE" fleet up --listen 127.0.0.1 --hosts slurm --agents 1 --lease 5s
for i in 1 2; do
	"$SONDE" submit --name two -- sh -c 'cut -d" " -f4 "/proc/$PPID/stat" >>agents; echo "$SLURMD_NODENAME" >>nodes; while [ $(wc -l <nodes) -lt 2 ]; do sleep 0.05; done'
done >jobs
"$SONDE" submit --name deaf -- sh -c 'trap "" TERM; echo $$ >deaf; while :; do sleep 1; done' >deaf.job
for ((i = 0; i < 600; i++)); do
	[[ $("$SONDE" job list | grep -c '^two.* done ') == 2 && -s deaf ]] && break
	sleep 0.1
done
"$SONDE" job list >list
"$SONDE" fleet down
X
run env SONDE="$SONDE" timeout 200 salloc -Q -N2 bash batch.sh
is 'it comes up and goes down in an allocation' "$status" 0
[[ -z $err ]] || diag "$err"
is 'two jobs ran at the same time, one on each node' "$(sort nodes | xargs)" 'n1 n2'
is 'both are done' "$(grep -c ' done ' list)" 2
ok 'of a job that is deaf nothing is left' is_gone "$(<deaf)"
idle() { [[ -z $(squeue -h) ]]; }
ok 'and nothing of the allocation' wait_for idle
is 'two agents ran them' "$(sort -u agents | wc -l)" 2
agents_gone() {
	local pid
	for pid in $(<agents); do is_gone "$pid" || return 1; done
}
ok 'none is left' wait_for agents_gone
done_testing
