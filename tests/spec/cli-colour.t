#!/bin/bash
# Colours and the terminal's width are for terminals; NO_COLOR is honoured.
. "$(dirname "$0")/../lib/tap.sh"

command -v script >/dev/null || skip_service 'script (bsdutils) makes the terminal'

# on_terminal COLUMNS COMMAND: run a command line on a terminal of that width
on_terminal() {
	out=$(TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null)
}

unset NO_COLOR
on_terminal 100 "'$SONDE' doctor --help"
like 'headings are bold on a terminal' "$out" $'\033\\[1mOptions\033\\[0m'

on_terminal 100 "NO_COLOR=1 '$SONDE' doctor --help"
unlike 'not with NO_COLOR' "$out" $'\033'

on_terminal 100 "TERM=dumb '$SONDE' doctor --help"
unlike 'not on a dumb terminal' "$out" $'\033'

on_terminal 100 "'$SONDE' doctor --help | cat"
unlike 'not into a pipe' "$out" $'\033'

widest() { tr -d '\r' | awk '{ if (length > n) n = length } END { print n + 0 }'; }

on_terminal 60 "NO_COLOR=1 '$SONDE' setup --help"
ok 'text wraps at 60 columns' test "$(widest <<<"$out")" -le 60
on_terminal 140 "NO_COLOR=1 '$SONDE' setup --help"
ok 'and uses 140 where they are' test "$(widest <<<"$out")" -gt 80

done_testing
