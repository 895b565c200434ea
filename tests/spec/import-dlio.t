#!/bin/bash
# The traces of a training job, imported, have the numbers that the job was made with, or that the public analyzer found.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/lib/dlio.sh"

# The layers by their rules, from the imported tables and from the traces themselves.
cat >"$TEST_DIR/layers.py" <<'EOF'
import glob, gzip, json, sys

NOT_LOADER = {"loop.iter", "loop.yield", "TorchDataLoader.__init__", "TorchDataLoader.next", "TorchDataLoader.read",
              "TorchDataLoader.finalize", "TorchDataset.__init__"}

def from_tables():
    for name in ("io.json", "span.json"):
        for line in open(name):
            row = json.loads(line)
            is_call = name == "io.json"
            yield (row["call"] if is_call else row["name"], "POSIX" if is_call else row["cat"], row["ts_ns"] // 1000,
                   row["dur_ns"] // 1000, row.get("path") or "", row.get("ret"), row["pid"], row["tid"])

def from_traces(folder):
    records = [json.loads(line) for path in sorted(glob.glob(folder + "/*.gz")) for line in gzip.open(path, "rt")
               if line.startswith("{")]
    paths = {r["args"]["value"]: r["args"]["name"] for r in records if r["name"] == "FH"}
    for r in records:
        if r["ph"] == "X":
            args = r["args"]
            yield (r["name"], r["cat"], r["ts"], r["dur"], paths.get(args.get("fhash"), "") if r["cat"] == "POSIX" else "",
                   args.get("ret") if r["cat"] == "POSIX" else None, r["pid"], r["tid"])

def mib(rows):
    total = sum(ret for name, _, _, _, _, ret, _, _ in rows if ret and ret > 0 and ("read" in name or "write" in name))
    return ("%.3f" % (total / 2 ** 20)).rstrip("0").rstrip(".")

def layers(rows):
    rows = list(rows)
    count = lambda rule: sum(1 for r in rows if rule(r))
    print("App", count(lambda r: r[0] == "DLIOBenchmark.run"))
    print("Training", count(lambda r: r[0] == "DLIOBenchmark._train"))
    print("Compute", count(lambda r: r[0] == "TorchFramework.compute"))
    print("Fetch Data", count(lambda r: r[0] == "loop.iter"))
    print("Data Loader", count(lambda r: r[1] == "data_loader" and r[0] not in NOT_LOADER))
    print("Data Loader Fork", count(lambda r: r[0] == "fork"))
    print("Reader", count(lambda r: r[1] == "reader"))
    print("Checkpoint", count(lambda r: r[0].endswith(".save_checkpoint")))
    reader = [r for r in rows if r[1] == "POSIX" and "/data" in r[4]]
    checkpoint = [r for r in rows if r[1] == "POSIX" and "/checkpoint" in r[4]]
    print("Reader POSIX (Lustre)", len(reader), mib(reader))
    print("Checkpoint POSIX (Lustre)", len(checkpoint), mib(checkpoint))
    print("Other POSIX", count(lambda r: r[1] == "POSIX" and not r[4]))
    print("Job", max(r[2] + r[3] for r in rows) - min(r[2] for r in rows))

layers(from_traces(sys.argv[1]) if len(sys.argv) > 1 else from_tables())
if len(sys.argv) > 1:
    same = sorted(from_traces(sys.argv[1]), key=str) == sorted(from_tables(), key=str)
    print("rows are", "the same" if same else "others")
EOF

# facts KEY: a number of the import.
facts() { jq -r ".$1" <<<"$out"; }

check_job() {
	local name=$1 data=$2 key tables traces wanted file
	run "$SONDE" import "$data" -o job --json
	is "$name: import exits with 0" "$status" 0
	is "$name: import has nothing to complain of" "$err" ''
	for key in lines events metadata named_files processes; do
		is "$name: $key" "$(facts $key)" "$(truth .$key)"
	done
	is "$name: invalid lines" "$(facts invalid)" 0
	is "$name: job time in nanoseconds" $(($(facts last_ns) - $(facts first_ns))) "$(truth .job_ns)"

	"$SONDE" events --table io --json job >io.json
	"$SONDE" events --table span --json job >span.json
	tables=$(python3 "$TEST_DIR/layers.py")
	traces=$(python3 "$TEST_DIR/layers.py" "$data")
	is "$name: every event has its name, time, duration, path, result, process and thread" "${traces##*$'\n'}" 'rows are the same'
	is "$name: the tables tell what the traces tell" "$tables" "${traces%$'\n'*}"
	wanted=$(truth '(.layers | to_entries[] | "\(.key) \(.value.events)\(if .key | test("Lustre") then " \(.value.mib)" else "" end)"),
		"Job \(.job_ns / 1000)"')
	is "$name: and that is the truth" "$(sort <<<"$tables")" "$(sort <<<"$wanted")"

	for threads in 1 2; do
		for file in $(truth '.files[].name'); do
			run "$SONDE" import -j $threads "$data/$file" -o "one-$threads-$file" --json
			is "$name: $file, $threads threads: events" "$(jq .events <<<"$out")" \
				"$(truth ".files[] | select(.name == \"$file\") | .events")"
		done
	done
}

each_dlio_job check_job
done_testing
