#!/bin/bash
# Iterations from inside programs: the protocol in C, Python and shell, steps; a peer that dies, hangs or talks nonsense.
. "$(dirname "$0")/../lib/tap.sh"

loop=$SONDE_TEST_LOOP
mkdir tmp
export TMPDIR=$PWD/tmp
duet() { run timeout 200 "$SONDE" duet --no-self-check --budget 120s "$@"; }
field() { jq -r ".$1" <<<"$out"; }

for design in seq rmit sync async; do
	duet -a "$loop 20000" -b "$loop 200000" --iterations fd --design $design --runs 5 --pairs 12 --metric value --json --samples
	is "$design: the value is compared" "$(field verdict) $(jq '.ratio | . * 100 | round' <<<"$out")" 'slower 1000' || diag "$err"
	is "$design: a run is one process with its iterations" "$(jq '.runs == 5 and ([.samples[].A | length] | min) >= 12' <<<"$out")" true
done
duet -a "$loop 20000" -b "$loop 400000" --iterations fd --design sync --runs 5 --pairs 12 --metric cpu --json
is 'processor time of iterations' "$(field verdict)" slower
duet -a "$loop 20000" -b "$loop 400000" --iterations fd --design rmit --runs 5 --pairs 12 --json --samples
is 'in turn nobody runs while the other does' "$(jq '[.samples[] | .A as $a | .B[] | . as $b | $a[] | select(.[0] < $b[1] and $b[0] < .[1])] | length' <<<"$out")" 0

cat >side.py <<'EOS'
import sys
from sonde import duet
for iteration in duet.iterations(1000):
    iteration.value = float(sys.argv[1])
EOS
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
duet -a '/usr/bin/python3 side.py 2' -b '/usr/bin/python3 side.py 3' --iterations fd --design sync --runs 5 --pairs 4 --metric value --json
is 'Python' "$(field verdict) $(jq '.ratio * 10 | round' <<<"$out")" 'slower 15' || diag "$err"
run /usr/bin/python3 side.py 1
is 'without a duet the loop is a loop' "$status" 0

cat >side.sh <<EOS
. $SONDE_STAGE/share/sonde/duet.sh
while sonde_duet_begin; do sonde_duet_end \$1; done
EOS
for shell in dash bash; do
	duet -a "$shell side.sh 4" -b "$shell side.sh 2" --iterations fd --design rmit --runs 5 --pairs 4 --metric value --json
	is "$shell" "$(field verdict) $(jq '.ratio * 10 | round' <<<"$out")" 'faster 5' || diag "$err"
done

# now and then a side has no value: that run is left out, and the others are an answer
cat >gap.sh <<EOS
. $SONDE_STAGE/share/sonde/duet.sh
n=\$(cat gaps 2>/dev/null || echo 0)
echo \$((n + 1)) >gaps
while sonde_duet_begin; do if [ \$n = 3 ]; then sonde_duet_end; else sonde_duet_end 2; fi; done
EOS
duet -a 'bash gap.sh' -b 'bash side.sh 3' --iterations fd --design rmit --runs 20 --pairs 2 --metric value --json
is 'runs without a value are left out' "$(jq -c '[.verdict, .runs, .hi < 1.6]' <<<"$out")" '["slower",12,true]' || diag "$err"
like 'which is told' "$(jq -r '.warnings[]' <<<"$out")" 'pairs were left out: a side had no value'

# peers in Python and shell that die or hang: the other side is freed, and nothing is left
cat >bad.py <<'EOS'
import os, sys, time
from sonde import duet
for iteration in duet.iterations(1000):
    if iteration.number == 3:
        os.abort() if sys.argv[1] == "die" else time.sleep(99)
EOS
cat >bad.sh <<EOS
. $SONDE_STAGE/share/sonde/duet.sh
i=0
while sonde_duet_begin; do
	sonde_duet_end
	i=\$((i + 1))
	[ \$i != 3 ] || { [ "\$1" = die ] && kill -ABRT \$\$ || exec sleep 98.$$; }
done
EOS
for peer in '/usr/bin/python3 bad.py' 'dash bad.sh'; do
	for design in sync rmit; do
		duet -a "$loop 1000" -b "$peer die" --iterations fd --design $design --runs 5 --pairs 20
		like "$peer dies ($design)" "$status $err" '^1 .*B was killed by signal 6'
	done
	duet -a "$peer hang" -b "$loop 1000" --iterations fd --design sync --runs 5 --pairs 20 --timeout 3s
	like "$peer hangs" "$status $err" '^1 .*A has said nothing for 3.0 s'
done
is 'and nothing is left' "$(pgrep -fc "[s]leep 98.$$|[b]ad.py")" 0

duet -a "$loop 1000" -b "$loop 1000 1000 die" --iterations fd --design sync --runs 5 --pairs 20
is 'a peer that dies ends the run' "$status" 1
like 'and is named' "$err" 'B was killed by signal 6'
duet -a "$loop 1000" -b "$loop 1000 1000 hang" --iterations fd --design sync --runs 5 --pairs 20 --timeout 2s
like 'a peer that hangs is stopped' "$err" 'B has said nothing for 2.0 s'
duet -a "$loop 1000" -b "$loop 1000 1000 chatter" --iterations fd --design async --runs 5 --pairs 20
like 'nonsense is refused' "$err" "B wrote 'hello'"
duet -a "$loop 1000" -b "$loop 1000 1000 silent" --iterations fd --design sync --runs 5 --pairs 20
like 'a program that tells nothing is refused' "$err" 'B has ended without an iteration'
duet -a "$loop 1000 7" -b "$loop 1000 3" --iterations fd --design sync --runs 5 --pairs 20 --json --metric value
is 'a side with fewer iterations ends the run, and pairs are what both have' "$(jq '.pairs == 15 or .pairs == 10' <<<"$out")" true
is 'no loop is left' "$(pgrep -fc "^$loop")" 0

duet -a "$loop 20000 15" -b "$loop 60000 15" --iterations step --step turn --design rmit --runs 5 --metric value --json
is 'steps of a recorded program' "$(field verdict) $(jq '.ratio | round' <<<"$out")" 'slower 3' || diag "$err"
duet -a true -b true --iterations step --design rmit --runs 2
like 'a program without steps is refused' "$err" 'has fewer than two steps'

# counters: a level that the program gives, per step and of the whole; a total that a probe reads; one that is not there
cat >counts.py <<'EOS'
import sys
import sonde
for i in range(12):
    sonde.counter("depth", float(sys.argv[1]) * (1 + i % 2))
    sonde.counter("depth", float(sys.argv[1]) * (2 - i % 2))
    sonde.step("turn", i)
EOS
for iterations in command step; do
	duet -a '/usr/bin/python3 counts.py 2' -b '/usr/bin/python3 counts.py 3' --iterations $iterations --metric counter:depth --design rmit --runs 3 --json
	is "a counter of the program, iterations of $iterations" "$(field verdict) $(field metric) $(jq '.ratio * 10 | round' <<<"$out")" 'slower counter:depth 15' || diag "$err"
done
ok 'the line that repeats it has it' grep -q -- '--metric counter:depth' <<<"$(field repeat)"
duet -a '/usr/bin/python3 counts.py 2' -b '/usr/bin/python3 counts.py 3' --metric counter:width --runs 2
like 'a counter that is not there is told' "$err" "has no counter 'width'"
duet -a true -b true --iterations fd --metric counter:depth
is 'a counter needs a recording' "$status" 2
is 'no recording is left' "$(find tmp -mindepth 1 | wc -l)" 0

done_testing
