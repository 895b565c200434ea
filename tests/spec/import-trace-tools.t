#!/bin/bash
# sonde trace counts, describes, checks, merges, splits and anonymises traces, and loses no record.
. "$(dirname "$0")/../lib/tap.sh"

data=$SOURCE_DIR/tests/data/dlio-excerpt.pfw
cp "$data" a.pfw
gzip -c "$data" >b.pfw.gz
cat b.pfw.gz b.pfw.gz >c.pfw.gz

run "$SONDE" trace count a.pfw b.pfw.gz c.pfw.gz
is 'count exits with 0' "$status" 0
is 'count counts events' "$(awk '{ print $1 }' <<<"$out" | xargs)" '55 55 110 220'

run "$SONDE" trace info c.pfw.gz
like 'info names the generation' "$out" 'generation  C'
like 'info counts members' "$out" '2 gzip members'
like 'info counts lines' "$out" 'lines       127: 110 events, 14 metadata, 0 counters, 0 other, 0 invalid'
run "$SONDE" trace info --json a.pfw
is 'info as JSON' "$(jq -c '[.events, .pids, .categories.POSIX]' <<<"$out")" '[55,1,25]'

run "$SONDE" trace validate a.pfw b.pfw.gz
is 'validate passes what is valid' "$status" 0
(cat "$data" && printf '\n{"id":1,}\nnonsense\n') >bad.pfw
run "$SONDE" trace validate bad.pfw
is 'validate exits with 3 for what is not' "$status" 3
like 'and says what and where' "$out" 'bad\.pfw:65: expected a quoted key, at byte 9'
like 'for every line' "$out" 'bad\.pfw:66: not a JSON object, at byte 1'
head -c 2000 b.pfw.gz >cut.pfw.gz
run "$SONDE" trace validate cut.pfw.gz
is 'a cut file is not valid' "$status" 3
like 'which is said' "$out" 'truncated: unexpected end of the gzip member at byte 2000'

run "$SONDE" trace merge a.pfw c.pfw.gz bad.pfw -o all.pfw.gz
is 'merge exits with 0' "$status" 0
like 'merge leaves out what is no record' "$err" '2 invalid lines were skipped'
is 'merge keeps the rest' "$(zcat all.pfw.gz | grep -c '^{')" $((62 * 4))
is 'what it writes is one JSON array, but for the commas' "$(zcat all.pfw.gz | sed '2,$s/^{/,{/; 2s/^,//' | jq length)" $((62 * 4))
run "$SONDE" trace merge a.pfw -o all.pfw.gz
is 'merge writes over nothing' "$status" 1

run "$SONDE" trace split all.pfw.gz -o parts -s 10K --name part
is 'split exits with 0' "$status" 0
ok 'split makes several' test "$(ls parts | wc -l)" -gt 3
run "$SONDE" trace validate parts
is 'each of them valid' "$status" 0
is 'together they are all' "$(zcat parts/*.gz | grep '^{' | sort | md5sum)" "$(zcat all.pfw.gz | grep '^{' | sort | md5sum)"
for part in parts/*; do
	[[ $(zcat "$part" | wc -c) -le 10300 ]] || fail "$part is too large"
done

run "$SONDE" trace anonymize a.pfw -o public
is 'anonymize exits with 0' "$status" 0
unlike 'no path is left' "$(<public/a.pfw)" '/p/lustre|corona171|python'
is 'the shape of things is' "$(jq -c 'select(.ph? == "X") | [.id, .name, .args.fhash]' <(grep '^{' public/a.pfw) | md5sum)" \
	"$(jq -c 'select(.ph? == "X") | [.id, .name, .args.fhash]' <(grep '^{' a.pfw) | md5sum)"
printf '%s\n' '{"id":1,"name":"open","cat":"POSIX","pid":1,"tid":1,"ts":1,"dur":1,"ph":"X","args":{"hostname":"secret","fname":"/home/secret","mode":"rw","n":{"deep":["secret",7,"8"]},"step":"12"}}' >old.pfw
"$SONDE" trace anonymize old.pfw -o public >/dev/null
unlike 'names in place go too, however deep' "$(<public/old.pfw)" 'secret'
is 'numbers and modes stay' "$(grep '^{' public/old.pfw | jq -c '[.args.mode, .args.n.deep[1:], .args.step]')" '["rw",[7,"8"],"12"]'

run "$SONDE" trace cuont a.pfw
is 'a mistyped action exits with 2' "$status" 2
like 'and gets a proposal' "$err" "did you mean 'sonde trace count'"
run "$SONDE" trace split a.pfw
is 'split without -o exits with 2' "$status" 2

echo thesis >fresh.pfw.new
run "$SONDE" trace merge a.pfw -o fresh.pfw
is 'a file beside the output stays' "$status $(cat fresh.pfw.new)" '0 thesis'
echo thesis >victim
ln -s victim linked.pfw.new
run "$SONDE" trace merge a.pfw -o linked.pfw
is 'and so does what a link there leads to' "$status $(cat victim)" '0 thesis'
is 'no temporary file is left' "$(find . -name '*.pfw.*.new')" ''

done_testing
