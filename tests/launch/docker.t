#!/bin/bash
# docker: a real daemon's containers, whose processes are not our descendants. They wait until they are observed, so nothing
# of the program is missed; and nothing of them, or of the daemon, is left.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/launch/lib.sh"

[ "$(id -u)" = 0 ] || skip_all 'only root can run a daemon'
command -v dockerd >/dev/null || skip_service 'dockerd is not installed'
busybox=$(command -v busybox) || skip_service 'busybox is not installed'
ldd "$busybox" >/dev/null 2>&1 && skip_service 'busybox is not static'
docker=/usr/bin/docker # of the same package
[ -x $docker ] || docker=$(command -v docker) || skip_service 'docker is not installed'

# Names of sockets have to be short, so it has a place of its own.
place=$(mktemp -d /tmp/sonde-dXXXXXX)
daemon=
end_daemon() {
	local at
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null
		wait "$daemon"
		daemon=
	fi
	while read -r at; do umount -l "$at"; done < <(awk -v p="$place" 'index($2, p "/") == 1 { print $2 }' /proc/mounts | sort -r)
	rm -rf "$place"
}
trap 'end_daemon; tap_exit' EXIT
dockerd --iptables=false --ip6tables=false --bridge=none --storage-driver=vfs --data-root "$place/d" --exec-root "$place/e" \
	-H "unix://$place/s" -p "$place/p" >"$TEST_DIR/daemon.log" 2>&1 &
daemon=$!
export DOCKER_HOST=unix://$place/s
mkdir "$place/t"
for ((i = 0; i < 600; i++)); do
	$docker version >/dev/null 2>&1 && break
	kill -0 $daemon 2>/dev/null || break
	sleep 0.1
done
$docker version >/dev/null 2>&1 || skip_service "dockerd does not run here: $(tail -1 "$TEST_DIR/daemon.log")"

mkdir -p rootfs/bin rootfs/tmp
cp "$busybox" rootfs/bin/busybox
for name in sh sleep tail cat true id setsid; do ln -s busybox rootfs/bin/$name; done
# And a shell that the tracer can see, with what it is linked to.
dash=$(readlink -f "$(command -v dash)") && cp "$dash" rootfs/bin/dash
ldd "$dash" | grep -o '/[^ ]*' | while read -r file; do
	mkdir -p "rootfs${file%/*}"
	cp -L "$file" "rootfs$file"
done
echo inside >rootfs/word
tar -C rootfs -cf rootfs.tar .
$docker import rootfs.tar plain >import.log 2>&1 || skip_service "docker cannot import an image: $(tail -1 import.log)"
$docker import -c 'ENTRYPOINT ["/bin/sh", "-c"]' rootfs.tar entered >import.log 2>&1
$docker run --rm --network=none plain true >run.log 2>&1 || skip_service "docker cannot run a container: $(tail -1 run.log)"
ours() { $docker ps -aq | wc -l; }
# record RUN IMAGE [OPTION...] -- COMMAND
record() {
	local run=$1 image=$2
	shift 2
	run env TMPDIR="$place/t" timeout 100 "$SONDE" record -v -o "$run" --engine "$docker" --image "$image" --engine-arg=--network=none "$@"
}
of() { "$SONDE" events "$1" --table "$2" --json; }

# shellcheck disable=SC2016
work='i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; cat /word; cat /word; echo done; exit 6'
record inner plain -- sh -c "$work"
is 'a program in a container: its code' "$status" 6
is 'its output' "$out" $'inside\ninside\ndone'
unlike 'its processes were seen' "$err" 'no process of the container was seen'
if [[ $(jq -r '.probes[] | select(.name == "sched").state' inner/run.json) == ran ]]; then
	is 'its threads are those of the program' "$(of inner task | jq -r .name | sort | paste -sd,)" cat,cat,sh
	pids=$(of inner task | jq -s 'map(.pid)')
	for table in sample sched counter mapping; do
		is "nothing else in $table" "$(of inner $table | jq -s --argjson p "$pids" '[.[] | select(.pid != null and ([.pid] | inside($p) | not))] | length')" 0
	done
	ok 'there are samples' test "$(of inner sample | wc -l)" -gt 0
	ok 'all its CPU time is in them' test "$(jq -s '(.[0] - .[1] | fabs) < 0.02 * .[0]' \
		<(of inner task | jq -s 'map(.run_ns) | add') <(of inner sample | jq -s 'map(.weight_ns) | add'))" = true
	ok 'and counters of its processes' test "$(of inner counter | jq -s --argjson p "$pids" '[.[] | select(.pid == $p[0])] | length')" -gt 0
	# Its first process was seen from its exec on: what it read at once is in its life.
	ok 'its whole life' test "$(of inner task | jq -s 'all(.start_ns != null and .end_ns != null and .run_ns > 0)')" = true
else
	skip 'only the program is in the run' 'no perf events here'
fi
record traced plain -- dash -c "$work"
is 'one that can be traced' "$status $out" $'6 inside\ninside\ndone'
pid=$(of traced task | jq 'select(.name == "dash").pid')
if [[ -n $pid ]]; then
	is 'its samples are those of the process that the tracer saw' "$(of traced sample | jq -c "select(.pid == $pid).process" | sort -u)" \
		"$(of traced process | jq -s '[.[] | select(.parent == null)][0].process')"
else
	skip 'its samples are those of the process that the tracer saw' 'no perf events here'
fi
is 'it has ended' "$(of traced process | jq -r 'select(.process != null).state' | grep -c running)" 0

# What goes first leaves the rest as it was.
record entered entered -- 'echo by "$0" the entry; exit 3' zero
is 'an image with an entry point' "$status $out" '3 by zero the entry'
record asked entered --engine-arg=--entrypoint=/bin/cat -- /word
is 'another entry point, asked for' "$status $out" '0 inside'
record user plain --engine-arg=--user=1234 -- id -u
is 'another user' "$status $out" '0 1234'
run timeout 100 "$SONDE" record -q -o stdin --engine "$docker" --image plain --engine-arg=--network=none -- cat <<<'from outside'
is 'its input' "$status $out" '0 from outside'
record lacking plain -- no-such-program
is 'a program that is not there' "$status" 127
record untraced plain --probes cpu -- sh -c 'exit 4'
is 'without the tracer' "$status" 4
is 'no container is left of them' "$(ours)" 0

# The engine notices that there was too little memory.
record small plain --memory-limit 32M -- sh -c 'tail /dev/zero; exit 5'
is 'a process that had too little memory: the code of the command' "$status" 5
like 'and it is told, with the limit' "$err" 'killed by the out-of-memory killer \(limit 32(\.0)? MiB\)'
is 'in the run too' "$(jq .exit.oom_kills small/run.json)" 1
record enough plain --memory-limit 32M -- true
unlike 'one that had enough: nothing of that' "$err" 'out-of-memory'

check_ladder docker timeout 100 "$SONDE" record -q -o ladder --timeout 3s --engine "$docker" --image plain --engine-arg=--network=none
is 'no container is left' "$(ours)" 0
is 'nor where they waited' "$(find "$place/t" -mindepth 1 | wc -l)" 0
end_daemon
is 'nor anything of the daemon' "$(grep -c "$place" /proc/mounts) $(pgrep -fc "$place")" '0 0'
done_testing
