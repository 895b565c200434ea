#!/bin/bash
# Every option that SOFA had: it becomes an option of sonde, is on anyway, or is refused with what to use instead.
. "$(dirname "$0")/../lib/tap.sh"

# A tree in which sonde says what it was given.
mkdir -p tree/bin tree/lib/sonde/compat/sofa/bin
cp "$SONDE_STAGE/lib/sonde/compat/sofa/bin/sofa" tree/lib/sonde/compat/sofa/bin/
# shellcheck disable=SC2016 # it is the script that expands them
printf '#!/bin/bash\nprintf "%%s\\n" "$*"\n' >tree/bin/sonde
chmod +x tree/bin/sonde
sofa=$PWD/tree/lib/sonde/compat/sofa/bin/sofa
usual='--cpu-filters idle:black --gpu-filters CUDA_COPY_H2D:red,CUDA_COPY_D2H:peru,CUDA_COPY_P2P:purple,_fw_:royalblue,_bw_:darkviolet,AllReduceKernel:indigo'
always=CUDA_COPY_H2D:red,CUDA_COPY_D2H:peru,CUDA_COPY_P2P:purple

# becomes WORD OPTIONS... => what sonde is given
becomes() {
	local want=${!#} given=("${@:1:$#-1}")
	run "$sofa" "${given[@]}"
	is "${given[*]}" "$out" "$want" || diag "$err"
}

# Commands.
becomes record 'true' "record $usual --force --output sofalog -- true"
becomes stat 'wget http://x/y' "stat $usual --force --output sofalog -- wget http://x/y"
becomes preprocess 'preprocess sofalog'
becomes analyze 'summary sofalog'
becomes viz 'view sofalog'
becomes clean 'clean sofalog'
becomes report "$(printf 'preprocess sofalog\nsummary sofalog')"
becomes report --with-gui "$(printf 'preprocess sofalog\nsummary sofalog\nview sofalog')"
becomes diff --base_logdir a --match_logdir b 'diff a b'

# General, record.
becomes --logdir there record 'true' "record $usual --force --output there -- true"
becomes record 'true' --logdir=there "record $usual --force --output there -- true"
becomes --verbose record 'true' "record $usual --force --output sofalog -- true"
becomes stat --cpu_top_k 7 --verbose --spotlight_gpu 'true' "record $usual --force --output sofalog -- true"
becomes record --pid 42 "record $usual --pid 42 --force --output sofalog"
becomes record --pid 42 'true' "record $usual --force --output sofalog -- true"
like 'a pid beside a command is said to do nothing, as it did' "$err" '--pid has no effect'
becomes record --profile_all_cpus 'true' "record --all-cpus $usual --force --output sofalog -- true"
becomes record --perf_events cycles,instructions 'true' "record --events cycles,instructions $usual --force --output sofalog -- true"
becomes record --no-perf-events 'true' "record --probes=trace,sched,system,block,gpu $usual --force --output sofalog -- true"
becomes record --sys-mon-rate 50 'true' "record --rate 50 $usual --force --output sofalog -- true"

# Report.
becomes --cpu_filters=idle:black,tensorflow:orange record 'true' \
	"record --cpu-filters idle:black,tensorflow:orange --gpu-filters $always,_fw_:royalblue,_bw_:darkviolet,AllReduceKernel:indigo --force --output sofalog -- true"
becomes --gpu_filters=tensorflow:orange record 'true' \
	"record --cpu-filters idle:black --gpu-filters $always,tensorflow:orange --force --output sofalog -- true"
becomes analyze --cpu_top_k 7 'summary --top 7 sofalog'
becomes analyze --verbose 'summary --full sofalog'
becomes viz --viz_port 9000 'view --port 9000 sofalog'
becomes viz --cpu_filters idle:black --gpu_filters _fw_:red 'view --groups idle:black,_fw_:red sofalog'
becomes analyze --profile_region 1,2.5 'summary --roi 1.000000000s,2.500000000s sofalog'
becomes analyze --spotlight_gpu 'summary --roi=spotlight:gpu.0.util_percent sofalog'
becomes analyze --cpu_filters idle:black --gpu_filters _fw_:red 'summary --cpu-filters idle:black --gpu-filters _fw_:red sofalog'
becomes record --cluster_ip a,b 'true' "record $usual --hosts a,b --force --output sofalog -- true"
becomes record --shell 'echo $HOME' "record --shell $usual --force --output sofalog -- echo \$HOME"
run "$sofa" analyze --profile_region nonsense
is 'a region that is none is refused' "$status" 2
run "$sofa" analyze --num_swarms 3
like 'a value that is not used is said to be so' "$err" '^sofa: --num_swarms has no effect: the number is found'
run "$sofa" report --cluster_ip a,b
is 'hosts of which there is no run are refused' "$status" 2
like 'with what to do' "$err" "no run of a in 'sofalog-a'.*sofa record --cluster_ip"

# The whole list of SOFA's options, with a value where it takes one: accepted, or refused with a reason that says what instead.
while read -r option value; do
	case $option in --base_logdir | --match_logdir) word=(diff --base_logdir a --match_logdir b) ;; *) word=(record true) ;; esac
	run "$sofa" "$option${value:+=$value}" "${word[@]}"
	if [[ $status == 2 ]]; then
		like "$option is refused with what to use instead" "$err" "^sofa: $option: .*(sonde|--|record|recorded)"
	else
		is "$option is accepted" "$status" 0
	fi
	if [[ $value ]]; then
		run "$sofa" record "$option"
		is "$option wants its value" "$status" 2
	else
		run "$sofa" "$option=1" record true
		is "$option takes none" "$status" 2
	fi
done <<'LIST'
--logdir d
--verbose
--pid 1
--profile_all_cpus
--enable_strace
--enable_tcpdump
--enable_py_stacks
--perf_events cycles
--no-perf-events
--blkdev sda
--netstat_interface eth0
--sys-mon-rate 10
--nvprof_inside
--skip_preprocess
--cpu_filters idle:black
--gpu_filters _fw_:red
--network_filters 127000000001
--diskstat_filters sda
--cluster_ip 127.0.0.1
--cpu_top_k 20
--num_iterations 20
--num_swarms 10
--cpu_time_offset_ms -3
--strace_min_time 1e-6
--plot_ratio 1
--viz_port 8000
--enable_aisi
--aisi_via_strace
--enable_swarms
--display_swarms
--hsg_multifeatures
--base_logdir a
--match_logdir b
--enable_vmstat
--enable_encode_decode
--cuda_api_tracing
--potato_server 127.0.0.1:50051
--absolute_timestamp
--profile_region 1,2
--spotlight_gpu
--with-gui
--nvsmi_time_zone 8
--shell
--is-idle-threshold 10
LIST
for option in $("$sofa" --help | grep -o '^  --[a-z_-]*'); do
	ok "--help names what the list has: $option" grep -q -- "^$option\\( \\|\$\\)" "$SOURCE_DIR/tests/originals/sofa-options.t"
done
run "$sofa" --no_such_option record true
is 'an option that SOFA never had is refused' "$status" 2

# With the real sonde: the filters are in the run, and a whole command in quotes keeps its words.
eval "$("$SONDE" env sofa)"
run sofa --cpu_filters 'idle:black,a b:#ff8800' record "sh -c 'echo one\ two; exit 3'"
is 'one quoted command: its words, its status' "$status $out" '3 one two'
is 'the filters are in the run' "$(jq -c .filters sofalog/run.json)" \
	'{"cpu":[{"keyword":"idle","colour":"black"},{"keyword":"a b","colour":"#ff8800"}],"gpu":[{"keyword":"CUDA_COPY_H2D","colour":"red"},{"keyword":"CUDA_COPY_D2H","colour":"peru"},{"keyword":"CUDA_COPY_P2P","colour":"purple"},{"keyword":"_fw_","colour":"royalblue"},{"keyword":"_bw_","colour":"darkviolet"},{"keyword":"AllReduceKernel","colour":"indigo"}]}'
run sofa --logdir asked stat --cpu_top_k 3 --verbose "sh -c 'echo out; exit 4'"
is 'stat with options of the summary: the command, its status' "$status $out" '4 out'
like 'and the whole summary' "$err" "$(sofa --logdir asked analyze --verbose --cpu_top_k 3 | grep -m1 '^[A-Z]')"
unlike 'which is not asked for twice' "$err" 'More: sonde summary --full'
run sofa --logdir asked stat --cpu_top_k 3 --perf_events nonsense true
is 'one that cannot be recorded: no summary of what was there before' "$status $(grep -c '^run ' <<<"$err")" '2 0'
run sofa --logdir many record "$(type -P printf)" '%s ' $(seq 1000)
is 'a command of many words keeps them all' "$status $(wc -w <<<"$out")" '0 1000'
run sofa --logdir deep/er record true
is 'a log directory that is not there yet is made' "$status" 0
run sofa record --shell 'echo one >redirected && echo two | tr a-z A-Z'
is 'with --shell a shell runs it, as SOFA did' "$status $out $(<redirected)" '0 TWO one'
run sofa --logdir deep/er analyze --profile_region 0,100
is 'a region of seconds is looked at' "$status" 0
run sofa --logdir deep/er analyze --spotlight_gpu
like 'no GPU is said, where there is none' "$status $err" "^0|counter 'gpu.0.util_percent' not found"
for ip in 10.0.0.1 10.0.0.2; do sofa --logdir "node-$ip" record "sh -c 'exit 0'"; done
for again in first second; do
	run sofa --logdir node/ report --cluster_ip 10.0.0.1,10.0.0.2
	is "log directories of two hosts are one report, $again time" "$status" 0
	like 'with the processes of both' "$out" 'processes 2'
done
is 'the joined run names them' "$(jq '.hosts | length' node-cluster/run.json)" 2
run sofa record true --profile_all_cpus
is 'all CPUs' "$status" 0
"$SONDE" record -q -o plain -- true
is 'without filters there is no key' "$(jq 'has("filters")' plain/run.json)" false
for wrong in idle :black idle: 'idle:url(x)'; do
	run "$SONDE" record -o wrong --cpu-filters "$wrong" -- true
	is "--cpu-filters $wrong is refused" "$status" 2
done
done_testing
