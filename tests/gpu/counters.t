#!/bin/bash
# Counters of devices: from NVML, nvidia-smi or tegrastats, each a stand-in; a machine without says so and counts nothing.
. "$(dirname "$0")/../lib/tap.sh"
unset LD_LIBRARY_PATH # the build has stand-ins on it

# last RUN: the last value of each counter of devices.
last() { "$SONDE" events "$1" --table counter --json | jq -r -s 'map(select(.name | startswith("gpu."))) | group_by(.name) | .[] | "\(.[-1].name) \(.[-1].value)"'; }
state() { jq -r '.probes[] | select(.name == "gpu") | "\(.state) \(.source)"' "$1/run.json"; }

LD_LIBRARY_PATH=$FAKES "$SONDE" record -q -o nvml -- sleep 0.3
is 'NVML: what it is' "$(state nvml)" 'ran nvml'
is 'NVML: its values; what a device cannot tell is missing' "$(last nvml)" \
'gpu.0.encoder_percent 4
gpu.0.memory_total_bytes 17179869184
gpu.0.memory_used_bytes 3221225472
gpu.0.memory_util_percent 13
gpu.0.power_watts 71.5
gpu.0.sm_clock_hz 1590000000
gpu.0.temperature_celsius 45
gpu.0.util_percent 87
gpu.1.memory_total_bytes 17179869184
gpu.1.memory_used_bytes 3221225472
gpu.1.memory_util_percent 13
gpu.1.sm_clock_hz 1590000000
gpu.1.temperature_celsius 45
gpu.1.util_percent 0'

"$SONDE" export --to sofa -o sofa nvml
is "NVML: SOFA's shares of devices" "$(tail -n +2 sofa/nvsmi_trace.csv | cut -d, -f 2-4,12 | sort -u)" \
'0.000000,0.000000,1.000000,nvsmi:1:sm
0.000000,87.000000,0.000000,nvsmi:0:sm
1.000000,13.000000,0.000000,nvsmi:0:mem
1.000000,13.000000,1.000000,nvsmi:1:mem
2.000000,4.000000,0.000000,nvsmi:0:enc'
features=$("$SONDE" summary nvml --json | jq -c '.features.vector | map({ (.name): .value }) | add | [.gpu_sm_util, .gpu_sm_util_q2, .gpu_mem_util, .gpu_mem_util_q3]')
is 'NVML: features of SOFA' "$features" '[87,87,13,13]'

# command NAME LINE...: a program of that name which prints its arguments to `asked`, then the lines, then waits.
mkdir bin
command_of() {
	local name=$1
	shift
	{
		echo '#!/bin/bash'
		printf 'echo "$@" >%q\n' "$PWD/asked"
		printf 'echo $$ >%q\n' "$PWD/pid"
		printf 'printf "%%s\\n" %q\n' "$@"
		echo 'exec sleep 1000'
	} >"bin/$name"
	chmod +x "bin/$name"
}

command_of nvidia-smi '0, 42, 7, 1024, 15109, 70.12, 45, 1590' '1, [N/A], 9, 10, 15109, [Not Supported], 30, 300' 'nonsense'
PATH=$PWD/bin:$PATH "$SONDE" record -q -o smi -- sleep 0.5
is 'nvidia-smi: what it is' "$(state smi)" 'ran nvidia-smi'
is 'nvidia-smi: its values' "$(last smi)" \
'gpu.0.memory_total_bytes 15842934784
gpu.0.memory_used_bytes 1073741824
gpu.0.memory_util_percent 7
gpu.0.power_watts 70.12
gpu.0.sm_clock_hz 1590000000
gpu.0.temperature_celsius 45
gpu.0.util_percent 42
gpu.1.memory_total_bytes 15842934784
gpu.1.memory_used_bytes 10485760
gpu.1.memory_util_percent 9
gpu.1.sm_clock_hz 300000000
gpu.1.temperature_celsius 30'
like 'nvidia-smi: at the rate of counters' "$(<asked)" 'loop-ms=100'
ok 'nvidia-smi: ended with the recording' test ! -d "/proc/$(<pid)"

rm bin/nvidia-smi
command_of tegrastats 'RAM 2448/3964MB (lfb 2x4MB) SWAP 0/1982MB (cached 0MB) CPU [5%@1224,off,off,2%@1224] EMC_FREQ 0% GR3D_FREQ 37%@76 PLL@33C CPU@36.5C GPU@35.5C VDD_GPU 1234/1200'
PATH=$PWD/bin:$PATH "$SONDE" record -q -o tegra -- sleep 0.5
is 'tegrastats: its values' "$(state tegra) $(last tegra | tr '\n' ' ')" \
	'ran tegrastats gpu.0.memory_total_bytes 4156555264 gpu.0.memory_used_bytes 2566914048 gpu.0.power_watts 1.234 gpu.0.sm_clock_hz 76000000 gpu.0.temperature_celsius 35.5 gpu.0.util_percent 37 '
ok 'tegrastats: ended too' test ! -d "/proc/$(<pid)"

# Killed: whoever prints into a pipe that nobody reads ends.
printf '#!/bin/bash\necho $$ >%q\nwhile sleep 0.05; do echo "0, 1, 1, 1, 1, 1, 1, 1" || exit; done\n' "$PWD/pid" >bin/nvidia-smi
rm pid
chmod +x bin/nvidia-smi
PATH=$PWD/bin:$PATH "$SONDE" record -q -o killed -- sleep 2 &
recorder=$!
for ((i = 0; i < 100; i++)); do
	[[ -s pid && -e killed/tables/counter.tbl ]] && break
	sleep 0.1
done
kill -KILL $recorder
wait $recorder 2>/dev/null
is_gone() { [[ ! -d /proc/$1 ]] || grep -q '^State:.*[ZX] ' "/proc/$1/status"; }
for ((i = 0; i < 100; i++)); do
	is_gone "$(<pid)" && break
	sleep 0.1
done
ok 'when the recorder is killed, the command ends' is_gone "$(<pid)"
run "$SONDE" recover --now killed
is 'and what it had recorded can be had' "$status" 0

# Nothing here: a fact, no zero.
if [[ ! -e /dev/nvidiactl ]]; then
	rm bin/*
	run "$SONDE" record -v -o none -- true
	like 'no GPU is said' "$err" 'sonde: gpu: off: no GPU with readable counters: no NVML, no nvidia-smi, no tegrastats'
	is 'no counter of one' "$(last none)" ''
	is 'the run says why' "$(jq -r '.probes[] | select(.name == "gpu") | "\(.state) \(.reason | length > 0) \(.events)"' none/run.json)" 'off true null'
	like 'sonde doctor says it' "$("$SONDE" doctor)" 'this machine has no GPU device'
fi
done_testing
