#!/bin/bash
# The system's counters have the right numbers under the right names.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"

"$SONDE" record -q -o run --probes system --rate 50 -- "$TRUTH" faults 3000 >truth
"$SONDE" events run --table counter --json >counter.rows
last() { jq -s "map(select(.name == \"$1\")) | last.value" counter.rows; }
first() { jq -s "map(select(.name == \"$1\")) | first.value" counter.rows; }
series() { "$SONDE" events run --table series --json | jq -r "select(.name == \"$1\") | \"\(.unit) \(.is_total)\""; }

is 'every counter has a meaning' "$(comm -23 <(jq -r .name counter.rows | sort -u) <("$SONDE" events run --table series --json | jq -r .name | sort -u))" ''
is 'CPU time is a total in ns' "$(series cpu.all.user_ns)" 'ns true'
is 'memory is a level in bytes' "$(series memory.free_bytes)" 'bytes false'
is 'totals begin at 0' "$(first vm.faults)" 0
is 'the total memory is the machine'"'"'s' "$(first memory.total_bytes)" "$(awk '/^MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)"

# Conservation: the states of all CPUs are all CPUs' time. A tick is 10 ms and may fall on either side, twice a CPU.
cpus=$(grep -c '^cpu[0-9]' /proc/stat)
sum=0
for state in user nice system idle iowait irq softirq steal; do sum=$(awk -v a="$sum" -v b="$(last "cpu.all.${state}_ns")" 'BEGIN { printf "%.0f", a + b }'); done
span=$(jq -s 'map(select(.pid == null).ts_ns) | max - min' counter.rows)
within 'states of the CPUs sum to their time' "$sum" $((cpus * span)) $((cpus * span / 10 + cpus * 8 * 20000000))
within 'the sum over CPUs is the whole' "$(for i in $(seq 0 $((cpus - 1))); do last "cpu.$i.idle_ns"; done | paste -sd+ | bc)" \
	"$(last cpu.all.idle_ns)" $((cpus * span / 20 + cpus * 20000000))

# The process: faults, memory, CPU time.
pid=$(jq -s 'map(select(.name == "process.cpu_ns")) | first.pid' counter.rows)
of() { jq -s "map(select(.name == \"$1\" and .pid == $pid)) | last.value" counter.rows; }
ok 'its page faults were counted' test "$(of process.minor_faults)" -ge 3000
ok 'and no more than it had' test "$(of process.minor_faults)" -le "$(jq .usage.minor_faults run/run.json)"
ok 'it had that memory' test "$(jq -s "map(select(.name == \"process.rss_bytes\" and .pid == $pid).value) | max" counter.rows)" -ge $((3000 * 4096))
ok 'the machine had its faults too' test "$(last vm.faults)" -ge 3000
is 'totals never fall' "$(jq -s 'group_by([.name, .pid]) | map(select(.[0].name | test("_ns$|faults$")) | [range(1; length) as $i | select(.[$i].value < .[$i - 1].value)]) | flatten | length' counter.rows)" 0

# Threads, bytes, waits for a CPU, an interface, a disk: of a program that says what it did.
cat >use.py <<'PY'
import hashlib, json, os, socket, sys, threading, time

def delays():
    return sum(int(open("/proc/self/task/%s/schedstat" % t).read().split()[1]) for t in os.listdir("/proc/self/task"))

with open("out", "wb") as f:
    f.write(bytes(3 << 20))
    f.flush()
    os.fsync(f.fileno())
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer = server.accept()[0]
sender = threading.Thread(target=lambda: [client.sendall(bytes(1 << 16)) for _ in range(32)])
sender.start()
got = 0
while got < 2 << 20:
    got += len(peer.recv(1 << 16))
sender.join()
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
rest = threading.Barrier(7)

def burn():
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 150000)
    rest.wait()
    rest.wait()

for _ in range(6):
    threading.Thread(target=burn).start()
rest.wait()
first = delays()
time.sleep(0.7)
json.dump({"first": first, "last": delays()}, sys.stdout)
sys.stdout.flush()
rest.abort()
PY
"$SONDE" record -q -o used --probes system --rate 50 -- /usr/bin/python3 use.py >used.json 2>/dev/null
"$SONDE" events used --table counter --json >counter.rows
pid=$(jq -s 'map(select(.name == "process.cpu_ns")) | first.pid' counter.rows)
is 'it had seven threads' "$(jq -s "map(select(.name == \"process.threads\" and .pid == $pid).value) | max" counter.rows)" 7
ok 'it wrote what it wrote' test "$(of process.write_chars)" -ge $((3 << 20)) -a "$(of process.write_chars)" -le $((4 << 20))
is 'all its threads waited for a CPU as long as the kernel says of each' "$(jq --argjson n "$(of process.run_delay_ns)" \
	'$n >= .first * 0.9 and $n <= .last * 1.05 + 500000000' used.json)" true
diag "run delay: $(of process.run_delay_ns) ns; $(cat used.json)"
ok 'the loopback interface carried it' test "$(last net.lo.rx_bytes)" -ge $((2 << 20))
names=$(jq -r .name counter.rows | sort -u)
if [[ -s /proc/diskstats ]]; then
	like 'disks have counters' "$names" 'disk\.[^.]+\.'
else
	skip 'disks have counters' 'there is no disk here'
fi
if [[ -e /proc/pressure/cpu ]]; then
	for one in cpu memory io; do like "pressure: $one" "$names" "pressure\\.$one\\."; done
else
	skip 'pressure' 'the kernel tells none'
fi
like 'its control group has counters' "$names" 'cgroup\.'

run "$SONDE" record --rate 2000 -- true
is 'a rate that cannot be: a usage error' "$status" 2
done_testing
