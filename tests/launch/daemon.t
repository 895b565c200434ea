#!/bin/bash
# An engine whose containers are a daemon's, and not its client's: a stand-in for docker, so that what may go wrong there can
# be made to. The first process waits until it is observed, and where it cannot, the program runs all the same.
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$SONDE_STAGE/libexec/sonde/sonde-hold" ] || skip_service 'no static C library here (libc6-dev)'
export ENGINE=$PWD/engine TMPDIR=$PWD/tmp
mkdir engine tmp
mkfifo engine/ask
cat >engine/docker <<'TEXT'
#!/bin/bash
case $1 in
context) cat "$ENGINE/host" 2>/dev/null ;;
image) echo ;;
inspect) cat "$ENGINE/pid" 2>/dev/null || echo 0 ;;
kill) kill "-${2#--signal=}" "$(cat "$ENGINE/pid")" ;;
rm) [[ ! -e $ENGINE/pid ]] || kill -9 "$(cat "$ENGINE/pid")" ;;
run)
	declare -A at
	shift
	for (( ; ; )); do
		case $1 in
		--volume=*) IFS=: read -r from to _ <<<"${1#*=}" && at[$to]=$from ;;
		--entrypoint=*) entry=${1#*=} ;;
		--env=*) environment+=("${1#*=}") ;;
		--*) ;;
		*) break ;;
		esac
		shift
	done
	words=(${entry:+"$entry"} "${@:2}")
	for i in "${!words[@]}"; do # where another machine or a policy is in between, files of ours are not there
		[[ -e $ENGINE/host || -z ${at[${words[i]}]:-} || (-e $ENGINE/closed && ${words[i]} == *gate) ]] || words[i]=${at[${words[i]}]}
	done
	printf '%q ' env "${environment[@]}" "${words[@]}" >"$ENGINE/command"
	rm -f "$ENGINE/answer"
	echo go >"$ENGINE/ask"
	while [ ! -s "$ENGINE/answer" ]; do sleep 0.05; done
	cat "$ENGINE/said"
	exit "$(cat "$ENGINE/answer")"
	;;
esac
TEXT
chmod +x engine/docker
daemon() {
	local line program
	while read -r line <engine/ask && [[ $line != end ]]; do
		setsid bash -c "exec $(cat engine/command)" >engine/said 2>&1 </dev/null &
		program=$!
		echo $program >engine/pid
		wait $program
		echo $? >engine/code
		rm engine/pid
		mv engine/code engine/answer
	done
}
daemon 2>/dev/null &
daemon=$!
record() {
	local run=$1
	shift
	run timeout 50 "$SONDE" record -v -o "$run" --engine "$ENGINE/docker" --image any "$@"
}

record seen -- sh -c 'cat /dev/null; exit 9'
is 'a daemon runs the program: its code' "$status" 9
if [[ $(jq -r '.probes[] | select(.name == "sched").state' seen/run.json) == ran ]]; then
	is 'it is seen from its first moment' "$("$SONDE" events seen --table task --json | jq -r .name | sort | paste -sd,)" cat,sh
else
	skip 'it is seen from its first moment' 'no perf events here'
fi

touch engine/closed
record closed --timeout 4s -- sleep 20
is 'one that cannot say that it waits is not waited for: a timeout is one' "$status" 124
like 'and what is not seen is said' "$err" 'no process of the container was seen'
rm engine/closed

echo tcp://192.0.2.1:2375 >engine/host
record far -- sh -c 'echo from afar; exit 8'
is 'a daemon of another machine has no files of ours: the program runs' "$status $out" '8 from afar'
like 'and it is not seen, which is said' "$err" 'no process of the container was seen'
rm engine/host

is 'nothing is left where they waited' "$(find tmp -mindepth 1 | wc -l)" 0
echo end >engine/ask
wait "$daemon"
done_testing
