#!/bin/bash
# Hosts whose clocks differ make one run on one clock, within the bound that it states.
. "$(dirname "$0")/hosts.sh"

# A remote shell without a network: the host's name says how far ahead its clock is.
cat >rsh <<'X'
#!/bin/sh
host=$1
shift
case $host in
	near) exec "$@" ;;
	far) exec unshare --fork --time --monotonic 50000 --boottime 50000 "$@" ;;
	drifts) export LD_PRELOAD="$SONDE_TEST_DRIFT_LIBRARY"; exec unshare --fork --time --monotonic 30000 --boottime 30000 "$@" ;;
	late) exec unshare --fork --time --monotonic 7 --boottime 7 sh -c 'echo "a login shell that talks"; exec "$@"' sh "$@" ;;
	dies) case "$*" in *agent*) timeout 2 cat | "$@" ;; *) exec "$@" ;; esac ;;
	*) echo "rsh: no such host $host" >&2; exit 255 ;;
esac
X
chmod +x rsh
unshare --fork --time --monotonic 5 true 2>/dev/null || skip_all 'no time namespaces here'
mark=$SOURCE_DIR/tests/hosts/mark.py

run "$SONDE" record -v -o run --hosts near,far,late --ssh "$PWD/rsh" -- /usr/bin/python3 "$mark" 5 marks
is 'it runs on three hosts' "$status" 0
like 'and says so' "$err" 'recorded 3 hosts'
marks_are_true run marks 15
is 'the hosts are named' "$(jq -rc '[.hosts[].name]' run/run.json)" '["near","far","late"]'
ok 'the offset is that of the clock' test "$(jq '.hosts[1].clock.offset_ns / 1e9 | round' run/run.json)" = 50000
is 'the bound is stated, and that of the run is the largest' \
	"$(jq '.clock.error_ns == ([.hosts[].clock.bound_ns] | max) and .clock.error_ns > 0' run/run.json)" true
ok 'all happened within the run, on its clock' test "$("$SONDE" events run --table io --json |
	jq -s --slurpfile r run/run.json '[.[].ts_ns] | min >= $r[0].clock.start_mono_ns - 1e9 and max <= $r[0].clock.start_mono_ns + $r[0].wall_ns + 1e9')" = true
is 'no two hosts share a process' "$("$SONDE" events run --table process --json | jq -s 'map(select(.parent == null) | .pid) | unique | length')" 3
ok 'sums are those of the hosts' test "$(jq .tables.io run/run.json)" = "$(jq -s 'map(.tables.io) | add' run/hosts/*/run.json)"
ok 'counters of machines are told apart' test "$("$SONDE" events run --table counter --json | jq -r 'select(.pid == null).name' | cut -d: -f1 | sort -u | paste -sd,)" = far,late,near
run "$SONDE" summary run
is 'it can be looked at as any run' "$status" 0
run "$SONDE" info run/hosts/1-far
is 'and so can the run of one host' "$status" 0

# Samples, whose times come from the kernel.
if [[ $(jq -r '.probes[] | select(.name == "cpu").state' run/run.json) == ran ]]; then
	ok 'samples are on the one clock too' test "$("$SONDE" events run --table sample --json |
		jq -s --slurpfile r run/run.json 'length > 0 and ([.[].ts_ns] | min >= $r[0].clock.start_mono_ns and max <= $r[0].clock.start_mono_ns + $r[0].wall_ns)')" = true
	"$SONDE" export --to folded -o folded run
	ok 'and their stacks are named' grep -q '_start' folded
else
	skip_missing 'samples are on the one clock too' 'no perf events here'
	skip_missing 'and their stacks are named' 'no perf events here'
fi

# A clock that is ahead and goes wrong as well: its marks are where they were made all the same.
SONDE_TEST_DRIFT=$(drift_of 30000 20000)
export SONDE_TEST_DRIFT
run "$SONDE" record -q -o drifted --probes trace --hosts near,drifts --ssh "$PWD/rsh" -- /usr/bin/python3 "$mark" 15 drifted-marks
is 'it runs where a clock goes wrong' "$status" 0
marks_are_true drifted drifted-marks 30
drift_is_true drifted 1 20000
unset SONDE_TEST_DRIFT

# The program is the program: output, words with anything in them, status.
# shellcheck disable=SC2016
run "$SONDE" record -q -o odd --hosts near,far --ssh "$PWD/rsh" --probes trace -- /bin/sh -c 'printf "%s\n" "$1"; exit 5' sh "a 'b' \"c\" \$d * ;"
is 'the status is the program'"'"'s' "$status" 5
is 'its words pass unchanged' "$out" "a 'b' \"c\" \$d * ;
a 'b' \"c\" \$d * ;"
is 'run.json has it' "$(jq .exit.code odd/run.json)" 5
run "$SONDE" join odd
is 'join can be repeated' "$status" 0
is 'with the same result' "$(jq '.tables.io' odd/run.json)" "$(jq -s 'map(.tables.io) | add' odd/hosts/*/run.json)"

# A signal reaches the program on every host, once, and the runs are kept.
"$SONDE" record -q -o stopped --hosts near,far --ssh "$PWD/rsh" --probes trace -- \
	/bin/sh -c 'trap "echo caught; exit 9" TERM; : >started.$$; while :; do sleep 0.1; done' >caught &
pid=$!
for ((i = 0; i < 300; i++)); do
	[[ $(find . -maxdepth 1 -name 'started.*' | wc -l) == 2 ]] && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
is 'a recording that was terminated has the program'"'"'s status' $? 9
is 'both were told' "$(cat caught)" $'caught\ncaught'
is 'and both are in the run' "$(jq '[.hosts[] | select(.state == "complete")] | length' stopped/run.json)" 2

# What goes wrong.
run "$SONDE" record -o bad --hosts near,nowhere --ssh "$PWD/rsh" -- true
is 'a host that is not there: nothing is run' "$status" 125
like 'which' "$err" "host 'nowhere'"
ok 'and no bundle is left' test ! -e bad
run "$SONDE" record -o bad --hosts near,-oProxyCommand=x --ssh "$PWD/rsh" -- true
is 'a host that is an option is none' "$status" 2
run "$SONDE" record -o lost --hosts near,dies --ssh "$PWD/rsh" --probes trace -- sleep 4
is 'a host that is lost on the way: the others are there' "$(jq -rc '[.hosts[].state]' lost/run.json)" '["complete","failed"]'
like 'and it is said' "$err" "host 'dies': "
is 'no directory is left behind' "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'sonde-host.*' -newer rsh -user "$(id -u)" 2>/dev/null | wc -l)" 0

# Runs that were recorded one by one.
"$SONDE" record -q -o one -- true
"$SONDE" record -q -o two -- true
run "$SONDE" join -o both one two
is 'two runs are joined by the time of day' "$status" 0
is 'without a bound' "$(jq -c '[.clock.error_ns, .hosts[1].clock.bound_ns, .hosts[1].clock.by]' both/run.json)" '[null,null,"the wall clock"]'
run "$SONDE" record --hosts slurm -- true
[[ -n ${SLURM_JOB_NODELIST:-} ]] || is 'slurm is for allocations' "$status" 2
done_testing
