#!/bin/bash
# The public analyzer's table of a real training job, row by row.
. "$(dirname "$0")/../lib/tap.sh"

data=$SOURCE_DIR/../shared/data/dftracer-dlio
[[ -d $data ]] || skip_all "no traces in ../shared/data/dftracer-dlio"

"$SONDE" import "$data" -o job >/dev/null
run "$SONDE" summary job --rules dlio --json
is 'summary exits with 0' "$status" 0
is 'and has nothing to complain of' "$err" ''
# fact FILTER: a value of the summary.
fact() { jq -r "$1" <<<"$out"; }
# layer NAME: events and MiB of a layer.
layer() { fact ".layers.layers[] | select(.layer == \"$1\") | \"\\(.events) \\(if .bytes then .bytes / 1048576 * 1000 | round / 1000 else \"-\" end)\""; }

is 'job time in nanoseconds' "$(fact .wall_ns)" 56695354000
is 'processes' "$(fact .processes)" 8
is 'hosts' "$(fact .layers.hosts)" 1
is 'App' "$(layer App)" '8 -'
is 'Training' "$(layer Training)" '40 -'
is 'Compute' "$(layer Compute)" '200 -'
is 'Fetch Data' "$(layer 'Fetch Data')" '160 -'
is 'Data Loader' "$(layer 'Data Loader')" '808 -'
is 'Data Loader Fork' "$(layer 'Data Loader Fork')" '96 0'
is 'Reader' "$(layer Reader)" '4008 -'
is 'Reader POSIX (Lustre)' "$(layer 'Reader POSIX (Lustre)')" '10432 111833.161'
is 'Checkpoint' "$(layer Checkpoint)" '8 -'
is 'Checkpoint POSIX (Lustre)' "$(layer 'Checkpoint POSIX (Lustre)')" '45 0.011'
is 'Other POSIX' "$(layer 'Other POSIX')" '96 0'
is 'events in layers, each once' "$(fact .layers.events)" 15805
is 'events as DFAnalyzer counts' "$(fact .layers.events_as_dfanalyzer)" 15901
is 'there are no other layers' "$(fact '.layers.layers | length')" 11

# The times, from all begins and ends in order.
cat >truth.py <<'EOF'
import glob, gzip, json, sys
records = [json.loads(l) for p in sorted(glob.glob(sys.argv[1] + "/*.gz")) for l in gzip.open(p, "rt") if l.startswith("{")]
paths = {r["args"]["value"]: r["args"]["name"] for r in records if r["name"] == "FH"}
events = [r for r in records if r["ph"] == "X"]
NOT_LOADER = {"loop.iter", "loop.yield", "TorchDataLoader.__init__", "TorchDataLoader.next", "TorchDataLoader.read",
              "TorchDataLoader.finalize", "TorchDataset.__init__"}
def kind(r):
    if r["cat"] == "POSIX":
        path = paths.get(r["args"].get("fhash"), "")
        return "io" if "/lustre" in path and ("/data" in path or "/checkpoint" in path) else None
    if r["name"].endswith("Framework.compute"):
        return "compute"
    if r["name"] == "loop.iter" or r["cat"] == "reader" or r["name"].endswith("save_checkpoint") or \
            (r["cat"] == "data_loader" and r["name"] not in NOT_LOADER):
        return "app_io"
    return None
points = []
for r in events:
    k = kind(r)
    if k:
        points += [(r["ts"], 1, k), (r["ts"] + r["dur"], -1, k)]
points.sort(key=lambda p: p[0])
open_now = dict.fromkeys(("io", "compute", "app_io"), 0)
times, last = {}, 0
for at, step, k in points:
    state = tuple(open_now[c] > 0 for c in ("io", "app_io", "compute"))
    times[state] = times.get(state, 0) + at - last
    open_now[k] += step
    last = at
def total(rule):
    return sum(us for (io, app, compute), us in times.items() if rule(io, app, compute)) * 1000
print(total(lambda i, a, c: i), total(lambda i, a, c: i and not c), total(lambda i, a, c: a),
      total(lambda i, a, c: a and not c), total(lambda i, a, c: c), total(lambda i, a, c: c and not i),
      total(lambda i, a, c: c and not a))
EOF
truth=$(/usr/bin/python3 truth.py "$data")
is 'I/O, application I/O and compute, and each without the other, to the microsecond' \
	"$(fact '.layers | "\(.io_ns) \(.unoverlapped_io_ns) \(.app_io_ns) \(.unoverlapped_app_io_ns) \(.compute_ns) \(.unoverlapped_compute_ns) \(.unoverlapped_app_compute_ns)"')" \
	"$truth"
is 'the views by time add up' "$(fact '[.layers.by_time[].io_ns] | add')" "$(fact .layers.io_ns)"
is 'every process has a view' "$(fact '.layers.by_process | length')" 8
is 'reads of 3 sizes: the smallest' "$(fact '.io.by_call[] | select(.call == "pread") | .size_min')" \
	"$(zcat "$data"/*.gz | grep '"name":"pread"' | grep -o '"ret":[0-9]*' | cut -d: -f2 | sort -n | head -1)"
is 'and the largest' "$(fact '.io.by_call[] | select(.call == "pread") | .size_max')" \
	"$(zcat "$data"/*.gz | grep '"name":"pread"' | grep -o '"ret":[0-9]*' | cut -d: -f2 | sort -n | tail -1)"

run "$SONDE" summary job --rules dlio --full
is 'in full: exits with 0' "$status" 0
like 'it has the layers' "$out" 'Reader POSIX \(Lustre\) +io +10.4 k'
like 'and says what was not recorded' "$out" 'CPU: CPU samples were not recorded'
run "$SONDE" analyze job --json
is 'analyze is the same command' "$(jq .wall_ns <<<"$out")" 56695354000

done_testing
