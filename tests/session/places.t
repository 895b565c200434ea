#!/bin/bash
# Sessions elsewhere: in a sandbox over a root and in a container, with mounts, data, variables and arguments of the engine;
# sonde live sees them there, by the container's id and name.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

command -v podman >/dev/null || skip_service 'podman is not installed'
[ "$(id -u)" = 0 ] || skip_all 'sandboxes and podman are tried as root only'
APP=$SONDE_TEST_APP
mkdir shared
printf 'hello\n' >data.txt
of() { jq -r ".values[] | select(.name == \"$2\" and ((.step // .metric // .phase) == $3)) | .median" "$1/profile.json"; }

cat >root.yml <<END
rootfs: /
command: [ sh, -c, 'echo "shared: \$(ls /mnt)" >&2; touch /usr/made-by-session /mnt/kept; touch /srv/refused; exec "\$@"', sh, $APP, "20", "2", "{dataset}" ]
env: { COLOUR: blue }
dataset: { source: "file:data.txt" }
mounts: [ "$TEST_DIR/shared:/mnt", "$TEST_DIR/shared:/srv:ro" ]
END
touch shared/seen
run "$SONDE" session root.yml -o root
is 'in a sandbox over a root' "$status" 0 || diag "$err"
like 'with what is mounted there' "$err" 'shared: seen'
like 'its data and its variables' "$err" 'data: hello.*colour: blue'
is 'steps are counted' "$(of root steps '"frame"')" 20
is 'what it counts too' "$(of root metric_total '"objects"')" 40
ok 'what it writes to a mount stays' test -e shared/kept
like 'what must not be written is not' "$err" 'Read-only file system'
ok 'and is not there' test ! -e shared/refused
ok 'what it writes elsewhere does not' test ! -e /usr/made-by-session

export CONTAINERS_CONF=$SOURCE_DIR/tests/launch/containers.conf
image=localhost/sonde-session-$$
mkdir -p tree/mnt tree/tmp
cp "$APP" tree/app
ldd "$APP" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "tree$(dirname "$library")"
	cp -L "$library" "tree$library"
done
tar -C tree -cf tree.tar .
podman import -q tree.tar "$image" >import.log 2>&1 || diag "$(<import.log)"
cat >image.yml <<END
image: $image
command: [ /app, "1000000", "20", "{dataset}" ]
env: { COLOUR: red, STOP: /mnt/stop, TOUCH: /mnt/refused }
container_args: [ --network=none, --hostname=edge ]
dataset: { source: "file:data.txt" }
mounts: [ "$TEST_DIR/shared:/mnt:ro" ]
limits: { memory: 256M }
timeout: 300s
END
"$SONDE" session image.yml -o image >image.out 2>image.err &
session=$!
start_live url
container() { curl -s "$(<url)/metrics" | grep '^sonde_container_info{app="app",'; }
is_seen() { info=$(container) || ! kill -0 "$session" 2>/dev/null; }
poll is_seen
like 'sonde live tells its container, by id and name' "$info" 'container_id="[0-9a-f]{64}",container="sonde-[0-9]+-[0-9]+"'
[[ $info =~ container_id=\"([^\"]*)\",container=\"([^\"]*)\" ]] && id=${BASH_REMATCH[1]} container=${BASH_REMATCH[2]}
is 'which podman knows' "$(podman inspect --format '{{.Id}}' "${container-}" 2>&1)" "${id-none}"
page=$(curl -s "$(<url)/metrics")
like 'and its steps' "$page" 'sonde_steps_total\{app="app",step="frame"\} [1-9]'
like 'its control group too' "$page" 'sonde_group_cpu_seconds_total\{app="app",mode="user"\} [0-9]'
is 'container arguments are the engine'"'"'s' "$(podman inspect --format '{{.Config.Hostname}}' "${container-}")" edge
is 'and so are limits' "$(podman inspect --format '{{.HostConfig.Memory}}' "${container-}")" $((256 << 20))
is 'a mount that must not be written: podman knows' "$(podman inspect --format '{{range .Mounts}}{{if eq .Destination "/mnt"}}{{.RW}}{{end}}{{end}}' "${container-}")" false
touch shared/stop
wait "$session"
is 'in a container' "$?" 0 || diag "$(<image.err)"
like 'with its data and variables' "$(<image.err)" 'data: hello.*colour: red'
like 'what must not be written there is not' "$(<image.err)" 'touch: Read-only file system'
ok 'steps are counted there too' test "$(of image steps '"frame"')" -gt 0
ok 'and rates' awk -v r="$(of image metric_per_second '"objects"')" 'BEGIN { exit !(r > 0 && r <= 100) }'
ok 'the container has used a processor' awk -v s="$(of image cpu_seconds null)" 'BEGIN { exit !(s > 0 && s < 300) }'
ok 'and memory, which a limit is recommended for' test "$(jq .recommended.memory_bytes image/profile.json)" -gt "$(of image max_rss_bytes null)"
is 'no container is left' "$(podman ps -a --format '{{.Image}}' | grep -c "$image")" 0
kill "$live"
wait "$live"
podman rmi -f "$image" >/dev/null 2>&1
done_testing
