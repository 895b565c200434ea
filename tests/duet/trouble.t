#!/bin/bash
# When a side crashes, hangs or is not there, or somebody interrupts: nothing is left running, and it is said.
. "$(dirname "$0")/../lib/tap.sh"

duet() { run timeout 120 "$SONDE" duet --design rmit --no-self-check --pairs 1 "$@"; }

# A number that only our processes have in their arguments.
mark=$((RANDOM + 100000)).$$
# is_gone: no process with the mark lives, within a while (zombies do not count)
is_gone() {
	local i
	for ((i = 0; i < 100; i++)); do
		pgrep -f "[s]leep $mark" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

duet -a true -b false
is 'a side that fails is a failure' "$status" 1
like 'that says which and how' "$err" 'B failed with exit status 1'
duet -a true -b "sh -c 'echo the reason >&2; exit 7'"
like 'what it complained of is the hint' "$err" 'hint: it said: the reason'
duet -a "sh -c 'kill -SEGV \$\$'" -b true
like 'a crash is told as one' "$err" 'A was killed by signal 11'
duet -a true -b false --ignore-failure --runs 2
ok "--ignore-failure goes on to a verdict, whichever it is" test "$status" = 0 -o "$status" = 3
duet -a true -b /nonexistent/program
is 'a missing program is a failure' "$status" 1
like 'that names it' "$err" "B: .*'/nonexistent/program'"

# crashes in the middle: what was measured before is printed
cat >later <<'EOS'
#!/bin/sh
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) >count
[ "$n" -lt 5 ]
EOS
chmod +x later
duet -a true -b "$PWD/later" --runs 20 --budget 60s --json
is 'a late failure is a failure' "$status" 1
is 'runs before it are in the result' "$(jq -c '[.stop, .runs]' <<<"$out")" '["failed",4]'

# a side that hangs, with children that nobody waits for
duet -a true -b "sh -c 'setsid sleep $mark & sleep $mark'" --timeout 1s
is 'a side that hangs is a failure' "$status" 1
like 'that says so' "$err" 'B has not ended within 1.0 s and was stopped'
ok 'and nothing of it is left' is_gone

duet -a true -b "sh -c 'setsid sleep $mark >/dev/null 2>&1 & true'" --runs 2
ok 'what a side leaves behind is ended too' is_gone

# until_there WHAT COMMAND...: poll for at most a minute
until_there() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	diag "waited in vain: $*"
	return 1
}
is_running() { (($(pgrep -fc "[s]leep $mark") >= $1)); }

# interrupted: B hangs in its fourth execution, after the warm-up and two runs
cat >hang <<EOS
#!/bin/sh
n=\$(cat count 2>/dev/null || echo 0)
echo \$((n + 1)) >count
[ "\$n" -lt 3 ] || exec sleep $mark
EOS
chmod +x hang
for signal in INT TERM; do
	echo 0 >count
	# a job of a script ignores SIGINT unless it has job control
	set -m
	"$SONDE" duet -a true -b "$PWD/hang" --design rmit --no-self-check --pairs 1 --runs 50 --budget 600s --json >out.json 2>err.txt &
	pid=$!
	set +m
	until_there is_running 1
	kill -$signal $pid
	wait $pid
	is "SIG$signal exits with 128 and its number" $? $((128 + $(kill -l $signal)))
	ok "SIG$signal: nothing is left" is_gone
	is "SIG$signal: finished runs are in the result" "$(jq -c '[.stop, .runs]' out.json)" '["interrupted",2]'
	is "SIG$signal: and it says that it was" "$(jq -r '.warnings[0]' out.json)" 'interrupted; results so far'
done

# interrupted before anything was settled
for design in auto async; do
	set -m
	"$SONDE" duet -a "sleep $mark" -b true --design $design --json >out.json 2>err.txt &
	pid=$!
	set +m
	until_there is_running 1
	kill -INT $pid
	wait $pid
	is "$design, interrupted before a run: it claims no other design" "$? $(jq -r '.design, (.repeat | match("--design [a-z]*").string)' out.json | tr '\n' ' ')" \
		"130 $([ $design = auto ] && echo rmit || echo $design) --design $design "
done
# nohup: the end of the terminal is not ours
(trap '' HUP; exec "$SONDE" duet -a true -b "sleep $mark" --design rmit --no-self-check >/dev/null 2>&1) &
pid=$!
until_there is_running 1
kill -HUP $pid
sleep 0.3
ok 'where SIGHUP is ignored it goes on' is_running 1
kill -TERM $pid
wait $pid
is 'until it is told to end' $? 143

# killed: what we started goes with us
"$SONDE" duet -a "sleep $mark" -b "sleep $mark" --design sync --no-self-check >/dev/null 2>&1 &
pid=$!
until_there is_running 2
kill -KILL $pid
wait $pid 2>/dev/null
ok 'kill -9 leaves nothing running' is_gone

# killed while two revisions are compared: the next one removes the worktrees that it could not
mkdir tmp && git init -q repo && cd repo || exit 1
git config user.email t@example.org && git config user.name t
printf '#!/bin/sh\n[ -z "$SONDE_TEST_HANGS" ] || exec sleep %s\n' "$mark" >bench && chmod +x bench && git add bench && git commit -qm one
trees() { printf '%s %s' "$(git worktree list | wc -l)" "$(find ../tmp -name bench | wc -l)"; }
SONDE_TEST_HANGS=1 TMPDIR=$TEST_DIR/tmp "$SONDE" duet --git HEAD..HEAD --no-self-check -- ./bench >/dev/null 2>&1 &
pid=$!
until_there is_running 1
TMPDIR=$TEST_DIR/tmp duet --git HEAD..HEAD --runs 2 --json -- ./bench
is 'worktrees of one that lives are let alone' "$(trees)" '3 2' || diag "$err"
kill -KILL $pid
wait $pid 2>/dev/null
ok 'kill -9 of a comparison of revisions leaves nothing running' is_gone
is 'but its worktrees' "$(trees)" '3 2'
TMPDIR=$TEST_DIR/tmp duet --git HEAD..HEAD --runs 2 --json -- ./bench
is 'which the next one removes, with its own' "$(trees) $(find ../tmp -mindepth 1 | wc -l)" '1 0 0' || diag "$err"
cd .. || exit 1

done_testing
