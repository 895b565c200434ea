#!/bin/bash
# SelfTF's scripts start agents on the machines of the file `slaves`. ssh is one of ours, which runs its words here.
. "$(dirname "$0")/fleet.sh"

eval "$("$SONDE" env selftf)"
home=$SONDE_STAGE/lib/sonde/compat/selftf
mkdir bin
mkfifo requests
exec 7<>requests
# The other machines: what ssh is told is done here, by nobody's child but ours.
while read -r number words <&7; do
	(
		SONDE_FLEET_DIR=$PWD/there sh -c "$words" <"in.$number" 2>"err.$number"
		echo $? >"rc.tmp.$number"
		mv "rc.tmp.$number" "rc.$number"
	) 7>&- &
done &
machines=$!
slaves_exit() {
	local rc=$?
	kill "$machines"
	(exit "$rc")
	fleet_exit
}
trap slaves_exit EXIT
cat >bin/ssh <<X
#!/bin/sh
[ "\$1" = -T ] || exit 1
cd $PWD || exit
echo "\$2" >>called
shift 2
cat >in.\$\$
echo "\$\$ \$*" >requests
while [ ! -e rc.\$\$ ]; do sleep 0.05; done
cat err.\$\$ >&2
exit "\$(cat rc.\$\$)"
X
chmod +x bin/ssh
PATH=$PWD/bin:$PATH
export SELFTF_HOME=$PWD
printf 'localhost\nssd07\n# a comment\nssd08\n' >slaves
run sh "$home/bin/start_monitor.sh"
is 'the monitor starts' "$status" 0
run sh "$home/bin/start_all_agent.sh"
is 'other machines cannot reach it' "$status" 1
like 'which is said, with what helps' "$err" 'ssd07,ssd08.*SELFTF_MASTER_NODE'
sh "$home/bin/stop_monitor.sh"

export SELFTF_MASTER_NODE=127.0.0.1
run sh "$home/bin/start_monitor.sh"
is 'it starts at an address' "$status" 0
run sh "$home/bin/start_all_agent.sh"
is 'and the agents on all machines' "$status" 0
[[ -z $err ]] || diag "$err"
is 'by ssh where they are others' "$(sort called | xargs)" 'ssd07 ssd08'
three() { [[ $(sonde fleet status --json | jq '[.heard[] | select(.state == "idle")] | length') == 3 ]]; }
ok 'three are there' wait_for three
is 'under their names' "$(sonde fleet status --json | jq -r '[.heard[].agent | select(startswith("ssd")) | split("-")[0]] | sort | join(" ")')" 'ssd07 ssd08'
mapfile -t pids < <(jq -r '.processes[].pid' "$SONDE_FLEET_DIR/fleet.json" there/members/*/fleet.json)
is 'five processes in all' "${#pids[@]}" 5
run sh "$home/bin/stop_all_agent.sh"
is 'the agents stop' "$status" 0
none() { [[ $(sonde fleet status --json | jq '[.heard[] | select(.state == "gone")] | length') == 3 ]]; }
ok 'everywhere' wait_for none
run sh "$home/bin/stop_monitor.sh"
is 'and all of it' "$status" 0
left=0
for pid in "${pids[@]}"; do is_gone "$pid" || left=$((left + 1)); done
is 'nothing is left' "$left" 0
done_testing
