#!/bin/bash
# What one program leaves behind changes the time of the next: no verdict, but the remedy; and the commands around executions.
. "$(dirname "$0")/../lib/tap.sh"

field() { "$SONDE_PYTHON" -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" <<<"$out"; }
SONDE_PYTHON=/usr/bin/python3

# Each takes 40 ms more if it finds a mark, and removes it; B leaves one.
cat >one <<'E2'
#!/bin/sh
if [ -e mark ]; then
	rm mark
	sleep 0.04
fi
[ "$1" = a ] || touch mark
E2
chmod +x one

run "$SONDE" duet -a './one a' -b './one b' --design rmit --budget 5s --seed 3 --json
is 'carry-over has no verdict' "$(field 'r["verdict"]')" inconclusive
is 'and says so' "$(field 'r["carry_over"]["found"], r["carry_over"]["no_verdict"]')" '(True, True)'
is 'with the status of an undecided comparison' "$status" 4
is 'A is slow after B, not after A' "$(field 'r["carry_over"]["a_after_b"] > 4 * r["carry_over"]["a_after_a"]')" True
rm -f mark
run "$SONDE" duet -a './one a' -b './one b' --design rmit --budget 2s --seed 4 -o journal
like 'the text names the times' "$out" 'carry-over\): A takes [0-9.]+ ms after A and [0-9.]+ ms after B'
like 'and the remedy' "$out" '--prepare COMMAND'
run "$SONDE" duet report journal
like 'so does the report of the journal' "$out" 'no verdict.*carry-over'
is 'and its status' "$status" 4

rm -f mark
run "$SONDE" duet -a './one a' -b './one b' --design rmit --budget 2s --prepare 'rm -f mark' --json
is 'the remedy works' "$(field 'r["carry_over"] is None or r["carry_over"]["found"]')" False

# the commands around
count() { if [[ -e $1 ]]; then wc -l <"$1"; else echo 0; fi; }
run "$SONDE" duet -a 'sh -c "echo x >>a"' -b 'sh -c "echo x >>b"' --design rmit --runs 4 --pairs 2 --no-self-check --warmup 3 \
	--setup 'echo x >>setup' --prepare 'echo x >>prepare-a' --prepare 'echo x >>prepare-b' --conclude 'echo x >>conclude' \
	--cleanup 'echo x >>cleanup' --json
is 'setup and cleanup run once' "$(count setup) $(count cleanup)" '1 1'
is 'warm-up executions come before those that count' "$(count a)" "$(($(field 'r["pairs"]') + 3))"
is 'a side is prepared before each of its executions' "$(count prepare-a) $(count prepare-b)" "$(count a) $(count b)"
is 'and each execution is concluded' "$(count conclude)" "$(($(count a) + $(count b)))"
rm -f order
run "$SONDE" duet -a 'sh -c "echo run >>order"' -b 'sh -c "echo run >>order"' --design rmit --runs 2 --no-self-check \
	--prepare 'echo prepare >>order' --conclude 'echo conclude >>order' --setup 'echo setup >>order' --cleanup 'echo cleanup >>order'
is 'in this order' "$(uniq order | head -4 | tr '\n' ' ')$(tail -1 order)" 'setup prepare run conclude cleanup'
run "$SONDE" duet -a true -b true --prepare 'sleep 0.5' --runs 3 --design rmit --no-self-check --json
is 'the time of the preparation is not measured' "$(field 'r["a"]["wall"] < 500e6')" True
run "$SONDE" duet -a true -b true --prepare 'exit 3' --runs 3
is 'a preparation that fails is an error' "$status" 1
like 'that names it' "$err" "command of --prepare failed: exit 3"
like 'and what to do' "$err" '\|\| true'
run "$SONDE" duet -a true -b true --prepare a --prepare b --prepare c
is 'one for all or one for each' "$status" 2

echo hello >text
run "$SONDE" duet -a 'grep -q hello' -b 'grep -q hello' --input text --runs 2 --design rmit --no-self-check --json
is 'each execution reads the input from its start' "$(field 'r["runs"]')" 2
run "$SONDE" duet -a 'grep -q hello' -b 'grep -q hello' --runs 2 --design rmit --no-self-check
is 'without it there is none' "$status" 1
run "$SONDE" duet -a cat -b cat --input missing --runs 2
like 'an input that is missing is named' "$err" "input 'missing'"

run "$SONDE" duet -a 'exit 0; exit 1' -b 'exit 0' --shell --runs 2 --design rmit --no-self-check --json
is '--shell is /bin/sh' "$(field 'r["runs"]')" 2
# shellcheck disable=SC2016 # for the shell of the command
run "$SONDE" duet -a '[[ $BASH ]]' -b '[[ $BASH ]]' --shell='bash --norc' --runs 2 --design rmit --no-self-check --json
is 'or any other' "$(field 'r["runs"]')" 2
like 'and is repeated so' "$(field 'r["repeat"]')" "--shell='bash --norc'"
run "$SONDE" duet -a true -b true --shell=none --runs 2 --design rmit --no-self-check --json
unlike 'none is none' "$(field 'r["repeat"]')" '--shell'

done_testing
