#!/bin/bash
# Whoever is killed or frozen: no job is lost, none ends twice.
. "$(dirname "$0")/fleet.sh"

sonde fleet up --agents 1 --lease 2s >/dev/null || fail 'a fleet comes up'

# The first attempt waits for ever, the second ends.
cat >attempt.sh <<'END'
echo $$ >>"$1.attempts"
[ "$(wc -l <"$1.attempts")" -gt 1 ] || exec sleep 1000
echo finished >>"$1.finished"
END

job=$(sonde submit -- sh attempt.sh agent)
ok 'the first attempt runs' wait_for test -s agent.attempts
kill -9 "$(processes agent)"
ok 'its agent killed, the tree goes' wait_for is_gone "$(head -n 1 agent.attempts)"
sonde fleet add
ok 'another agent gets it and ends it' wait_for is_now "$job" "done"
is 'in the second attempt' "$(field "$job" attempts)" 2
is 'it finished once' "$(<agent.finished)" finished

kill -9 "$(processes monitor)"
job=$(sonde submit -- touch later)
done_before=$(field "$job" state)
is 'without a monitor it waits' "$done_before" submitted
sonde fleet add --agents 0 # a default lease that is not the fleet's: the queue keeps its own
ok 'a new monitor goes on' wait_for is_now "$job" "done"
is 'it ran once' "$(field "$job" attempts)" 1
is 'jobs of before are as they were' "$(sonde job list | grep -c ' done ')" 2

# Cancelled while there is no monitor: before anybody queued it, and while its agent is lost.
agent_cancelled=$(sonde submit -- sh -c 'echo $$ >>cancelled.attempts; exec sleep 1000')
ok 'a job runs' wait_for test -s cancelled.attempts
for role in monitor agent; do for pid in $(processes $role); do is_gone "$pid" || kill -9 "$pid"; done; done
job=$(sonde submit -- touch cancelled.never)
sonde job cancel "$job"
is 'without a monitor a job that waits is cancelled' "$(field "$job" state)" cancelled
sonde job cancel "$agent_cancelled"
sonde fleet add --agents 1
ok 'one whose agent is lost, when it is delivered again' wait_for is_now "$agent_cancelled" cancelled
after=$(sonde submit -- true)
ok 'the next one runs' wait_for is_now "$after" "done"
ok 'the cancelled ones do not' test ! -e cancelled.never -a "$(wc -l <cancelled.attempts)" = 1
is 'they stay cancelled' "$(field "$job" state) $(field "$agent_cancelled" state)" 'cancelled cancelled'

# An agent that is frozen can do nothing: its tree ends all the same before another gets the job, and what it says later
# counts for nothing.
cat >frozen.sh <<'END'
echo $$ >>frozen.attempts
n=$(wc -l <frozen.attempts)
[ "$n" = 1 ] || ! kill -0 "$(head -n 1 frozen.attempts)" 2>/dev/null || echo overlap >>frozen.overlap
[ "$n" -gt 1 ] || exec sleep 1000
END
job=$(sonde submit -- sh frozen.sh)
ok 'a job runs' wait_for test -s frozen.attempts
for agent in $(processes agent); do is_gone "$agent" || frozen=$agent; done
kill -STOP "$frozen"
sonde fleet add --agents 1
ok 'the agent frozen, another one ends it' wait_for is_now "$job" "done"
kill -CONT "$frozen"
after=$(sonde submit -- true)
ok 'the fleet goes on' wait_for is_now "$after" "done"
ok 'the first tree was gone when the second began' test ! -e frozen.overlap
ok 'and is' is_gone "$(head -n 1 frozen.attempts)"
is 'the result is the second attempt'"'"'s' "$(field "$job" state) $(field "$job" exit_code) $(field "$job" attempts)" 'done 0 2'

# The process that watches over a job: how it ended is not known, so it has failed.
job=$(sonde submit -- sh -c 'echo $$ >watched; exec sleep 1000')
ok 'a job runs' wait_for test -s watched
kill -9 "$(awk '{ print $4 }' "/proc/$(<watched)/stat")"
ok 'its keeper killed, it has failed' wait_for is_now "$job" failed
like 'and why is said' "$(field "$job" why)" 'was killed'
ok 'it does not live on' wait_for is_gone "$(<watched)"

# The server itself: nobody can renew, so the tree ends; what was told is on disk.
job=$(sonde submit -- sh attempt.sh server)
later=$(sonde submit --label nobody -- true)
ok 'a job runs' wait_for test -s server.attempts
kill -9 "$(processes server)"
ok 'the server killed, the tree goes' wait_for is_gone "$(head -n 1 server.attempts)"
run sonde job list
is 'without it there is nothing to see' "$status" 1
like 'and it is said what to do' "$err" 'sonde fleet up'
sonde fleet up --lease 2s >/dev/null
ok 'up again, the job is done' wait_for is_now "$job" "done"
is 'in the second attempt' "$(field "$job" attempts) $(<server.finished)" '2 finished'
ok 'one that waited waits' wait_for is_now "$later" queued

job=$(sonde submit -- sh attempt.sh down)
ok 'a job runs while all goes down' wait_for test -s down.attempts
sonde fleet down
ok 'its tree is gone' is_gone "$(head -n 1 down.attempts)"
sonde fleet up --lease 2s >/dev/null
ok 'up again, it is done' wait_for is_now "$job" "done"
sonde fleet down

done_testing
