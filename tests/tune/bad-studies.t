#!/bin/bash
# Studies that are wrong or cannot work: clear words, the line, the next step; and a journal that goes on.
. "$(dirname "$0")/../lib/tap.sh"

# study LINES...: study.yml with a parameter, a command and these
study() {
	printf '%s\n' 'params: [{name: x, type: float, low: 0, high: 1, arg: "--x={}"}]' "$@" >study.yml
}

study 'command: [true]' 'objectiv: {name: wall}'
run "$SONDE" tune study.yml
is 'a wrong key is a failure' "$status" 1
like 'with file and line' "$err" 'study\.yml:3: unknown key .objectiv. in a study'
like 'and what was meant' "$err" "hint: did you mean 'objective'\?"

study 'command: [echo, "{y}"]' 'objective: {name: wall}'
run "$SONDE" tune study.yml
like 'a name in braces that is none' "$err" 'unknown parameter \{y\}'

study 'objective: {name: wall}'
run "$SONDE" tune study.yml
like 'no command' "$err" "no 'command' to run"
like 'and the other way' "$err" 'hint: .*sonde tune serve'

study 'command: [true]' 'objective: {name: value}'
run "$SONDE" tune study.yml
like 'a value from nowhere' "$err" "study.yml:3: missing 'from' for 'value'"

study 'command: [true]' 'objective: {name: wall}' 'parallel: 65'
run "$SONDE" tune study.yml
like 'more at a time than we can' "$err" "'parallel' must be at most 64"
study 'command: [true]' 'objective: {name: wall}' 'repeats: 101'
run "$SONDE" tune study.yml
like 'and more often' "$err" "'repeats' must be at most 100"
study 'command: [true]' 'objective: {name: value}'

sed -i 's/, arg: .*"}/}/' study.yml
run "$SONDE" tune study.yml
printf '%s\n' 'params: [{name: x, type: bool}]' 'command: [true]' 'objective: {name: wall}' >study.yml
run "$SONDE" tune study.yml
like 'a parameter that does nothing' "$err" "parameter 'x' does not reach the program"

study 'command: [./no-such-program]' 'objective: {name: wall}'
run "$SONDE" tune study.yml -o gone
is 'a command that is not there fails' "$status" 1
like 'and is named' "$err" 'no-such-program'
is 'after one trial' "$(grep -c '"ask"' gone/journal.jsonl)" 1

study 'command: [sh, -c, "echo broken >&2; exit 3"]' 'objective: {name: wall}'
run "$SONDE" tune study.yml -o broken
is 'all trials failing fails' "$status" 1
like 'soon, with what the last one said' "$err" 'all of the first 5 trials failed; the last: exit status 3: broken'
is 'the journal has them' "$(grep -c '"failed"' broken/journal.jsonl)" 5

like 'and the next step' "$err" 'hint: .*run again with --retry'
study 'command: [true]' 'objective: {name: wall}'
run "$SONDE" tune study.yml -o broken --retry --trials 6 --confirm 0 --json
is 'once mended, failed trials run again under their numbers' "$(jq -c '[.done, .failed, (.trials | length)]' <<<"$out")" '[6,0,6]'
is 'and nothing is asked for twice' "$(jq -r 'select(.ask) | .ask' broken/journal.jsonl | sort | uniq -d | wc -l)" 0

study 'command: [false]' 'objective: {name: wall}'
run "$SONDE" tune study.yml -o few --trials 2
is 'so does a study of two trials' "$status" 1
like 'with the reason' "$err" 'all of the first 2 trials failed; the last: exit status 1'
run "$SONDE" tune study.yml -o few --trials 2
is 'also when it is run again' "$status" 1
like 'which says so' "$out" 'all trials failed'

study 'command: [true]' 'objective: {name: wall}' 'limits: [{name: memory, max: 5}]'
run "$SONDE" tune study.yml -o beyond --trials 2
like 'a limit that nothing keeps is named, with what came nearest' "$out" 'no trial met the limits: memory was [0-9.e+]+ at least, and may be 5 at most'
study 'command: [true]' 'objective: {name: wall}' 'limits: [{name: memory, max: 5e15}, {name: cpu, min: 5}]'
run "$SONDE" tune study.yml -o below --trials 2
like 'the other way round, too' "$out" 'no trial met the limits: cpu was [0-9.e-]+ at most, and may be 5 at least'

study 'command: [sh, -c, "echo nan"]' 'objective: {name: v, regex: "([0-9nai.]+)"}'
run "$SONDE" tune study.yml -o nan
like 'NaN is no value' "$err" "no value for 'v'"

study 'command: [true]' 'objective: {name: wall}' 'constraints: [x > 2]'
run "$SONDE" tune study.yml -o impossible
is 'constraints that nothing satisfies fail' "$status" 1
like 'and are named' "$err" 'no configuration was found that satisfies the constraints'
like 'with a hint' "$err" "hint: check 'x > 2'"

study 'command: [true]' 'objective: {name: wall}'
"$SONDE" tune study.yml --trials 2 --confirm 0 -o changed >/dev/null
sed -i 's/high: 1/high: 2/' study.yml
run "$SONDE" tune study.yml -o changed
is 'the journal of a study that has changed is refused' "$status" 1
like 'with words' "$err" 'has changed since'
run "$SONDE" tune --json --csv study.yml
is 'options that contradict are a usage error' "$status" 2
run "$SONDE" tune --method best study.yml
is 'so is an unknown method' "$status" 2

done_testing
