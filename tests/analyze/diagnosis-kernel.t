#!/bin/bash
# Rules that need what the kernel says: locks, page faults, CPUs, neighbours, the network. Each with a program that has
# the fault and one that has not.
. "$(dirname "$0")/../lib/tap.sh"

has() { "$SONDE" summary "$2" --json | jq "[.diagnosis[] | select(.rule == \"$1\")] | length"; }
# whole RULE RUN: has the finding all that it must have?
whole() {
	"$SONDE" summary "$2" --json | jq ".diagnosis[] | select(.rule == \"$1\") |
		.evidence != \"\" and .next != \"\" and .from_ns >= 0 and .to_ns > .from_ns and .recoverable_ns > 0"
}
# works RUN RULE: the next step can be pasted
works() {
	local next
	next=$("$SONDE" summary "$1" --json | jq -r ".diagnosis[] | select(.rule == \"$2\") | .next")
	PATH=$SONDE_STAGE/bin:$PATH bash -c "$next" >/dev/null 2>&1
}
record() { "$SONDE" record -q -o "$1" -- "${@:2}" >/dev/null; }

record probe "$FAULTY" lock_bound
facts=$("$SONDE" summary probe --json)
if [[ $(jq '.offcpu.known_ns // 0' <<<"$facts") -eq 0 ]]; then
	skip_all 'stacks of waits are not to be had here'
fi

accuse() { # RULE FAULTY CLEAN: runs that are recorded
	is "$1: the faulty program is accused" "$(has "$1" "$2")" 1
	is "$1: the clean one is not" "$(has "$1" "$3")" 0
	is "$1: evidence, range, time and a next step" "$(whole "$1" "$2")" true
	ok "$1: the next step works" works "$2" "$1"
}

record lock-clean "$FAULTY" lock_bound-clean
accuse lock_bound probe lock-clean
# Where a hypervisor takes the CPUs while it rests, a neighbour is there, and the finding is true.
cpu_ticks() { awk '/^cpu /{ steal = $9; for (i = 2; i <= 9; i++) all += $i } END { print steal, all }' /proc/stat; }
read -r steal_before all_before < <(cpu_ticks)
record rest "$FAULTY" rest
read -r steal_after all_after < <(cpu_ticks)
# Threads that have nothing to do wait for no lock, though Python makes its queues and joins of locks.
record idle /usr/bin/python3 -c '
import queue, threading, time
jobs = queue.Queue()
def work():
    while jobs.get() is not None:
        pass
team = [threading.Thread(target=work) for _ in range(3)]
for t in team: t.start()
time.sleep(1)
for t in team: jobs.put(None)
for t in team: t.join()'
is 'lock_bound: idle threads of Python are not accused' "$(has lock_bound idle)" 0

record faults "$FAULTY" page_faults
record faults-clean "$FAULTY" page_faults-clean
if [[ $("$SONDE" query faults 'SELECT count(*) n FROM sample WHERE is_kernel' --json | jq .[0].n) -gt 0 ]]; then
	accuse page_faults faults faults-clean
else
	skip 'page_faults' 'samples of the kernel are not to be had here'
fi

record cpu "$FAULTY" cpu_bound
# A program that gets less than a quarter of a CPU for four threads is bound by others.
if [[ $("$SONDE" summary cpu --json | jq '.cpu.cpu_ns * 4 >= .wall_ns') == true ]]; then
	accuse cpu_bound cpu rest
else
	skip 'cpu_bound' 'others leave too little of the CPUs here'
fi
record queue "$FAULTY" run_queue
accuse run_queue queue rest

# Three neighbours on the CPU that the program is pinned to.
hogs=()
for _ in 1 2 3; do
	"$FAULTY" hog &
	hogs+=($!)
done
record neighbour "$FAULTY" neighbour
kill "${hogs[@]}"
wait "${hogs[@]}" 2>/dev/null
if ((50 * (steal_after - steal_before) > all_after - all_before)); then
	is 'noisy_neighbour: the faulty program is accused' "$(has noisy_neighbour neighbour)" 1
	skip 'noisy_neighbour: the clean one is not' 'the hypervisor takes more than 2 % of the CPUs'
else
	accuse noisy_neighbour neighbour rest
fi

# The network: a server that takes its time, and one that does not.
cat >server.py <<'PY'
import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    while True:
        data = c.recv(16)
        if not data:
            break
        if data == b"slow":
            time.sleep(0.2)
        c.sendall(b"x" * 4096)
    c.close()
PY
cat >client.py <<'PY'
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for i in range(24 if sys.argv[2] == "slow" else 12):
    s.sendall(sys.argv[2].encode())
    left = 4096
    while left:
        left -= len(s.recv(left))
    if sys.argv[2] != "slow":
        time.sleep(0.2)
PY
exec {from}< <(exec /usr/bin/python3 server.py)
server=$!
read -r port <&"$from"
record net /usr/bin/python3 client.py "$port" slow
record net-clean /usr/bin/python3 client.py "$port" quick
kill "$server"
accuse network_bound net net-clean

for rule in lock_bound page_faults cpu_bound run_queue network_bound; do
	is "$rule: a program that rests is accused of nothing" "$(has "$rule" rest)" 0
done

# The tree of waits holds what the reasons hold, the tree of the CPU all samples.
is 'reasons sum to the waits with a stack' "$(jq '([.offcpu.by_reason[].total_ns] | add) == .offcpu.known_ns' <<<"$facts")" true
is 'the roots of the tree do too' "$(jq '([.offcpu.tree[] | select(.depth == 0) | .total_ns] | add) as $r |
	$r <= .offcpu.known_ns and $r >= .offcpu.known_ns * 0.97' <<<"$facts")" true
cpu=$("$SONDE" summary cpu --json)
# Time between samples has no stack, and on a machine with much else to do there may be a lot of it.
with_stack=$("$SONDE" query cpu 'SELECT sum(weight_ns) AS ns FROM sample WHERE stack IS NOT NULL' --json | jq '.[0].ns')
is 'the tree of functions holds the samples' "$(jq --argjson all "$with_stack" '([.cpu.tree[] | select(.depth == 0) | .total_ns] | add) as $r |
	$r <= .cpu.sampled_ns and $r >= $all * 0.9' <<<"$cpu")" true

done_testing
