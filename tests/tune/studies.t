#!/bin/bash
# The studies that are shipped run as they are.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

for name in sqlite zstd gcc threads; do
	case $name in
	sqlite) needs=sqlite3 ;;
	threads) needs='sort' ;;
	*) needs=$name ;;
	esac
	if ! command -v "$needs" >/dev/null; then
		skip_missing "$name" "there is no $needs here"
		continue
	fi
	run "$SONDE" tune "$SONDE_STAGE/share/sonde/studies/$name.yml" --trials 6 --confirm 2 --json
	is "$name ends well" "$status" 0
	diag "$err"
	is "$name has its trials" "$(jq '.done + .cut + .failed' <<<"$out")" 6
	is "$name has none that failed" "$(jq .failed <<<"$out")" 0
	ok "$name has a best" holds '.best.params | length > 0' "$out"
done

if command -v sqlite3 >/dev/null; then
	run "$SONDE" tune "$SONDE_STAGE/share/sonde/studies/sqlite.yml" --trials 12 --confirm 6 --json -o more
	ok 'sqlite keeps the constraint' holds '[.trials[].params.synchronous] | all(. != "OFF")' "$out"
	sed '/^constraints/,/^objective/{/^objective/!d}; s/budget: .*/budget: {trials: 16}/' "$SONDE_STAGE/share/sonde/studies/sqlite.yml" >free.yml
	run "$SONDE" tune free.yml --confirm 0 --json -o free
	is 'without it what is given up is said' \
		"$(jq -r 'if (.best.params.synchronous == "OFF" or .best.params.journal == "MEMORY") == (.gives_up != null) then "yes" else . end' <<<"$out")" yes
fi

done_testing
