#!/bin/bash
# What a program did, which we know, is what the summary says.
. "$(dirname "$0")/../lib/tap.sh"

cat >program.py <<'EOF'
import os, sonde
with open("data", "wb") as f:
    f.write(bytes(1 << 20))
fd = os.open("data", os.O_RDONLY)
for i in range(64):                      # 64 reads of 4096 in order
    os.pread(fd, 4096, i * 4096)
for i in range(32):                      # 32 with a stride of 8192
    os.pread(fd, 1024, i * 8192)
for i in range(10):
    os.stat("data")
os.close(fd)
try:
    os.open("/nonexistent/x", os.O_RDONLY)
except FileNotFoundError:
    pass
for i in range(21):
    with sonde.span("outer", "test"):
        with sonde.span("inner", "compute"):
            os.getpid()
    sonde.step("train", i, 0.5)
    sonde.counter("queue", i)
EOF
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
[[ -d $PYTHONPATH/sonde ]] || skip_service 'the Python package is not there'
run "$SONDE" record -o r -- /usr/bin/python3 program.py
is 'the program ran' "$status" 0
run "$SONDE" summary r --json
is 'summary exits with 0' "$status" 0
fact() { jq -r "$1" <<<"$out"; }
file='.io.by_file[] | select(.path | endswith("/data"))'

for key in wall_ns processes threads states cpu io network iterations swarms diagnosis probes; do
	is "the key $key" "$(fact "has(\"$key\")")" true
done
is 'bytes read of the file' "$(fact "$file | .read_bytes")" $((64 * 4096 + 32 * 1024))
is 'bytes written' "$(fact "$file | .write_bytes")" $((1 << 20))
is 'reads' "$(fact "$file | .reads")" 96
is 'stats' "$(fact "($file | .stats) >= 10")" true
is 'reads in order, and thirty as far from the one before as that from its own' \
	"$(fact '.io.patterns[] | select(.kind == "read") | "\(.compared >= 95) \((.strided * .compared | round) == 30)"')" 'true true'
is 'small reads' "$(fact "($file | .small) == 32")" true
is 'errors are seen' "$(fact '.io.errors >= 1')" true
is 'iterations' "$(fact '.iterations.by_name[] | select(.name == "train") | .count')" 20
is 'spans' "$(fact '.spans.by_name[] | select(.name == "outer") | "\(.count) \(.category)"')" '21 test'
is "a span's own time is without the one inside" \
	"$(fact '[.spans.by_name[] | select(.name == "outer" or .name == "inner")] | (.[] | select(.name == "outer") | .total_ns - .self_ns) == (.[] | select(.name == "inner") | .total_ns)')" true
is 'counters' "$(fact '.counters.by_name[] | select(.name == "queue") | "\(.count) \(.min) \(.mean) \(.max)"')" '21 0 10 20'
is 'I/O is a part of the wall time' "$(fact '.layers.io_ns > 0 and .layers.io_ns < .wall_ns')" true
# shellcheck disable=SC2016 # jq's variable
is 'what is null has a reason' "$(fact '. as $s | [keys[] | select($s[.] == null) | select($s.reasons[.] == null)] | length')" 0

run "$SONDE" summary r --roi inner --json
is 'a region by name' "$status" 0
is 'has fewer calls' "$(jq '.io == null or .io.reads < 96' <<<"$out")" true
run "$SONDE" summary r --roi nowhere
is 'an unknown one is an error' "$status" 1
like 'with a hint' "$err" 'not found.*two times'
run "$SONDE" summary r --roi 2s,1s
is 'one that ends before it begins is a usage error' "$status" 2

done_testing
