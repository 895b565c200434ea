#!/bin/bash
# A fleet on the hosts of a file: network namespaces with a real sshd each.
. "$(dirname "$0")/fleet.sh"
. "$SOURCE_DIR/tests/lib/netns.sh"

if [[ ! -x /usr/sbin/sshd ]] || ! command -v ssh ssh-keygen >/dev/null; then skip_service 'sshd is not installed'; fi
sshds=()
hosts_exit() {
	local rc=$? pid
	timeout 60 ip netns exec "$netns_tag-hub" "$SONDE" fleet down >/dev/null 2>&1
	for pid in "${sshds[@]}"; do kill "$pid" 2>/dev/null; done
	netns_end
	(exit "$rc")
	tap_exit
}
netns_start 2
trap hosts_exit EXIT
sonde() { timeout 60 ip netns exec "$netns_tag-hub" "$SONDE" "$@"; }

chmod 755 .
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f hostkey
[[ -d /run/sshd ]] || mkdir -p /run/sshd
for n in 1 2; do
	cat >"sshd$n.conf" <<X
Port 2222
ListenAddress 10.98.$n.2
HostKey $PWD/hostkey
AuthorizedKeysFile $PWD/key.pub
PidFile $PWD/sshd$n.pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
X
	on $n /usr/sbin/sshd -D -f "$PWD/sshd$n.conf" -E "$PWD/sshd$n.log" &
	for ((i = 0; i < 100; i++)); do [[ -s sshd$n.pid ]] && break; sleep 0.1; done
	sshds+=("$(cat "sshd$n.pid")")
done
shell="ssh -T -p 2222 -i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
# shellcheck disable=SC2086
if ! on hub $shell 10.98.1.2 true 2>why; then
	diag "$(cat why sshd1.log)"
	skip_service 'sshd does not let us in'
fi
# What is "sonde" there: the same one, its state in the test's directory.
cat >there <<X
#!/bin/sh
SONDE_FLEET_DIR=$PWD/there.state exec "$SONDE" "\$@"
X
chmod 755 there
member() { echo "$PWD/there.state/members/$1"; }
pids() { /usr/bin/python3 -c 'import json, sys
for p in json.load(open(sys.argv[1] + "/fleet.json"))["processes"]: print(p["pid"])' "$(member "$1")"; }

cat >hosts <<'X'
# two of them
10.98.1.2 agents=2 label=big  # the bigger one

10.98.2.2
X
run sonde fleet up --hosts-file hosts
is 'a server on loopback is of no use to them' "$status" 2
like 'and that is said' "$err" '\-\-listen'
echo '10.98.1.2 agents=x' >bad
run sonde fleet up --listen 10.98.0.1 --hosts-file bad
is 'a bad line' "$status" 1
like 'is named' "$err" "'bad': line 1: invalid number of agents 'agents=x'"
run sonde fleet up --listen 10.98.0.1 --hosts -oProxyCommand=x
is 'a host that is an option is none' "$status" 1
run sonde fleet up --listen 'x y' --agents 0
like 'an address that is none' "$err" "invalid listen address 'x y'"
ok 'nothing is left of these' test -z "$(processes server)"
run sonde fleet up --lease 3s --listen 10.98.0.1 --hosts 10.98.1.2 --ssh "$shell" --remote /no/such/sonde
is 'where sonde is not' "$status" 1
like 'the host is named, and the way out' "$err" "host '10.98.1.2': .*hint: .*--remote"
run sonde fleet status --json
like 'and it is no member' "$out" '"members": \[\]'

run sonde fleet up --lease 3s --listen 10.98.0.1 --hosts-file hosts --ssh "$shell" --remote "$PWD/there"
is 'it comes up on both hosts' "$status" 0
[[ -z $err ]] || diag "$err"
is 'here there is no agent' "$(processes agent)" ''
is 'on the first host there are two, on the second one' "$(pids 10.98.1.2 | wc -l) $(pids 10.98.2.2 | wc -l)" '2 1'
is 'the token is for its owner alone there too' "$(stat -c %a "$(member 10.98.1.2)/fleet.json")" 600
heard() { sonde fleet status | grep -c "^10_98_$1_2-[0-9]* *$2"; }
all_heard() { [[ $(heard 1 idle) == 2 && $(heard 2 idle) == 1 ]]; }
ok 'all are heard of' wait_for all_heard
like 'with what they have' "$(sonde fleet status)" "10_98_2_2-[0-9]+ +idle +$(nproc) +[0-9.]+ GiB"

jobs=()
for i in 1 2 3; do jobs+=("$(sonde submit -- sh -c "ip -4 -o addr show eth0 | cut -d' ' -f7 >>ran; while [ \$(wc -l <ran) -lt 3 ]; do sleep 0.05; done")"); done
for job in "${jobs[@]}"; do ok "a job ends" wait_for is_now "$job" "done"; done
is 'three at the same time, on both hosts' "$(sort ran | xargs)" '10.98.1.2/24 10.98.1.2/24 10.98.2.2/24'

job=$(sonde submit --label big -- true)
ok 'a job that needs the label of a host ends' wait_for is_now "$job" "done"
like 'there' "$(field "$job" agent)" '^10_98_1_2-'

# drain: a job that runs ends, and the host takes no more.
job=$(sonde submit -- sh -c 'ip -4 -o addr show eth0 | cut -d" " -f7 >where; while [ ! -e go ]; do sleep 0.05; done')
ok 'a job runs' wait_for test -s where
host=$(cut -d/ -f1 where)
sonde fleet drain "$host" &
drain=$!
ok 'its host is drained, and it goes on' is_now "$job" running
touch go
ok 'drain waits for it' wait "$drain"
ok 'it is done' wait_for is_now "$job" "done"
is 'in one attempt' "$(field "$job" attempts)" 1
left=0
for pid in $(pids "$host"); do is_gone "$pid" || left=$((left + 1)); done
is 'no agent is left there' "$left" 0
run sonde fleet drain nobody
is 'a host that is not there' "$status" 1
after=$(sonde submit -- sh -c 'ip -4 -o addr show eth0 | cut -d" " -f7 >after')
ok 'the other host works on' wait_for is_now "$after" "done"
ok 'alone' test "$(cut -d/ -f1 after)" != "$host"
run sonde fleet add --hosts "$host" --ssh "$shell" --remote "$PWD/there"
is 'it joins again' "$status" 0

mapfile -t all < <(pids 10.98.1.2; pids 10.98.2.2; processes server; processes monitor)
run sonde fleet down
is 'it goes down everywhere' "$status" 0
left=0
for pid in "${all[@]}"; do is_gone "$pid" || left=$((left + 1)); done
is 'nothing is left' "$left" 0
done_testing
