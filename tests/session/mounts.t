#!/bin/bash
# A job's mounts are resolved when it starts, beneath the directory that the configuration allows: what was checked when it was
# queued may have become a link to elsewhere.
. "$(dirname "$0")/../lib/tap.sh"
poll() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}
(($(id -u) == 0)) || skip_all 'only root can bind mount'

mkdir secret shared shared/dir shared/out shared/links elsewhere
chmod 755 "$TEST_DIR"
echo 'top secret' >secret/file
echo 'for all' >shared/dir/file
echo 'elsewhere' >elsewhere/file
ln -s ../dir shared/links/inner
ln -s "$TEST_DIR/elsewhere" named
cat >hold.sh <<'SCRIPT'
#!/bin/sh
until test -e "$1"; do sleep 0.1; done
SCRIPT
cat >show.sh <<'SCRIPT'
#!/bin/sh
for dir; do echo "$dir: $(cat "$dir/file" 2>&1)"; touch "$dir/made" && echo "$dir: written"; done
exit 0
SCRIPT
chmod +x hold.sh show.sh
cat >jobs.yml <<END_OF_CONFIG
apps:
  hold: { command: [ $TEST_DIR/hold.sh ] }
  show: { command: [ $TEST_DIR/show.sh ], rootfs: / }
mounts: [ "$TEST_DIR/shared", "$TEST_DIR/shared/out:rw", "$TEST_DIR/named" ]
END_OF_CONFIG
start() {
	rm -f url
	"$SONDE" jobserver --listen 127.0.0.1:0 --token me:secret --config jobs.yml --dir jobs >url 2>server.err &
	server=$!
	poll test -s url
}
ask() { curl -s --user me:secret "$@"; }
submit() { # NAME ARGS DOCKER_ARGS
	ask "$(<url)/job/nx/buildWithParameters" --data-urlencode "app_name=$1" --data-urlencode "app_args=$2" \
		--data-urlencode "app_docker_args=$3"
}
number() { jq -r '.number // empty'; }
state() { ask "$(<url)/jobs/$1" | jq -r .state; }
log() { ask "$(<url)/jobs/$1/log"; }
is_over() { [[ $(state "$1") =~ done|failed|cancelled ]]; }
is_state() { [[ $(state "$1") == "$2" ]]; }
held() { # the slot is taken until the file "go" is there
	rm -f go
	holder=$(submit hold "$TEST_DIR/go" '' | number)
	poll is_state "$holder" running
}
freed() { touch go && poll is_over "$1"; }
left() { grep -c "$TEST_DIR\|/sonde/mounts" /proc/self/mountinfo; }

start
held
job=$(submit show '/mnt/a /mnt/out /mnt/inner /mnt/plain /mnt/named' "-v $TEST_DIR/shared/dir:/mnt/a -v $TEST_DIR/shared/out:/mnt/out:rw \
-v $TEST_DIR/shared/links/inner:/mnt/inner:ro -v $TEST_DIR/shared/out:/mnt/plain -v $TEST_DIR/named:/mnt/named" | number)
freed "$job"
is 'a job with mounts is done' "$(state "$job")" 'done' || diag "$(log "$job")"
like 'it sees what is mounted' "$(log "$job")" '/mnt/a: for all'
like 'also by a link that stays beneath what is allowed' "$(log "$job")" '/mnt/inner: for all'
like 'and by the name that the configuration gives' "$(log "$job")" '/mnt/named: elsewhere'
unlike 'a mount is read-only unless asked' "$(log "$job")" '/mnt/(a|inner|plain|named): written'
ok 'nothing was written there' test ! -e shared/dir/made
like 'what is asked and allowed is written' "$(log "$job")" '/mnt/out: written'
ok 'and stays' test -e shared/out/made
refused=$(submit show '/mnt/a' "-v $TEST_DIR/shared/dir:/mnt/a:rw" | jq -r .error)
like 'writing where the configuration does not allow it is refused' "$refused" "shared/dir' .*read-only"

# check_swap NAME APP ARGS: shared/NAME is a directory when the job is queued and a link to the secret when it starts.
check_swap() {
	mkdir "shared/$1" && echo harmless >"shared/$1/file"
	held
	job=$(submit "$2" "$3" "-v $TEST_DIR/shared/$1:/mnt" | number)
	is "$1: it waits" "$(state "$job")" queued
	rm -r "shared/$1" && ln -s "$TEST_DIR/secret" "shared/$1"
	freed "$job"
	is "$1: a directory that became a link to elsewhere is not mounted" "$(state "$job")" failed
	unlike "$1: nothing of it is seen" "$(log "$job")" 'top secret'
	like "$1: the job reports why" "$(ask "$(<url)/jobs/$job" | jq -r .error)" "may not see '$TEST_DIR/shared/$1'"
	# The session that would be started has it confined too: this is what counts in the moment between the two.
	run "$SONDE" session "jobs/$job/session.yml" -o "$1.run"
	ok "$1: its session fails too" test "$status" != 0
	like "$1: and reports why" "$err" "cannot mount '$TEST_DIR/shared/$1': it leads outside of '$TEST_DIR/shared'"
	unlike "$1: nothing of it is seen" "$out$err" 'top secret'
	is "$1: no mount is left" "$(left)" 0
}
check_swap sandbox show /mnt

# The configuration may have changed between queueing and starting, with another server.
held
job=$(submit show /mnt/out "-v $TEST_DIR/shared/out:/mnt/out" | number)
kill -KILL "$server"
wait "$server" 2>/dev/null
sed -i "s|^mounts:.*|mounts: [ \"$TEST_DIR/shared/links\" ]|" jobs.yml
start
freed "$job"
is 'what is not allowed any more when the job starts is refused' "$(state "$job")" failed
like 'with the reason' "$(ask "$(<url)/jobs/$job" | jq -r .error)" "may not see '$TEST_DIR/shared/out'"
sed -i "s|^mounts:.*|mounts: [ \"$TEST_DIR/shared\" ]|" jobs.yml
kill "$server"
wait "$server"

if ! command -v podman >/dev/null; then
	skip 'the same in a container' 'podman is not installed'
	done_testing
	exit
fi
export CONTAINERS_CONF=$SOURCE_DIR/tests/launch/containers.conf
image=localhost/sonde-mounts-$$
mkdir -p tree/mnt tree/tmp
cp "$SONDE_TEST_APP" tree/app
ldd "$SONDE_TEST_APP" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "tree$(dirname "$library")"
	cp -L "$library" "tree$library"
done
tar -C tree -cf tree.tar .
podman import -q tree.tar "$image" >import.log 2>&1 || diag "$(<import.log)"
start
job=$(submit "$image" '/app 3 1 /mnt/file' "-v $TEST_DIR/shared/dir:/mnt -e TOUCH=/mnt/made" | number)
poll is_over "$job"
is 'a container with a mount is done' "$(state "$job")" 'done' || diag "$(log "$job")"
like 'it sees what is mounted' "$(log "$job")" 'data: for all'
like 'and cannot write there' "$(log "$job")" 'touch: Read-only file system'
is 'no mount is left' "$(left)" 0
check_swap container "$image" '/app 3 1 /mnt/file'

# Killed in the midst: nothing stays mounted.
job=$(submit "$image" '/app 1000000 20 /mnt/file' "-v $TEST_DIR/shared/dir:/mnt" | number)
has_begun() { log "$job" | grep -q 'data: for all'; }
poll has_begun
kill -KILL "$server"
wait "$server" 2>/dev/null
is_clean() { [[ $(left) == 0 ]] && ! podman ps -a --format '{{.Image}} {{.Status}}' | grep -q "$image Up"; }
poll is_clean
is 'a killed server leaves no mount' "$(left)" 0
podman ps -aq --filter "ancestor=$image" | xargs -r podman rm -f -t 0 >/dev/null 2>&1
podman rmi -f "$image" >/dev/null 2>&1
done_testing
