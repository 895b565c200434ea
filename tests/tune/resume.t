#!/bin/bash
# A study that is killed with SIGKILL goes on: nothing is lost, no finished trial is run again, nothing lives on.
. "$(dirname "$0")/../lib/tap.sh"

cat >study.yml <<YML
name: killed
command: [sh, -c, 'echo "{id} \$\$" >>$TEST_DIR/calls; sleep 0.05; echo value {x}; : {y}']
params:
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: categorical, choices: [a, b, c]}
objective: {name: value, regex: 'value ([0-9.e-]+)'}
parallel: 2
budget: {trials: 24}
confirm: 2
YML

kills=0
for _ in {1..4}; do
	before=$(grep -c '"tell"' sonde-tune/killed/journal.jsonl 2>/dev/null)
	"$SONDE" tune study.yml >/dev/null 2>&1 &
	pid=$!
	# wait until it has told two more trials, then kill it in the middle of whatever it does
	for _ in {1..600}; do
		[[ $(grep -c '"tell"' sonde-tune/killed/journal.jsonl 2>/dev/null) -ge $((${before:-0} + 2)) ]] && break
		sleep 0.05
	done
	kill -KILL "$pid" 2>/dev/null && kills=$((kills + 1))
	wait "$pid" 2>/dev/null
done
ok 'it was killed several times' test "$kills" -ge 2
told=$(jq -r 'select(.tell) | .tell' sonde-tune/killed/journal.jsonl | sort -n)
printf '%s\n' "$told" >told-before
cp calls calls-before
run "$SONDE" tune study.yml --json
is 'then it ends well' "$status" 0
diag "$err"
is 'with all its trials' "$(jq '.done' <<<"$out")" 24
is 'each told once' "$(jq -r 'select(.tell) | .tell' sonde-tune/killed/journal.jsonl | sort -n | uniq -c | awk '$1 != 1' | wc -l)" 0
is 'each asked for once' "$(jq -r 'select(.ask) | .ask' sonde-tune/killed/journal.jsonl | sort -n | uniq -c | awk '$1 != 1' | wc -l)" 0
tail -n +"$(($(wc -l <calls-before) + 1))" calls | awk '{ print $1 }' | sort -n | uniq >run-after
is 'nothing that was told is run again' "$(comm -12 <(sort told-before) <(grep -v '^0$' run-after | sort) | wc -l)" 0
alive=0
while read -r _ shell; do
	[[ -e /proc/$shell ]] && grep -q "$TEST_DIR" "/proc/$shell/cmdline" 2>/dev/null && alive=$((alive + 1))
done <calls
is 'no run lives on' "$alive" 0

"$SONDE" tune study.yml -o int --trials 500 >/dev/null 2>&1 &
pid=$!
for _ in {1..600}; do
	[[ $(grep -c '"tell"' int/journal.jsonl 2>/dev/null) -ge 1 ]] && break
	sleep 0.05
done
kill -INT "$pid"
wait "$pid"
is 'an interrupt ends it in good order' "$?" 1
ok 'with a report' test -s int/report.html

done_testing
