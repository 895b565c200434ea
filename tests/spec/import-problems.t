#!/bin/bash
# What is wrong with a trace is counted and shown with its place, and costs only itself.
. "$(dirname "$0")/../lib/tap.sh"

event='{"id":1,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":1744611915154438,"dur":9,"ph":"X"}'

printf '[\n%s\n{"id":2,"name":"a"b","ph":"X"}\n%s\n%s' "$event" "$event" '{"id":3,"na' >broken.pfw
run "$SONDE" import broken.pfw -o broken
is 'broken lines are no failure' "$status" 0
like 'a broken line is shown with file and line' "$err" 'broken\.pfw:3: expected .,. or .\}., at byte 19: \{"id":2,"name":"a"b"'
like 'so is a cut one' "$err" 'broken\.pfw:5: unterminated key'
like 'and both are counted' "$err" '2 lines are not valid records and were skipped'
like 'the others are there' "$out" '^broken: 2 events of 1 process from 1 file'
run "$SONDE" info broken
like 'the run remembers' "$out$err" '2 invalid lines'

printf '%s\n' "$event" | gzip >whole.pfw.gz
for i in {1..3000}; do
	printf '{"id":%s,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":%s,"dur":1,"ph":"X"}\n' "$i" "$((i * 7919 % 100003))"
done | gzip >long.pfw.gz
head -c 9000 long.pfw.gz >cut.pfw.gz
run "$SONDE" import cut.pfw.gz -o cut --json
is 'a cut file is no failure' "$status" 0
ok 'what it has is there' test "$(jq .events <<<"$out")" -gt 500
is 'one file is bad' "$(jq .bad_files <<<"$out")" 1
like 'which is explained' "$(jq -r '.problems[0].text' <<<"$out")" '^truncated'

cp long.pfw.gz damaged.pfw.gz
printf 'XXXXXXXXXXXX' | dd of=damaged.pfw.gz bs=1 seek=6000 conv=notrunc status=none
run "$SONDE" import damaged.pfw.gz whole.pfw.gz -o damaged
is 'a damaged file is no failure' "$status" 0
like 'where it is damaged is told' "$err" 'damaged\.pfw\.gz: damaged before byte [0-9]'

: >empty.pfw
run "$SONDE" import empty.pfw -o empty
is 'an empty trace is a failure when it is all' "$status" 1
like 'which is said' "$err" "no trace records found in 'empty.pfw'"
ok 'and leaves no run' test ! -e empty
run "$SONDE" import empty.pfw whole.pfw.gz -o both
is 'beside others it is none' "$status" 0
like 'and mentioned' "$err" 'empty\.pfw: empty file'

run "$SONDE" import none.pfw -o none
is 'a missing trace is a failure' "$status" 1
like 'which is named' "$err" "cannot read 'none\.pfw': No such file or directory"
run "$SONDE" import whole.pfw.gz -o cut
is 'a run is not written over' "$status" 1
like 'which is explained' "$err" 'it is not empty'
run "$SONDE" import
is 'no trace at all is a usage error' "$status" 2

printf '{"id":1,"name":"\033[31mred","cat":"x\001","pid":1,"tid":1,"ts":1,"dur":-7,"ph":"X","args":{"a":"\377"}}\n\033]0;x{' >hostile.pfw
run "$SONDE" import hostile.pfw -o hostile
is 'hostile text is no failure' "$status" 0
unlike 'and cannot drive the terminal' "$out$err" $'\033'
like 'an impossible duration is counted' "$err" '1 event has an invalid duration'

run "$SONDE" import whole.pfw.gz
is 'without -o the run is among the others' "$status" 0
run "$SONDE" events --json
is 'and it is the latest' "$(jq -r .call <<<"$out")" read

done_testing
