#!/bin/bash
# Names with line breaks, quotes, escape sequences and bytes that are no UTF-8 neither break JSON nor reach a terminal raw.
# shellcheck disable=SC2016 # jq and other shells have variables of their own
. "$(dirname "$0")/../lib/tap.sh"

# is_safe NAME: nothing in $out but printable characters, blanks and line ends; valid UTF-8.
is_safe() {
	is "$1: no control characters" "$(tr -d '\n\040-\176\200-\377' <<<"$out" | od -c)" "$(od -c </dev/null)"
	ok "$1: valid UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null "$TEST_DIR/.out"
	is "$1: no C1 control characters" "$(iconv -f UTF-8 -t UTF-16LE "$TEST_DIR/.out" | od -An -v -tu2 -w2 |
		awk '$1 > 127 && $1 < 160' | head -n 1)" ''
}

# has EXPRESSION TEXT: some object of $out satisfies the expression, in which $text is the text.
has() { jq -es --arg text "$2" "any(.[]; $1)" <<<"$out" >/dev/null; }

names=($'new\nline' 'dou"ble' "sin'gle" $'red\e[31mred\e]0;title\a' $'\xff\xfe broken' 'back\slash' $'tab\there' \
	$'\xc2\x9b31m C1' '$(touch owned)' 'ümlaut €' $'\x7fdel' '%s%n')
mkdir files
for name in "${names[@]}"; do printf x >"files/$name"; done
"$SONDE" record --name $'evil\n\e[31m"name' -- cat $'files/new\nline' "files/"* >/dev/null

run "$SONDE" events --json
is 'every line is JSON' "$(jq -s 'length' <<<"$out")" "$(wc -l <<<"$out")"
is_safe '--json'
for name in "${names[@]}"; do
	iconv -f UTF-8 -t UTF-8 <<<"$name" >/dev/null 2>&1 || continue
	ok "$(printf '%q' "$name") is read back as it was" has '.path == $text' "$TEST_DIR/files/$name"
done
ok 'bytes that are no UTF-8 are replaced' has '.path == $text' "$TEST_DIR/files/"$'\ufffd\ufffd broken'

run "$SONDE" events
is_safe 'events'
is 'a line an event' "$(wc -l <<<"$out")" "$(($("$SONDE" events --json | wc -l) + 1))"
run "$SONDE" events --table process
is_safe 'processes'
run "$SONDE" events --table file
is_safe 'files'
run "$SONDE" info --all
is_safe 'info'
run "$SONDE" info --json
ok 'info --json is valid' has '.sonde_run == 1' ''
is_safe 'info --json'
ok 'the arguments are read back' has '.argv[1] == $text' $'files/new\nline'
run "$SONDE" export
ok 'the trace is valid' has '.traceEvents | length > 10' ''
is_safe 'the trace'

run "$SONDE" info $'no\e[31m such\nrun'
is 'a name that is not there' "$status" 1
unlike 'is quoted harmlessly' "$err" $'\e'
ok 'nothing was executed' test ! -e owned

done_testing
