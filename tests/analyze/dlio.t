#!/bin/bash
# The layers of a training job, row by row: as it was made, and as the public analyzer published them.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/lib/dlio.sh"

# fact FILTER: a value of the summary.
fact() { jq -r "$1" <<<"$out"; }

# The times, from all begins and ends in order.
cat >"$TEST_DIR/truth.py" <<'EOF'
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
TIMES='"\(.io_ns) \(.unoverlapped_io_ns) \(.app_io_ns) \(.unoverlapped_app_io_ns) \(.compute_ns) \(.unoverlapped_compute_ns) \(.unoverlapped_app_compute_ns)"'

check_layers() {
	local name=$1 layer
	while read -r layer; do
		is "$name: $layer" "$(fact ".layers.layers[] | select(.layer == \"$layer\") | \"\(.events) \((.bytes // 0) / 1048576 * 1000 | round / 1000)\"")" \
			"$(truth ".layers.\"$layer\" | \"\(.events) \(.mib)\"")"
	done < <(truth '.layers | keys[]')
	is "$name: there are no other layers" "$(fact '.layers.layers | length')" "$(truth '.layers | length')"
	is "$name: events in layers, each once" "$(fact .layers.events)" "$(truth .events_in_layers)"
	is "$name: events as DFAnalyzer counts" "$(fact .layers.events_as_dfanalyzer)" "$(truth .events_as_dfanalyzer)"
}

check_times() {
	local name=$1 data=$2
	is "$name: I/O, application I/O and compute, and each without the other, to the microsecond" \
		"$(fact ".layers | $TIMES")" "$(/usr/bin/python3 "$TEST_DIR/truth.py" "$data")"
	[[ $(truth .times) == null ]] || is "$name: which is how the job was made" "$(fact ".layers | $TIMES")" "$(truth ".times | $TIMES")"
	is "$name: the views by time add up" "$(fact '[.layers.by_time[].io_ns] | add')" "$(fact .layers.io_ns)"
}

check_job() {
	local name=$1 data=$2
	"$SONDE" import "$data" -o job >/dev/null
	run "$SONDE" summary job --rules dlio --json
	is "$name: summary exits with 0" "$status" 0
	is "$name: and has nothing to complain of" "$err" ''
	is "$name: job time in nanoseconds" "$(fact .wall_ns)" "$(truth .job_ns)"
	is "$name: processes" "$(fact .processes)" "$(truth .processes)"
	is "$name: hosts" "$(fact .layers.hosts)" "$(truth .hosts)"
	check_layers "$name"
	check_times "$name" "$data"
	is "$name: every process has a view" "$(fact '.layers.by_process | length')" "$(truth .processes)"
	is "$name: the smallest read" "$(fact '.io.by_call[] | select(.call == "pread") | .size_min')" "$(truth .read_min)"
	is "$name: and the largest" "$(fact '.io.by_call[] | select(.call == "pread") | .size_max')" "$(truth .read_max)"

	run "$SONDE" summary job --rules dlio --full
	is "$name: in full: exits with 0" "$status" 0
	like "$name: it has the layers" "$out" "Reader POSIX \(Lustre\) +io +$(truth '.layers."Reader POSIX (Lustre)".events / 1000 | floor')\.[0-9]+ k"
	like "$name: and says what was not recorded" "$out" 'CPU: CPU samples were not recorded'
	run "$SONDE" analyze job --json
	is "$name: analyze is the same command" "$(jq .wall_ns <<<"$out")" "$(truth .job_ns)"
}

each_dlio_job check_job
done_testing
