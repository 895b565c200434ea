#!/bin/bash
# sonde view of a study: the page, and the result behind the guard, while the study runs and after.
. "$(dirname "$0")/../lib/tap.sh"

cat >study.yml <<'YML'
name: seen
command: [sh, -c, "echo value {x}; : {mode}"]
params: [{name: x, type: int, low: 1, high: 9, default: 9}, {name: mode, type: categorical, choices: [a, b]}]
objectives: [{name: value, regex: 'value ([0-9]+)'}, {name: cpu}]
budget: {trials: 6}
YML
run "$SONDE" tune study.yml --json
is 'the study runs' "$status" 0

# The server says where it is on its first line and runs until it is told to end.
"$SONDE" view --unix "$TEST_DIR/socket" --json sonde-tune/seen >where &
server=$!
for _ in {1..200}; do
	[[ -s where ]] && break
	sleep 0.05
done
is 'it says what it shows' "$(jq -r .study where)" sonde-tune/seen
ask() { curl -s --max-time 20 --unix-socket "$TEST_DIR/socket" "$@"; }
is 'the result is what the study wrote' "$(ask http://localhost/api/study)" "$(cat sonde-tune/seen/result.json)"
like 'it has the front' "$(ask http://localhost/api/study | jq -c .front)" '^\[[0-9]'
is 'dependence has a curve a parameter' "$(ask http://localhost/api/study | jq -c '.dependence | map_values(length)')" '{"x":9,"mode":2}'
like 'the page is there' "$(ask -L http://localhost/)" '<html'
is 'there is no run' "$(ask -o /dev/null -w '%{http_code}' http://localhost/api/run)" 404
kill "$server"
wait "$server"
is 'it ends when it is told to' "$?" 0

"$SONDE" view --port 0 --json sonde-tune/seen >port & # a file of its own: the other is there already
server=$!
for _ in {1..200}; do
	[[ -s port ]] && break
	sleep 0.05
done
url=$(jq -r .url port)
is 'without the token nothing is told' "$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' "${url%%\?*}api/study")" 403
kill "$server"
wait "$server"
run "$SONDE" view --with latest sonde-tune/seen
is 'a study has nothing beside it' "$status" 2

done_testing
