#!/bin/bash
# CUDA: the driver loads our library, CUPTI tells of kernels, copies and fills. Driver and CUPTI are stand-ins that follow the
# public interface; CUPTI's clock is an hour ahead of ours.
. "$(dirname "$0")/../lib/tap.sh"

# Before any that is installed here.
mkdir with without
cp "$FAKES/libcupti.so" with/libcupti.so.13
export LD_LIBRARY_PATH=$PWD/with
run "$CUDA"
is 'alone' "$status $out" '5 computed'
run "$SONDE" record -v -o run -- "$CUDA"
is 'recorded: the same' "$status $out" '5 computed'
table=$("$SONDE" events run --table gpu --json | jq -s -c .)
is 'every command' "$(jq -r '.[] | "\(.api) \(.kind) \(.direction) \(.bytes) \(.items) \(.name) \(.device_id) \(.queue) \(.dur_ns)"' <<<"$table")" \
'cuda copy host-to-device 4096 null CUDA_COPY_H2D 0 3 2000
cuda kernel null null 256 gemm_fw_ 1 7 5000
cuda kernel null null 256 gemm_bw_ 1 7 5000
cuda fill null 512 null CUDA_MEMSET 0 3 1000
cuda copy device-to-device 100 null CUDA_COPY_D2D 0 3 2000
cuda copy peer-to-peer 200 null CUDA_COPY_P2P 0 3 2000
cuda copy device-to-host 2048 null CUDA_COPY_D2H 0 3 2000'
is 'on the clock of the run' "$(jq --slurpfile run run/run.json '($run[0].clock.start_mono_ns) as $start | all(.[]; .ts_ns > $start and .ts_ns < $start + $run[0].wall_ns)' <<<"$table")" true
is 'times that CUPTI does not tell are missing' "$(jq -c '[.[].submit_ns] | unique' <<<"$table")" '[null]'
is 'what CUPTI dropped is counted' "$(jq '.probes[] | select(.name == "trace").dropped' run/run.json)" 2
calls=$("$SONDE" events run --table span --json | jq -s -c 'map(select(.cat == "cuda"))')
is 'calls of its interfaces' "$(jq -r '.[].name' <<<"$calls" | sort | xargs)" "$(printf "%s\n" cudaMemcpy cuMemcpyDtoH_v2 | sort | xargs)"
is 'one inside the other' "$(jq '(map({key: .name, value: .}) | from_entries) as $c | $c.cudaMemcpy as $o | $c.cuMemcpyDtoH_v2 as $i |
	$o.ts_ns <= $i.ts_ns and $i.ts_ns + $i.dur_ns <= $o.ts_ns + $o.dur_ns and $o.tid == $i.tid' <<<"$calls")" true
"$SONDE" export --to sofa -o sofa run
is 'SOFA has them too' "$(cut -d, -f 12 sofa/cuda_api_trace.csv | sort | xargs)" "$(printf "%s\n" name '[CUDA_API]cudaMemcpy' '[CUDA_API]cuMemcpyDtoH_v2' | sort | xargs)"
is 'the environment has no such variable' "$("$SONDE" record -q -o env -- env | grep -c CUDA_INJ)" 0

cp "$FAKES/libcuda.so" without/libcupti.so.13 # a library that is no CUPTI
LD_LIBRARY_PATH=$PWD/without run "$SONDE" record -q -o no-cupti -- "$CUDA"
is 'without CUPTI: the same' "$status $out" '5 computed'
like 'without CUPTI: that is said' "$("$SONDE" events no-cupti --table meta)" 'gpu.cuda.*CUPTI'
ok 'and there is no row' test ! -e no-cupti/tables/gpu.tbl
done_testing
