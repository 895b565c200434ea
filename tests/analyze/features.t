#!/bin/bash
# SOFA's features are what an independent computation makes of the tables.
. "$(dirname "$0")/../lib/tap.sh"

"$SONDE" record -q -o run -- sh -c 'for i in 1 2 3; do dd if=/dev/zero of=out bs=1M count=8 conv=fsync 2>/dev/null; sleep 0.2; done'
probe=$(jq -r '.probes[] | select(.name == "system") | .state' run/run.json)
if [[ $probe != ran ]]; then
	skip_missing 'features' "the probe system is $probe here"
	done_testing
fi
cat >check.py <<'EOF'
import collections, json, re, subprocess, sys

sonde = sys.argv[1]
def rows(table):
    out = subprocess.run([sonde, "events", "--json", "--table", table, "run"], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]
summary = json.loads(subprocess.run([sonde, "summary", "--json", "run"], stdout=subprocess.PIPE, check=True).stdout)
features = {f["name"]: f["value"] for f in summary["features"]["vector"]}
start, width, count = summary["start_ns"], summary["features"]["window_ns"], summary["features"]["windows"]
problems = []
def near(name, want):
    got = features.get(name)
    if (got is None) != (want is None) or want is not None and abs(got - want) > 1e-4 * max(1, abs(want)):
        problems.append(f"{name} is {got}, not {want}")

last, rises = {}, collections.defaultdict(lambda: [0.0] * count)  # what each counter rose by, window by window
order = sorted((r for r in rows("counter") if r["pid"] is None), key=lambda r: r["ts_ns"])
for r in order:
    window = (r["ts_ns"] - start) // width
    if r["value"] is None or not 0 <= window < count:
        continue
    if r["name"] in last and r["value"] > last[r["name"]]:
        rises[r["name"]][window] += r["value"] - last[r["name"]]
    last[r["name"]] = r["value"]

def together(pattern):
    found = [rises[n] for n in last if re.fullmatch(pattern, n) and not n.startswith("net.lo.")]
    return [sum(w) for w in zip(*found)] if found else None
def quantile(values, p):
    return None if values is None else sorted(values)[int(p * (len(values) - 1))] * 1e9 / width

for prefix, pattern, parts in (("bw_tx", r"net\..*\.tx_bytes", (2, 3)), ("bw_rx", r"net\..*\.rx_bytes", (2, 3)),
                               ("diskstat", r"disk\..*\.(read|write)_bytes", (1, 2, 3))):
    for part in parts:
        near(f"{prefix}_q{part}", quantile(together(pattern), part / 4))
near("elapsed_time", summary["wall_ns"] / 1e9)
near("vm_cs", last["sched.switches"] / (summary["wall_ns"] / 1e9))
near("vm_in", last["sched.interrupts"] / (summary["wall_ns"] / 1e9))
ratios = sum(features[f"elapsed_{who}_time_ratio"] for who in ("usr", "sys", "iow", "gpu", "idl"))
if abs(ratios - 1) > 1e-9:
    problems.append(f"whose windows they are adds up to {ratios}")
latencies = sorted(r["dur_ns"] for r in rows("block") if r["dur_ns"] is not None) if any(p["name"] == "block" and p["state"] == "ran" for p in summary["probes"]) else []
if latencies and not (features["blktrace_latency_q1"] <= features["blktrace_latency_q2"] <= features["blktrace_latency_q3"] <= latencies[-1] / 1e9 * 1.02):
    problems.append("latencies are not in order")
if not latencies and "blktrace_latency_q1" in features:
    problems.append("latencies from nowhere")
if features["num_gpus"] == 0 and any(n.startswith(("gpu_", "h2d", "nccl", "corr_gpu")) for n in features):
    problems.append("features of a device that is not there")
print("\n".join(problems))
EOF
run /usr/bin/python3 check.py "$SONDE"
is 'the computation ran' "$status:$err" '0:'
is 'features are the same' "$out" ''

done_testing
