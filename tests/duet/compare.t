#!/bin/bash
# sonde duet -a CMD -b CMD: verdicts, what is printed, exit codes. Differences are so large, or of memory, that no noise hides them.
. "$(dirname "$0")/../lib/tap.sh"

duet() { run timeout 120 "$SONDE" duet "$@"; }
# ok_json NAME FILTER: it holds for the JSON that was printed
ok_json() { ok "$1" test "$(jq "$2" <<<"$out")" = true; }
# field NAME: of the JSON that was printed
field() { jq -r ".$1" <<<"$out"; }

small="/usr/bin/python3 -S -c 'x = bytearray(20_000_000)'"
large="/usr/bin/python3 -S -c 'x = bytearray(90_000_000)'"

duet -a "$small" -b "$large" --metric rss --design rmit --budget 20s --runs 6 --pairs 1 --no-self-check --seed 7 --json
is 'slower exits with 3' "$status" 3
is 'the verdict is slower' "$(field verdict)" slower
ok_json 'the ratio is B over A' '.ratio > 1.5 and .lo > 1.01 and .hi >= .ratio'
is 'the design is told' "$(field design)" rmit
is 'the metric is told' "$(field metric)" rss
is 'the seed is told' "$(field seed)" 7
ok_json 'runs and seconds are told' '.runs >= 5 and .runs <= 6 and .seconds > 0'
ok_json 'all stable fields are there' 'has("ratio") and has("lo") and has("hi") and has("verdict") and has("runs") and has("design") and has("metric") and has("seconds")'
is 'nothing is said on stderr' "$err" ''

duet -a "$large" -b "$small" --metric rss --design rmit --budget 20s --runs 6 --pairs 1 --no-self-check --json
is 'faster exits with 0' "$status" 0
is 'the verdict is faster' "$(field verdict)" faster
duet -a "$large" -b "$small" --metric rss --better higher --design rmit --budget 20s --runs 6 --pairs 1 --no-self-check --json
is 'less is worse when higher is better' "$(field verdict) $status" 'slower 3'

duet -a "$small" -b "$large" --metric faults --design rmit --budget 20s --runs 6 --pairs 1 --no-self-check --json
is 'counters of the kernel are metrics' "$(field verdict) $(field metric)" 'slower faults'
ok_json 'beside the others' '.a.faults > 0 and .a.waits >= 0 and .a.rss > 0'
duet -a true -b true --metric wal
like 'an unknown metric is a usage error that proposes one' "$status $err" "^2 .*did you mean 'wall'"
duet -a "$small" -b "$small" --metric rss --threshold 50% --design rmit --budget 20s --runs 6 --pairs 1 --no-self-check --json
is 'the same is equivalent' "$(field verdict) $status" 'equivalent 0'

duet -a true -b true --design rmit --budget 10s --runs 1 --pairs 1 --no-self-check --json
is 'one run decides nothing' "$(field verdict) $status" 'inconclusive 0'
is 'and says so' "$(field indicative)" true
duet -a true -b true --design rmit --budget 10s --runs 1 --pairs 1 --no-self-check --json --fail-on inconclusive
is '--fail-on inconclusive exits with 4' "$status" 4

for design in seq rmit sync async; do
	duet -a 'sleep 0.01' -b 'sleep 0.2' --design $design --budget 60s --runs 5 --no-self-check --pairs 4 --json --samples
	is "$design finds what is twenty times slower" "$(field verdict) $(field design)" "slower $design"
	ok_json "$design has samples of every run" '(.samples | length) == .runs and (.samples[0].A | length) >= 4'
done
like 'whole commands in step get a warning' "$(timeout 60 "$SONDE" duet -a 'sleep 0.01' -b 'sleep 0.2' --design sync --runs 2 --pairs 1 --no-self-check --budget 9s)" 'ends alone'

duet -a 'sleep 0.01' -b 'sleep 0.1' --design rmit --budget 20s --runs 5 --pairs 1
is 'text exits with the verdict too' "$status" 3
like 'text is one clear sentence' "$out" '^B is [0-9.]+ % slower than A(, a ratio of [0-9.]+)? \(95 % interval \+[0-9.]+ to \+[0-9.]+ %, 5 runs in [0-9.]+ s of one session\)'
like 'and a plot' "$out" 'interval .*o'
unlike 'without colours' "$out" $'\e'
duet -a 'sleep 0.01' -b 'sleep 0.1' --design rmit --budget 20s --runs 5 --pairs 1 --markdown --html page.html
like 'Markdown for a pull request' "$out" '\| 🔴 slower \|'
like 'which names both commands' "$out" '\| sleep 0\.01 → sleep 0\.1 \|'
like 'a page too' "$(<page.html)" '^<!DOCTYPE html>.*B is [0-9.]+ % slower'
unlike 'which fetches nothing' "$(<page.html)" '(src|href)='
duet -a 'sleep 0.01' -b 'sleep 0.1' --design rmit --budget 20s --runs 5 --pairs 1 --csv
like 'CSV' "$(tail -n 1 <<<"$out")" '^"",wall,rmit,slower,'

# the pilot, one CPU, processor time beside
duet -a 'sleep 0.002' -b 'sleep 0.05' --budget 6s
if [ "$(nproc)" -ge 2 ]; then
	# a busy machine may take so long that there is none
	like 'auto says which design the pilot took and why' "$out" '\((rmit|async)\), ((the best for its time|no other was clearly better): rmit \([^)]*\) async \(|chosen without a pilot because of the budget)'
else
	skip 'auto says which design the pilot took and why' 'there is one CPU'
fi
like 'beside it is processor time' "$out" 'CPU time: [-+][0-9.]+ % \(95 % interval'
run taskset -c "$(taskset -cp $$ | grep -o '[0-9]*$')" "$SONDE" duet -a true -b true --budget 1s --runs 2
like 'one CPU is warned of' "$out" 'warning: there is one CPU only'
duet -a "$small" -b "$large" --design rmit --budget 20s --runs 6 --pairs 1 --no-self-check --json
ok_json 'wall time has processor time beside it' '.cpu.ratio > 1 and .cpu.lo <= .cpu.ratio and .cpu.hi >= .cpu.ratio'
duet -a "$small" -b "$large" --design rmit --metric rss --budget 20s --runs 6 --pairs 1 --no-self-check --json
ok_json 'and nothing else has' 'has("cpu") | not'

# a page shows hostile names as text
duet -a "true '<script>alert(1)</script>'" -b true --design rmit --runs 1 --pairs 1 --no-self-check --html page.html
unlike 'names are escaped in the page' "$(<page.html)" '<script>'

# the way to an interval is kept: a bootstrap of runs and their pairs from twenty runs on
duet -a true -b true --design rmit --runs 20 --pairs 2 --no-self-check --budget 60s --threshold 0% --level 99% --interval bootstrap --seed 4 -o kept --json
ok_json '--interval bootstrap, unless chance ended it before' '.runs < 20 or (.method | contains("hierarchical bootstrap"))'
ok_json 'is in the line that repeats it' '.repeat | contains("--interval bootstrap")'
before=$(jq -c '[.lo, .hi, .method]' <<<"$out")
run "$SONDE" duet report kept --json
is 'is repeated from the journal' "$(jq -c '[.lo, .hi, .method]' <<<"$out")" "$before"

# seeds
order() { "$SONDE" duet -a true -b true --design rmit --runs 6 --pairs 2 --no-self-check --budget 60s --threshold 0% --seed "$1" --json --samples | jq -c '[.samples[].order]'; }
# chance may end one of them earlier
ok 'a seed repeats the order' test "$(jq -n --argjson a "$(order 3)" --argjson b "$(order 3)" \
	'([$a, $b] | map(length) | min) as $n | $n > 0 and $a[:$n] == $b[:$n]')" = true
is 'both orders come' "$(for s in 1 2 3 4; do order $s; done | jq -rs 'add | unique | join(" ")')" 'AB BA'

duet -a 'echo from A' -b 'echo from B' --show-output --design rmit --runs 1 --pairs 1 --no-self-check --json
is 'what commands print is not in the answer' "$(jq .runs <<<"$out") $(sort -u <<<"$err" | tr '\n' ' ')" '1 from A from B '

# wrong use
duet -a true
is 'a missing side is a usage error' "$status" 2
like 'that says which' "$err" 'missing -b COMMAND'
duet -a true -b 'echo $HOME'
is 'what a shell would expand is refused' "$status" 2
duet -a true -b 'true $HOME' --shell --design rmit --runs 1 --pairs 1 --no-self-check
is 'and taken with --shell' "$status" 0
duet -a true -b true --threshold 1x
is 'a threshold is in percent' "$status" 2
duet -a true -b true --design duo
is 'an unknown design is a usage error' "$status" 2

done_testing
