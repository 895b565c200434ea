# shellcheck shell=bash
# slurm.sh: Slurm with two slurmd on this machine, for tests that have sourced tap.sh. slurm_start starts it and exports
# SLURM_CONF, or skips the file with the reason; at the end of the test all of it is ended.

slurm_started=()
slurm_exit() {
	local rc=$? pid
	for pid in "${slurm_started[@]}"; do kill "$pid" 2>/dev/null; done
	for pid in "${slurm_started[@]}"; do wait "$pid" 2>/dev/null; done
	(exit "$rc")
	tap_exit
}

slurm_start() {
	local program ports port port1 port2 i n
	(($(id -u) == 0)) || skip_all 'slurmd needs root'
	for program in munged slurmctld slurmd srun salloc; do
		command -v $program >/dev/null || [[ -x /usr/sbin/$program ]] || skip_service "$program is not installed"
	done
	PATH=$PATH:/usr/sbin
	trap slurm_exit EXIT
	mkdir -p state spool/n1 spool/n2 log munge
	chmod 755 .
	chmod 711 munge
	ports=$(/usr/bin/python3 -c '
import socket
socks = [socket.socket() for _ in range(3)]
for s in socks: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in socks])')
	read -r port port1 port2 <<<"$ports"
	head -c 128 /dev/urandom >munge/key
	chmod 400 munge/key
	cat >slurm.conf <<X
ClusterName=loop
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/munge.sock
CryptoType=crypto/munge
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool/%n
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.%n.pid
SlurmctldLogFile=$PWD/log/slurmctld.log
SlurmdLogFile=$PWD/log/slurmd.%n.log
SlurmctldPort=$port
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$port1 CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$port2 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
X
	export SLURM_CONF=$PWD/slurm.conf
	munged -F --force --socket="$PWD/munge/munge.sock" --key-file="$PWD/munge/key" --pid-file="$PWD/munge/pid" \
		--seed-file="$PWD/munge/seed" --log-file="$PWD/munge/log" >munged.log 2>&1 &
	slurm_started+=($!)
	for ((i = 0; i < 100; i++)); do [[ -S munge/munge.sock ]] && break; sleep 0.1; done
	slurmctld -D -i -f "$SLURM_CONF" >ctld.log 2>&1 &
	slurm_started+=($!)
	for n in n1 n2; do
		slurmd -D -f "$SLURM_CONF" -N $n >"$n.log" 2>&1 &
		slurm_started+=($!)
	done
	for ((i = 0; i < 60; i++)); do
		timeout 10 srun -N2 true 2>why && break
		sleep 0.5
	done
	if ((i == 60)); then
		diag "$(tail -3 why munged.log ctld.log log/*.log)"
		skip_service 'Slurm does not come up here'
	fi
}
