#!/bin/bash
# OpenCL on the CPU (PoCL): every command is recorded with its times, and the program notices nothing.
. "$(dirname "$0")/../lib/tap.sh"
unset LD_LIBRARY_PATH # the build has stand-ins on it

[[ ${OPENCL-} && -x $OPENCL ]] || skip_service 'no OpenCL headers and loader to build the program with'
export POCL_CACHE_DIR=$TEST_DIR/kernels
run "$OPENCL"
[[ $status != 77 ]] || skip_service 'no OpenCL implementation is here (pocl-opencl-icd)'

# line RUN: what each command was, as the program tells it; rows are in the order of their begin, which may be another.
lines() { "$SONDE" events "$1" --table gpu --json | jq -sr 'sort_by(.queued_ns)[] | "\(.kind) \(.direction) \(.bytes) \(.name)"'; }

for how in plain profiled list unfinished forks killed; do
	run "$OPENCL" "$how"
	want_out=$out want_status=$status
	EXPECT=1 "$OPENCL" "$how" >/dev/null 2>want || true
	run "$SONDE" record -q -o "$how.run" -- "$OPENCL" "$how"
	is "$how: the same status" "$status" "$want_status"
	is "$how: the same output" "$out" "$want_out"
	is "$how: every command, in the order in which they were given" "$(lines "$how.run")" "$(<want)"
done

# In the order of time, with kernels' work items, on a device with a name.
table=$("$SONDE" events plain.run --table gpu --json | jq -s -c .)
is 'each has queued <= submitted <= began' "$(jq 'all(.[]; .queued_ns <= .submit_ns and .submit_ns <= .ts_ns and .dur_ns >= 0)' <<<"$table")" true
is 'all within the run' "$(jq --slurpfile run plain.run/run.json '($run[0].clock.start_mono_ns) as $start | all(.[]; .queued_ns > $start and .ts_ns + .dur_ns < $start + $run[0].wall_ns)' <<<"$table")" true
is 'kernels have work items' "$(jq -c '[.[] | select(.kind == "kernel").items] | unique' <<<"$table")" '[65536]'
is 'one queue, one device' "$(jq -c '[.[] | {queue, device_id}] | unique' <<<"$table")" '[{"queue":0,"device_id":0}]'
is 'the device has a name' "$(jq '.[0].device | length > 0' <<<"$table")" true
is 'the program'\''s thread gave them' "$(jq 'all(.[]; .tid == .pid)' <<<"$table")" true
is 'how far times may be off is known' "$(jq 'all(.[]; .error_ns >= 0)' <<<"$table")" true

like 'the line at the end counts them' "$("$SONDE" record -v -o said -- "$OPENCL" plain 2>&1 >/dev/null)" 'sonde: gpu: 8 events'
is 'run.json too' "$(jq '.probes[] | select(.name == "gpu").commands' said/run.json)" 8

# A loop shows in the commands, though nobody announced it.
"$SONDE" record -q -o loop.run -- "$OPENCL" loop 23 >/dev/null
is 'iterations are found in commands' "$("$SONDE" summary loop.run --json | jq -c '.iterations | [.source, .count]')" '["found in commands of a GPU",23]'

# In Perfetto's trace a flow leads from the thread to each command.
cat >flows.py <<'EOF'
import sys
from protobuf import fields
events = [{k: v[-1] for k, v in fields(event).items()} for packet in fields(open(sys.argv[1], "rb").read())[1] for event in fields(packet)[11]]
begun, ended = {e[47]: e for e in events if 47 in e}, {e[48]: e for e in events if 48 in e}
assert begun.keys() == ended.keys() and all(begun[f][11] != ended[f][11] and ended[f][9] == 1 for f in begun)
print(len(begun))
EOF
"$SONDE" export --to perfetto -o plain.pftrace plain.run
is 'a flow leads to each command' "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE_DIR/tests/lib /usr/bin/python3 flows.py plain.pftrace)" 8
"$SONDE" export --to sofa -o sofa plain.run
is "SOFA's gputrace has them too" "$(tail -n +2 sofa/gputrace.csv | wc -l)" 8

# The summary adds them up.
sums=$("$SONDE" query plain.run "SELECT sum(dur_ns) FILTER (WHERE kind = 'kernel') k, sum(bytes) FILTER (WHERE kind = 'copy') b FROM gpu" --json)
is 'kernels and copies in the summary' "$("$SONDE" summary plain.run --gpu-filters a:red --json | jq --argjson s "$sums" \
	'.gpu.kernel_ns == $s[0].k and ([.gpu.copies[].bytes] | add) == $s[0].b and ([.gpu.kernels[].total_ns] | add) == $s[0].k and (.gpu.groups | length) == 1')" true

# The summary adds up to the rows.
summary=$("$SONDE" summary plain.run --json | jq -c .gpu)
is 'summary: kernels' "$(jq -c '[.kernels[] | {kernel, count}] | sort_by(.kernel)' <<<"$summary")" '[{"kernel":"add","count":1},{"kernel":"twice","count":3}]'
is 'summary: copies by direction' "$(jq -c '[.copies[] | {direction, count, bytes}] | sort_by(.direction)' <<<"$summary")" \
	'[{"direction":"device-to-device","count":1,"bytes":131072},{"direction":"device-to-host","count":1,"bytes":131072},{"direction":"host-to-device","count":1,"bytes":262144}]'
is 'summary: copies among the features of SOFA' "$("$SONDE" summary plain.run --json | jq -c '.features.vector // [] | map({ (.name): .value }) | add | if . == null then "absent" else [.h2d_payload, .d2h_payload, .d2d_payload, .num_gpus] end')" '[262144,131072,131072,1]'
is 'summary: time in kernels is that of the rows' "$(jq .kernel_ns <<<"$summary")" "$(jq 'map(select(.kind == "kernel").dur_ns) | add' <<<"$table")"
is 'summary: one device, busy no longer than its commands took' "$(jq --argjson rows "$table" '.devices == 1 and .busy_ns > 0 and .busy_ns <= ($rows | map(.dur_ns) | add)' <<<"$summary")" true

# Several threads, each with its queue: nothing is lost, nothing is told twice.
run "$OPENCL" threads 300
want=$out
run "$SONDE" record -q -o threads -- "$OPENCL" threads 300
is 'threads: the same' "$status $(tail -1 <<<"$out")" "0 $(tail -1 <<<"$want")"
is 'threads: every command of every queue' "$("$SONDE" events threads --table gpu --json | jq -s -c 'map({queue, kind}) | group_by(.queue) | map(group_by(.kind) | map(length))')" \
	'[[1,1,300],[1,1,300],[1,1,300],[1,1,300]]'
is 'threads: each gave its own' "$("$SONDE" events threads --table gpu --json | jq -s 'map({queue, tid}) | unique | length')" 4

# Switched off there is no layer, and a user's own layers stay.
"$SONDE" record -q -o off --probes trace -- "$OPENCL" plain >/dev/null
ok 'without the probe there is no row' test ! -e off/tables/gpu.tbl
is 'and the summary has a reason, no zeros' "$("$SONDE" summary off --json | jq -c '.gpu, (.reasons.gpu | length > 0)' | tr '\n' ' ')" 'null true '
is 'the environment shows nothing' "$("$SONDE" record -q -o env -- env | grep -c -e OPENCL_LAYERS -e _INJECTION64_PATH)" 0
is 'nor does a program that asks for it' "$("$SONDE" record -q -o asks -- /usr/bin/python3 -c 'import ctypes; g = ctypes.CDLL(None).getenv; g.restype = ctypes.c_char_p; print(g(b"OPENCL_LAYERS"))')" None

# A program that nobody here wrote.
if command -v clinfo >/dev/null; then
	clinfo >bare.txt 2>&1
	"$SONDE" record -q -o clinfo.run -- clinfo >recorded.txt 2>&1
	is 'clinfo prints what it prints' "$(cat recorded.txt)" "$(cat bare.txt)"
else
	skip_missing 'clinfo prints what it prints' 'clinfo is not installed'
fi
done_testing
