#!/bin/bash
# What was measured survives kill -9, an interruption and a full disk, and a comparison can go on.
. "$(dirname "$0")/../lib/tap.sh"

duet() { run timeout 200 "$SONDE" duet --design rmit --no-self-check --pairs 1 --threshold 0% --metric rss --budget 300s "$@"; }
until_there() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}
lines() { [[ -e $1/runs.jsonl ]] && (($(wc -l <"$1/runs.jsonl") >= $2)); }

# B waits in its sixth execution for as long as there is a gate
cat >gate <<'EOS'
#!/bin/sh
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) >count
[ "$n" -lt 5 ] || while [ -e closed ]; do sleep 0.1; done
EOS
chmod +x gate
touch closed
"$SONDE" duet --design rmit --no-self-check --pairs 1 --threshold 0% --metric rss --budget 300s --runs 7 --seed 3 -a true -b "$PWD/gate" -o out >/dev/null 2>&1 &
pid=$!
until_there lines out 6
kill -KILL $pid
wait $pid 2>/dev/null
kept=$(tail -n +3 out/runs.jsonl)
is 'finished runs are on disk after kill -9' "$(wc -l <<<"$kept")" 4
printf '{"run":4,"design":"rmit","si' >>out/runs.jsonl # a line that was cut
rm closed
duet --runs 7 -a true -b "$PWD/gate" -o out
is 'a journal is not written over' "$status" 1
duet --runs 7 -a true -b "$PWD/gate" -o out --resume --json
ok 'it goes on' test "$status" != 1
is 'to the planned end, or a decision' "$(jq '.runs >= 5 and .runs <= 7' <<<"$out")" true
is 'with the seed it began with' "$(jq .seed <<<"$out")" 3
is 'and says at its end how it came' "$(tail -n 1 out/runs.jsonl | jq -r .stop)" "$(jq -r .stop <<<"$out")"
is 'the runs that were there are untouched' "$(tail -n +3 out/runs.jsonl | head -n 4)" "$kept"
is 'every line is whole' "$(jq -c . out/runs.jsonl | wc -l)" "$(wc -l <out/runs.jsonl)"
duet --runs 7 -a true -b false -o out --resume
like 'another comparison is refused' "$err" 'another comparison'

# interrupted, and a side that crashes: what was measured stays, and it goes on
rm -f count
touch closed
set -m # a job of a script ignores SIGINT unless it has job control
"$SONDE" duet --design rmit --no-self-check --pairs 1 --threshold 0% --metric rss --budget 300s --runs 7 --seed 3 -a true -b "$PWD/gate" -o stopped >/dev/null 2>&1 &
pid=$!
set +m
until_there lines stopped 6
kill -INT $pid
wait $pid
is 'an interruption exits with 130' $? 130
kept=$(grep '"run":' stopped/runs.jsonl)
rm closed
duet --runs 7 -a true -b "$PWD/gate" -o stopped --resume --json
is 'and is resumed with the runs there were' "$(grep '"run":' stopped/runs.jsonl | head -n 4) $(jq '.runs >= 5' <<<"$out")" "$kept true"
# ... interrupted before anything was settled
echo 9 >count
touch closed
set -m
"$SONDE" duet --design rmit --no-self-check --pairs 1 --threshold 0% --metric rss --budget 300s --runs 2 -a true -b "$PWD/gate" -o early >/dev/null 2>&1 &
pid=$!
set +m
until_there test -s early/runs.jsonl
kill -INT $pid
wait $pid
rm closed
duet --runs 2 -a true -b "$PWD/gate" -o early --resume --json
is 'one that had only begun is resumed' "$(jq .runs <<<"$out")" 2 || diag "$err"
run "$SONDE" duet report early --json
is 'and can be read' "$(jq .runs <<<"$out")" 2 || diag "$err"
cat >crash <<'EOS'
#!/bin/sh
n=$(cat crashes 2>/dev/null || echo 0)
echo $((n + 1)) >crashes
[ "$n" != 4 ]
EOS
chmod +x crash
duet --runs 7 -a true -b "$PWD/crash" -o crashed --json
is 'a side that crashes is a failure' "$status $(jq -r .stop <<<"$out")" '1 failed'
kept=$(grep '"run":' crashed/runs.jsonl)
duet --runs 7 -a true -b "$PWD/crash" -o crashed --resume --json
is 'and is resumed as well' "$(grep '"run":' crashed/runs.jsonl | head -n 3) $(jq '.runs >= 5' <<<"$out")" "$kept true"

# a full disk
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
	duet --runs 4 --pairs 40 -a true -b true -o small/out --json
	is 'a full disk is a failure' "$status" 1
	like 'that says so' "$err" 'No space left on device'
	is 'what was measured is printed' "$(jq '.runs >= 1' <<<"$out")" true
	is 'and every line in the journal is whole' "$(jq -c . small/out/runs.jsonl | wc -l)" "$(wc -l <small/out/runs.jsonl)"
	kept=$(grep '"run":' small/out/runs.jsonl)
	mount -o remount,size=1m small
	duet --runs 4 --pairs 40 -a true -b true -o small/out --resume --json
	is 'with room it goes on to its end' "$(jq .runs <<<"$out") $([[ $(<small/out/runs.jsonl) == *"$kept"* ]] && echo kept)" '4 kept' || diag "$err"
	umount small
else
	skip 'a full disk is a failure' 'no tmpfs can be mounted here'
fi

# history
for i in 1 2 3 4 5 6; do duet --runs 2 -a true -b true --history h.db --label "r$i"; done
run "$SONDE" duet history h.db --json
is 'history keeps results in order' "$(jq -c '[.[0].results[].label]' <<<"$out")" '["r1","r2","r3","r4","r5","r6"]'
for i in 1 2 3 4 5 6 7 8; do
	sqlite3 h.db "insert into duet (name, label, metric, design, verdict, ratio, lo, hi, runs, a, b) values ('made', 'm$i', 'wall', 'rmit', 'equivalent', 1, 0.9, 1.1, 5, 100, 100 + $i % 2)"
done
for i in 9 10 11 12 13 14 15; do
	sqlite3 h.db "insert into duet (name, label, metric, design, verdict, ratio, lo, hi, runs, a, b) values ('made', 'm$i', 'wall', 'rmit', 'slower', 1.2, 1.1, 1.3, 5, 100, 120 + $i % 2)"
done
run "$SONDE" duet history h.db --json
is 'a change of level is found where it is' "$(jq -c '[.[] | select(.benchmark == "made") | .results[] | select(.change) | .label]' <<<"$out")" '["m9"]'
if [ "$(id -u)" = 0 ] && chmod 755 "$TEST_DIR" && setpriv --reuid=65534 --regid=65534 --clear-groups "$SONDE" --version >/dev/null 2>&1; then
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$SONDE" duet history h.db
	is 'who may not write it can read it' "$status" 0 || diag "$err"
else
	skip 'who may not write it can read it' 'we are not root, or nobody cannot read this directory'
fi
run "$SONDE" duet history nothing.db
is 'a history that is not there is a failure' "$status" 1

# two revisions
git init -q repo && cd repo || exit 1
git config user.email t@example.org && git config user.name t
printf '#!/bin/sh\n/usr/bin/python3 -S -c "x = bytearray(10_000_000)"\n' >bench && chmod +x bench && git add bench && git commit -qm one
sed -i 's/10_/90_/' bench && git commit -qam two
duet --runs 5 --git HEAD~1..HEAD --json -- ./bench
is 'revisions are compared' "$(jq -r .verdict <<<"$out") $status" 'slower 3' || diag "$err"
is 'their worktrees are gone' "$(git worktree list | wc -l)" 1
duet --runs 2 --git HEAD~1..HEAD --explain --json -- ./bench
is 'files of the worktrees are the same files' "$(jq '[.causes[] | select(.kind == "file") | .name | select(contains("/sonde-duet-"))] | length' <<<"$out") $(jq '[.causes[] | select(.kind == "file" and .name == "bench") | .a_calls > 0 and .b_calls > 0] | any' <<<"$out")" '0 true' || diag "$err"
# the first execution builds, which takes longer than the whole budget
printf '#!/bin/sh\n[ -e built ] || { sleep 3; touch built; }\n' >slow && chmod +x slow && git add slow && git commit -qm slow
run timeout 200 "$SONDE" duet --design rmit --no-self-check --pairs 1 --threshold 0% --level 99.99% --budget 3s --runs 6 --git HEAD..HEAD --json -- ./slow
is 'building is not of the budget' "$(jq '.runs >= 2' <<<"$out")" true || diag "$err"
mkdir -p sub && printf '#!/bin/sh\npwd >>"$PLACES"\n' >sub/where && chmod +x sub/where && git add sub && git commit -qm sub
for i in 1 2; do
	cd sub && PLACES=$TEST_DIR/places duet --runs 2 --git HEAD..HEAD --history ../h.db --json -- ./where
	cd ..
	git commit -q --allow-empty -m "$i"
done
is 'in a subdirectory it is run in that of the revisions' "$(sed 's|.*/||' ../places | sort -u)" sub || diag "$err"
run "$SONDE" duet history h.db --json
is 'results of revisions are one series, of the command' "$(jq -c '[.[] | .benchmark, (.results | length)], (.[0].results | map(.label[:6]) | unique)' <<<"$out" | tr '\n' ' ')" '["./where",2] ["HEAD ("] '
duet --git HEAD..no-such -- ./bench
is 'an unknown revision is a failure' "$status" 1
is 'and leaves no worktree' "$(git worktree list | wc -l)" 1
cd .. || exit 1

# Causes of a difference.
cat >writer.py <<'EOS'
import os, sys
fd = os.open("file-it-is", os.O_WRONLY | os.O_CREAT)
block = b"x" * 262144 # so that it costs more than all else on any file system
for i in range(int(sys.argv[1])):
    os.pwrite(fd, block, 0)
    os.fsync(fd)
EOS
duet --runs 2 -a '/usr/bin/python3 -S writer.py 5' -b '/usr/bin/python3 -S writer.py 500' --explain --json --html why.html
is 'all of it is one object' "$(jq -s length <<<"$out") $(jq .recordings <<<"$out")" '1 5'
is 'explain names the call' "$(jq <<<"$out" -r '[.causes[] | select(.kind == "call" and (.name == "fsync" or .name == "pwrite64")) | select(.b_calls >= 500 and .a_calls <= 20) | .name] | sort | join(" ")')" 'fsync pwrite64'
is 'and the file' "$(jq <<<"$out" '[.causes[] | select(.kind == "file" and (.name | endswith("/file-it-is"))) | select(.delta_ns > 0)] | length')" 1
is 'each with its interval' "$(jq '[.causes[] | .lo_ns <= .delta_ns and .delta_ns <= .hi_ns] | all' <<<"$out") $(jq '[.causes[] | select(.kind == "call" and .name == "pwrite64") | .delta_ns > 0] | all' <<<"$out")" 'true true'
like 'the page has them' "$(<why.html)" 'What carries the difference.*<td>pwrite64</td><td>call</td><td>\+'
duet --runs 2 -a '/usr/bin/python3 -S writer.py 5' -b '/usr/bin/python3 -S writer.py 500' --explain --markdown
like 'Markdown too' "$out" '\| call \| pwrite64 \| \+[0-9.]+ \| [-+][0-9.]+ to \+[0-9.]+ \|'

if [[ $(jq <<<"$out" '[.causes[] | select(.kind == "wait")] | length') != 0 ]]; then
	duet --runs 2 -a 'sleep 0.01' -b 'sleep 0.4' --explain --json
	is 'and what it waited for' "$(jq <<<"$out" '[.causes[] | select(.kind == "wait" and .delta_ns > 300000000)] | length > 0')" true
else
	skip 'and what it waited for' 'this user may not see context switches'
fi

# presets: the published settings, in configurations that can be read
for suite in 'renaissance 4 0 4 600 100' 'dacapo 4 4 4 600 100' 'scalabench 4 4 4 600 100' 'speccpu 2 0 2 3600 10'; do
	read -r name duets sync seq timeout iterations <<<"$suite"
	run "$SONDE" duet preset "$name" one two
	echo "$out" >preset.yml
	is "the preset of $name" "$(awk '/_repetitions:|timeout:/ { print $2 }' preset.yml | tr '\n' ' ')$(grep -cE "run_base: .* (--repetitions|-n|--iterations) $iterations( |\$)" preset.yml)" \
		"$duets $sync $seq $timeout $((1 + (sync > 0)))"
	run "$SONDE" duet --docker false -o "of-$name" --filter none preset.yml
	like 'is a configuration' "$err" "nothing to run in 'preset.yml'"
done
run "$SONDE" duet preset dacpo
like 'presets are proposed' "$err" "did you mean 'dacapo'"

done_testing
