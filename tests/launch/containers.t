#!/bin/bash
# containers: jobs in a real engine, with an image made here, and nothing of them left.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/launch/lib.sh"

command -v podman >/dev/null || skip_service 'podman is not installed'
busybox=$(command -v busybox) || skip_service 'busybox is not installed'
ldd "$busybox" >/dev/null 2>&1 && skip_service 'busybox is not static'
[ "$(id -u)" = 0 ] || skip_all 'podman is tried as root only'

export CONTAINERS_CONF=$SOURCE_DIR/tests/launch/containers.conf
export SONDE_TEST_IMAGE=localhost/sonde-test-$$
mkdir -p rootfs/bin rootfs/tmp
cp "$busybox" rootfs/bin/busybox
for name in sh sleep tail cat true wc setsid; do ln -s busybox rootfs/bin/$name; done
# And a shell that the tracer can see, with what it is linked to.
dash=$(readlink -f "$(command -v dash)") && cp "$dash" rootfs/bin/dash
ldd "$dash" | grep -o '/[^ ]*' | while read -r file; do
	mkdir -p "rootfs${file%/*}"
	cp -L "$file" "rootfs$file"
done
echo inside >rootfs/word
tar -C rootfs -cf rootfs.tar .
podman import -q rootfs.tar "$SONDE_TEST_IMAGE" >import.log 2>&1 || skip_service "podman cannot import an image: $(tail -1 import.log)"
podman run --rm --network=none "$SONDE_TEST_IMAGE" true >run.log 2>&1 || {
	podman rmi -f "$SONDE_TEST_IMAGE" >/dev/null 2>&1
	skip_service "podman cannot run a container: $(tail -1 run.log)"
}

ours() { podman ps -a --format '{{.Image}}' | grep -c "$SONDE_TEST_IMAGE"; }

timeout 200 "$SONDE_TEST_CONTAINER" >unit.log 2>&1 </dev/null
is 'jobs in containers' "$?" 0 || diag "$(cat unit.log)"
is 'no container is left' "$(ours)" 0

if ok 'sonde is staged' test -x "$SONDE"; then
	mkdir work
	run timeout 100 "$SONDE" record -o bundle --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- sh -c 'echo in the image; exit 6'
	is 'record --image gives the command'\''s code' "$status" 6
	is 'and its output' "$out" 'in the image'
	run "$SONDE" info --json bundle
	is 'the run is a whole bundle' "$status" 0

	# The program is what runs in the container: not the engine, not what that starts around it.
	# shellcheck disable=SC2016
	work='i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; cat /word; cat /word; echo done'
	run timeout 100 "$SONDE" record -v -o inner --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- sh -c "$work"
	is 'a program in a container' "$out" $'inside\ninside\ndone'
	if [[ $(jq -r '.probes[] | select(.name == "sched").state' inner/run.json) == ran ]]; then
		of() { "$SONDE" events inner --table "$1" --json; }
		is 'its threads are those of the program' "$(of task | jq -r .name | sort | paste -sd,)" cat,cat,sh
		pids=$(of task | jq -s 'map(.pid)')
		for table in sample sched counter mapping; do
			is "nothing else in $table" "$(of $table | jq -s --argjson p "$pids" '[.[] | select(.pid != null and ([.pid] | inside($p) | not))] | length')" 0
		done
		ok 'all its CPU time is in samples' test "$(jq -s '(.[0] - .[1] | fabs) < 0.02 * .[0]' \
			<(of task | jq -s 'map(.run_ns) | add') <(of sample | jq -s 'map(.weight_ns) | add'))" = true
		ok 'its threads are off, on and gone within its own time' test "$(of task | jq -s 'min_by(.start_ns).start_ns' | jq --slurpfile s <(of sched | jq -s 'map(.ts_ns) | min') '. <= $s[0]')" = true
		run "$SONDE" summary inner
		unlike 'and a summary knows of nothing else' "$out" 'podman|conmon|runc'
	else
		skip 'only the program is in the run' 'no perf events here'
	fi
	run timeout 100 "$SONDE" record -o traced --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- dash -c "$work"
	is 'one that can be traced' "$out" $'inside\ninside\ndone'
	is 'it has ended, as all that is in a container has' \
		"$("$SONDE" events traced --table process --json | jq -r 'select(.process != null).state' | grep -c running)" 0
	pid=$("$SONDE" events traced --table task --json | jq 'select(.name == "dash").pid')
	if [[ -n $pid ]]; then
		is 'its samples are those of the process that the tracer saw' \
			"$("$SONDE" events traced --table sample --json | jq -c "select(.pid == $pid).process" | sort -u)" \
			"$("$SONDE" events traced --table process --json | jq -s '[.[] | select(.parent == null)][0].process')"
	else
		skip 'its samples are those of the process that the tracer saw' 'no perf events here'
	fi
	run timeout 100 "$SONDE" record -o timed --timeout 2s --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- \
		sh -c 'trap "" INT TERM; while :; do sleep 1; done'
	is 'record --timeout ends it with 124' "$status" 124
	is 'no container is left of either' "$(ours)" 0

	# docker, or what goes by that name: its command line is the same.
	mkdir bin
	# shellcheck disable=SC2016 # it is the script that expands them
	printf '#!/bin/bash\necho "$1" >>%q\nexec podman "$@"\n' "$PWD/asked" >bin/docker
	chmod +x bin/docker
	export PATH=$PWD/bin:$PATH
	run timeout 100 "$SONDE" record -o docker --engine docker --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- sh -c 'echo by docker; exit 8'
	is 'record --engine docker gives code and output' "$status $out" '8 by docker'
	ok 'it was docker that ran it' grep -q run asked
	# Too little memory: only the engine can tell when all is over. podman's monitor does not notice with hybrid control groups, so
	# one that does stands in.
	# shellcheck disable=SC2016
	printf '#!/bin/bash\n[[ $* != *OOMKilled* ]] || exec podman "${@/OOMKilled/Dead}" | sed s/false/true/\nexec podman "$@"\n' >bin/knows
	chmod +x bin/knows
	run timeout 100 "$SONDE" record -v -o small --memory-limit 32M --engine "$PWD/bin/knows" --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- \
		sh -c 'tail /dev/zero; exit 5'
	is 'a process that had too little memory: the code of the command' "$status" 5
	like 'and it is told, with the limit' "$err" 'killed by the out-of-memory killer \(limit 32(\.0)? MiB\)'
	is 'in the run too' "$(jq .exit.oom_kills small/run.json)" 1
	ok 'podman leaves no file of it where we are' test ! -e oom
	echo mine >oom
	run timeout 100 "$SONDE" record -q -o small2 --memory-limit 32M --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- sh -c 'tail /dev/zero; exit 5'
	is 'and the one that is the user'\''s stays' "$(cat oom)" mine
	rm oom
	run timeout 100 "$SONDE" record -v -o enough --memory-limit 32M --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- true
	unlike 'one that had enough: nothing of that' "$err" 'out-of-memory'
	is 'no container is left of them' "$(ours)" 0
	# An engine whose containers are not its children: their first process waits until it is observed. See docker.t for a real one.
	mkfifo ask
	# shellcheck disable=SC2094
	(while read -r line <ask; do [[ $line == end ]] && break; eval "podman $line" >said </dev/null 2>&1; echo $? >answer; done) &
	daemon=$!
	# shellcheck disable=SC2016
	printf '#!/bin/bash\n[ "$1" = run ] || exec podman "$@"\ncd %q || exit\nrm -f answer\n{ printf "%%q " "$@"; echo; } >ask\nwhile [ ! -s answer ]; do sleep 0.1; done\ncat said\nexit "$(cat answer)"\n' "$PWD" >bin/far
	chmod +x bin/far
	run timeout 100 "$SONDE" record -v -o far --engine "$PWD/bin/far" --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- sh -c 'cat /word; exit 9'
	is 'a daemon runs it: code and output' "$status $out" '9 inside'
	if [[ $(jq -r '.probes[] | select(.name == "sched").state' far/run.json) == ran ]]; then
		is 'and it is seen' "$("$SONDE" events far --table task --json | jq -r .name | sort | paste -sd,)" cat,sh
	else
		skip 'and it is seen' 'no perf events here'
	fi
	# One that does not tell what an image puts before a command: nothing of ours can go first, and what is not seen is said.
	# shellcheck disable=SC2016
	printf '#!/bin/bash\n[[ $1 != image && $1 != pull ]] || exit 1\nexec %q "$@"\n' "$PWD/bin/far" >bin/silent
	chmod +x bin/silent
	run timeout 100 "$SONDE" record -v -o silent --engine "$PWD/bin/silent" --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- sh -c 'echo from afar; exit 9'
	is 'one that does not tell of images: code and output' "$status $out" '9 from afar'
	like 'and what is not seen is said' "$err" 'no process of the container was seen'
	echo end >ask
	wait "$daemon"
	for engine in podman docker; do
		check_ladder "$engine" timeout 100 "$SONDE" record -q -o "ladder-$engine" --timeout 3s --engine $engine \
			--image "$SONDE_TEST_IMAGE" --engine-arg=--network=none
		is "$engine: no container is left" "$(ours)" 0
	done
	run timeout 100 "$SONDE" record -q -o devices --image "$SONDE_TEST_IMAGE" --engine-arg=--network=none -- \
		sh -c "[ -e '$SONDE_STAGE/lib/sonde/libsonde-gpu.so' ] && echo there"
	is 'what the runtimes of devices load is in the container' "$out" there
	run "$SONDE" record --engine docker -- true
	is '--engine alone makes no sense' "$status" 2
	run "$SONDE" record -q -o none --engine /nonexistent/engine --image x -- true
	is 'an engine that is not there: 125' "$status" 125
	like 'and it says so' "$err" "container engine '.*' not found"
fi
podman rmi -f "$SONDE_TEST_IMAGE" >/dev/null 2>&1
done_testing
