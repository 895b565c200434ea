#!/bin/bash
# Rules of a user's own: what they say is what is counted; what they get wrong is said.
. "$(dirname "$0")/../lib/tap.sh"

"$SONDE" import "$SOURCE_DIR/tests/data/dlio-excerpt.pfw" -o job >/dev/null
calls=$("$SONDE" events job --table io --json | wc -l)
reads=$("$SONDE" events job --table io --json | grep -c '"call":"pread"')
cat >mine <<'EOF'
# comments are fine
layer Reads
	class io
	table io
	name pread*
layer "All calls (again)"
	table io
	category POSIX STDIO
	again
layer Rest
	table io
EOF
run "$SONDE" summary job --rules mine --json
is 'a file of rules' "$status" 0
layer() { jq -r ".layers.layers[] | select(.layer == \"$1\") | .events" <<<"$out"; }
is 'the first layer that fits has the event' "$(layer Reads)" "$reads"
is 'a layer that counts again has all' "$(layer 'All calls (again)')" "$calls"
is 'the rest has the rest' "$(layer Rest)" $((calls - reads))
is 'each event once' "$(jq .layers.events <<<"$out")" "$calls"
is 'what no rule asks for is null' "$(jq .layers.compute_ns <<<"$out")" null

bad() {
	printf '%b' "$1" >bad
	run "$SONDE" summary job --rules bad
	is "refused: $2" "$status" 1
	like "and said where: $2" "$err" "bad, line $3: .*$2|bad has no layers"
}
bad 'name x\n' "expected 'layer NAME' first" 1
bad 'layer a\nclass fast\n' 'must be io, app_io' 2
bad 'layer a b\n' 'one name' 1
bad 'layer a\nfrobnicate\n' 'unknown keyword' 2
bad 'layer a\nname\n' 'missing patterns' 2
bad '' 'no layers' 0
bad "layer 'a\n" '' 1
run "$SONDE" summary job --rules nosuchrules
is 'rules that are not there' "$status" 1
like 'have a hint' "$err" 'posix, dlio, or a file'

done_testing
