#!/bin/bash
# Two hosts that are network namespaces with a real sshd each, and clocks of their own.
. "$(dirname "$0")/hosts.sh"

(($(id -u) == 0)) || skip_all 'network namespaces need root'
if [[ ! -x /usr/sbin/sshd ]] || ! command -v ssh ssh-keygen >/dev/null; then skip_service 'sshd is not installed'; fi
unshare --fork --time --monotonic 5 true 2>/dev/null || skip_all 'no time namespaces here'
mark=$SOURCE_DIR/tests/hosts/mark.py
tag=s$$
sshds=()
hosts_exit() {
	local rc=$? pid
	for pid in "${sshds[@]}"; do kill "$pid" 2>/dev/null; done
	ip netns del "$tag-hub" 2>/dev/null
	ip netns del "$tag-1" 2>/dev/null
	ip netns del "$tag-2" 2>/dev/null
	(exit "$rc")
	tap_exit
}
trap hosts_exit EXIT
ip netns add "$tag-hub" 2>/dev/null || skip_all 'no network namespaces here'
ip -n "$tag-hub" link set lo up
chmod 755 .
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f hostkey
[[ -d /run/sshd ]] || mkdir -p /run/sshd
for n in 1 2; do
	ip netns add "$tag-$n"
	ip -n "$tag-hub" link add "v$n" type veth peer name eth0 netns "$tag-$n"
	ip -n "$tag-hub" addr add "10.99.$n.1/24" dev "v$n"
	ip -n "$tag-hub" link set "v$n" up
	ip -n "$tag-$n" addr add "10.99.$n.2/24" dev eth0
	ip -n "$tag-$n" link set eth0 up
	ip -n "$tag-$n" link set lo up
	cat >"sshd$n.conf" <<X
Port 2222
ListenAddress 10.99.$n.2
HostKey $PWD/hostkey
AuthorizedKeysFile $PWD/key.pub
PidFile $PWD/sshd$n.pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
X
	# The second one's clock is not only another, it also goes wrong.
	((n == 1)) || echo "SetEnv LD_PRELOAD=$SONDE_TEST_DRIFT_LIBRARY SONDE_TEST_DRIFT=$(drift_of 2000 5000)" >>"sshd$n.conf"
	ip netns exec "$tag-$n" unshare --fork --time --monotonic $((n * 1000)) --boottime $((n * 1000)) \
		/usr/sbin/sshd -D -f "$PWD/sshd$n.conf" -E "$PWD/sshd$n.log" &
	for ((i = 0; i < 100; i++)); do [[ -s sshd$n.pid ]] && break; sleep 0.1; done
	sshds+=("$(cat "sshd$n.pid")")
done
shell="ssh -T -p 2222 -i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
hub() { ip netns exec "$tag-hub" "$@"; }
# shellcheck disable=SC2086
if ! hub $shell 10.99.1.2 true 2>why; then
	diag "$(cat why sshd1.log)"
	skip_service 'sshd does not let us in'
fi
run hub "$SONDE" record -q -o run --hosts 10.99.1.2,10.99.2.2 --ssh "$shell" -- /usr/bin/python3 "$mark" 10 marks
is 'it runs over ssh' "$status" 0
[[ -z $err ]] || diag "$err"
marks_are_true run marks 20
ok 'both clocks are what they are' test "$(jq '[.hosts[].clock.offset_ns / 1e9] | (.[0] - 1000 | fabs) < 1 and (.[1] - 2000 | fabs) < 10' run/run.json)" = true
drift_is_true run 1 5000
diag "round trips: $(jq -c '[.hosts[].clock.trip_ns]' run/run.json) ns, bounds: $(jq -c '[.hosts[].clock.bound_ns]' run/run.json) ns"
# shellcheck disable=SC2016
run hub "$SONDE" record -q -o odd --hosts 10.99.1.2 --ssh "$shell" --probes trace -- /bin/sh -c 'printf "%s\n" "$1"; exit 5' sh "a 'b' \$d * ;"
is 'words pass two shells unchanged' "$out" "a 'b' \$d * ;"
is 'and so does the status' "$status" 5
done_testing
