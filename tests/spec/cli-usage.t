#!/bin/bash
# Every command explains itself, and a wrong command line exits with 2 and says what would be right.
. "$(dirname "$0")/../lib/tap.sh"

mapfile -t commands < <("$SONDE" | sed -n 's/^  \([a-z]*\)  .*/\1/p')
ok 'sonde alone lists the commands' test "${#commands[@]}" -ge 6

for command in "${commands[@]}"; do
	run "$SONDE" "$command" --help
	is "$command --help exits with 0" "$status" 0
	like "$command --help starts with the usage" "$out" "^Usage: sonde $command"
	is "$command --help says nothing on standard error" "$err" ''
	unlike "$command --help in a file has no colours" "$out" $'\033'
	help=$out

	run "$SONDE" "$command" -h
	is "$command -h is the same" "$out" "$help"
	run "$SONDE" help "$command"
	is "help $command is the same" "$out" "$help"

	run "$SONDE" "$command" --no-such-option
	is "$command with an unknown option exits with 2" "$status" 2
	like "$command names the option" "$err" "^sonde $command: unknown option '--no-such-option'"
	is "$command prints no data then" "$out" ''
done

run "$SONDE"
overview=$out
is 'sonde alone exits with 0' "$status" 0
run "$SONDE" help
is 'sonde help is the same' "$out" "$overview"
run "$SONDE" --help
is 'sonde --help is the same' "$out" "$overview"

run "$SONDE" compare --help
like 'compare is duet' "$out" '^Usage: sonde duet'

run "$SONDE" doctr
is 'a mistyped command exits with 2' "$status" 2
is 'a mistyped command gets a proposal' "$err" "sonde: unknown command 'doctr'
hint: did you mean 'sonde doctor'?"

run "$SONDE" help doctr
is 'help for a mistyped command exits with 2' "$status" 2
like 'help for a mistyped command gets a proposal' "$err" "hint: did you mean 'sonde doctor'\?"

run "$SONDE" doctor --jsno
is 'a mistyped option exits with 2' "$status" 2
is 'a mistyped option gets a proposal' "$err" "sonde doctor: unknown option '--jsno'
hint: did you mean '--json'?"

run "$SONDE" env --shell tcsh
is 'a value outside the choices exits with 2' "$status" 2
is 'a value outside the choices shows them' "$err" "sonde env: option '--shell': 'tcsh' is not one of: bash, zsh, fish, csh
hint: did you mean 'csh'?"

run "$SONDE" completion
is 'a missing argument exits with 2' "$status" 2
like 'a missing argument is named' "$err" '^sonde completion: missing argument SHELL'

run "$SONDE" version surplus
is 'a surplus argument exits with 2' "$status" 2
like 'a surplus argument is named' "$err" "unexpected argument 'surplus'"

run "$SONDE" "$(printf 'x\033[31m')"
unlike 'what was typed cannot drive the terminal' "$err" $'\033'

done_testing
