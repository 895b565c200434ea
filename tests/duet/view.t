#!/bin/bash
# A comparison and a directory of results as a page of sonde view, while it is made and afterwards.
. "$(dirname "$0")/../lib/tap.sh"

compare() { timeout 120 "$SONDE" duet --design rmit --no-self-check --metric rss --threshold 0% "$@"; }
# serve DIR: sets $base, and $token for the page; the server is $server
serve() {
	rm -f address.json
	"$SONDE" view --port 0 --json "$1" >address.json 2>view.log &
	server=$!
	for ((i = 0; i < 300; i++)); do [[ -s address.json ]] && break; sleep 0.1; done
	token=$(jq -r .url address.json)
	base=${token%%\?*}
	curl -s -L -c cookies -o page.html "$token"
}
stop() {
	kill "$server"
	wait "$server" 2>/dev/null
}
get() { curl -s -b cookies "$base$1"; }

compare -a "true '<A&B>'" -b "sh -c 'exec true'" --runs 3 --pairs 2 --seed 5 --budget 60s -o out --json --samples >first.json
serve out
like 'the page has the answer' "$(<page.html)" '<!DOCTYPE html>.*% interval'
for part in intervals pairs timeline order; do
	like "and a picture: $part" "$(<page.html)" "aria-label=\"$part\""
done
like 'and how to repeat it' "$(<page.html)" '<pre>sonde duet -a .* --design rmit --pairs 2 --seed 5 .*</pre>'
like 'and where it was measured' "$(<page.html)" "On $(uname -s) $(uname -r)"
cat >plots.py <<'EOS'
import re, sys
page = open(sys.argv[1]).read()
labels = [t for t in re.findall(r'<text[^>]*>([-+0-9.]+) %</text>', page)]
digits = {t.strip("+-").replace(".", "").strip("0") or "0" for t in labels}
band = [tuple(map(float, m)) for m in re.findall(r'y="([0-9.]+)" height="([0-9.]+)" class="interval"', page)]
print(len(labels) >= 4, all(re.fullmatch("[0-9]{1,2}", d) for d in digits), all(y > 8 and y + h < 197 for y, h in band), len(band))
EOS
is 'ticks are round, and the band of the interval is within the picture' "$(/usr/bin/python3 plots.py page.html)" 'True True True 1'
like 'names are escaped' "$(<page.html)" "true '&lt;A&amp;B&gt;'"
unlike 'it needs nothing else' "$(<page.html)" '(src|href)=|<script'
unlike 'what has ended is not loaded again' "$(<page.html)" 'http-equiv'
is 'the same answer as then' "$(get api/duet | jq -c '[.ratio, .lo, .hi, .verdict, .runs, .seed, .samples]')" \
	"$(jq -c '[.ratio, .lo, .hi, .verdict, .runs, .seed, .samples]' first.json)"
is 'nobody is let in without the token' "$(curl -s -o /dev/null -w '%{http_code}' "${base}api/duet")" 403
is 'what is not there is not found' "$(curl -s -b cookies -o /dev/null -w '%{http_code}' "${base}api/run")" 404
stop

run "$SONDE" duet report out --json
is 'report says it again' "$(jq -c '[.ratio, .lo, .hi, .verdict, .runs]' <<<"$out")" "$(jq -c '[.ratio, .lo, .hi, .verdict, .runs]' first.json)"
# One that a look on the way decided: the looks are made again as they were, and not as if that had been the last.
compare -a true -b "/usr/bin/python3 -S -c pass" --runs 40 --pairs 1 --seed 6 --budget 60s -o early --json >early.json
is 'decided before its runs were over' "$(tail -n 1 early/runs.jsonl | jq -r .stop) $(jq '.runs < 40' early.json)" 'decided true'
run "$SONDE" duet report early --json
is 'and so it is again' "$(jq -c '[.lo, .hi, .verdict, .runs, .looks]' <<<"$out")" "$(jq -c '[.lo, .hi, .verdict, .runs, .looks]' early.json)"
timeout 120 "$SONDE" duet -a true -b true --design rmit --metric rss --runs 3 --pairs 1 --budget 60s --html self.html >/dev/null
like 'A against itself has its place in the page' "$(<self.html)" '>A against itself</text>.*A against itself \([0-9]+ runs, a 99 % interval\) should hold 0, and does'
run "$SONDE" view out --with out
is 'a comparison has no second run' "$status" 2

# one that was interrupted, and one that has not begun
mkdir half none
head -n 4 out/runs.jsonl >half/runs.jsonl
head -n 1 out/runs.jsonl >none/runs.jsonl
serve half
like 'one without an end is shown as far as it is' "$(<page.html)" 'http-equiv="refresh".*what there is so far'
is 'with its runs' "$(get api/duet | jq .runs)" 2
head -n 5 out/runs.jsonl | tail -n 1 >>half/runs.jsonl
is 'and grows' "$(get api/duet | jq .runs)" 3
echo '{"run": 4, "design": "nonsense"}' >>half/runs.jsonl
like 'a damaged line is told' "$(get api/duet)" 'line 6 of the journal is damaged'
stop
serve none
like 'one without a run says so' "$(<page.html)" 'has no finished run yet'
stop

# results of a suite
mkdir results
for i in 0 1 2 3; do
	for side in A B; do
		awk -v s=$side -v i=$i 'BEGIN { for (k = 0; k < 9; k++) print k * 100 + i, k * 100 + 90 + (s == "B") * 9 + i * k % 3 }' >results/lines.loop.$i.duet.AB.$side.x
		awk -v s=$side -v i=$i 'BEGIN { for (k = 0; k < 9; k++) print k * 100 + i, k * 100 + 90 + (s == "B") * 9 + i * k % 5 }' >results/lines.loop.$i.seqn.None.$side.x
	done
done
serve results
for words in 'What changed' 'How precise is it' 'What does running side by side gain' 'geometric mean' 'lines/loop duet'; do
	like "the analysis of results: $words" "$(<page.html)" "$words"
done
is 'as JSON too' "$(get api/duet | jq -c '[.benchmarks[].benchmark]')" '["lines/loop duet","lines/loop seqn"]'
stop

done_testing
