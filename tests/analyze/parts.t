#!/bin/bash
# A run summarised in parts and merged is the run summarised at once, to the byte.
. "$(dirname "$0")/../lib/tap.sh"

"$MAKE_RUN" make run 300000

"$SONDE" summary run --json >whole.json
"$SONDE" summary run >whole.txt
"$SONDE" summary run --full >full.txt
"$SONDE" summary -j1 run --json >one-thread.json
"$SONDE" summary -j7 run --json >threads.json
ok 'threads do not show' cmp -s one-thread.json threads.json
ok 'nor does their default' cmp -s one-thread.json whole.json

for n in 1 4 9; do
	rm -rf parts
	mkdir parts
	for ((k = 0; k < n; k++)); do
		"$SONDE" summary run --part $k/$n -o parts || fail "part $k/$n"
	done
	"$SONDE" merge --json parts/* >merged.json
	ok "$n parts, as JSON" cmp -s merged.json whole.json
	# shellcheck disable=SC2046 # names without blanks
	"$SONDE" merge $(ls -r parts/*) >merged.txt
	ok "$n parts, backwards, for people" cmp -s merged.txt whole.txt
	"$SONDE" merge --full parts/* >merged.txt
	ok "$n parts, in full" cmp -s merged.txt full.txt
done

"$SONDE" summary run --roi 10ms,60ms --rules dlio --json >whole.json
for k in 0 1 2; do
	"$SONDE" summary run --roi 10ms,60ms --rules dlio --part $k/3 -o "roi-$k"
done
"$SONDE" merge --json roi-2 roi-0 roi-1 >merged.json
ok 'a region, other rules' cmp -s merged.json whole.json

OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 run "$SONDE" summary run --part auto
ok 'mpirun says which part it is' test -s part-1-of-2.sonde
SLURM_PROCID=0 SLURM_NTASKS=2 run "$SONDE" summary run --part auto
ok 'and srun' test -s part-0-of-2.sonde

run "$SONDE" merge part-1-of-2.sonde
is 'a missing part is an error' "$status" 1
like 'which names it and how to make it' "$err" 'part 0 of 2 is missing.*--part 0/2'
run "$SONDE" merge part-1-of-2.sonde part-1-of-2.sonde
like 'so is one that is there twice' "$err" 'duplicate part 1'
run "$SONDE" merge part-1-of-2.sonde roi-0
like 'so is one of something else' "$err" 'differs from .* in the run, region, rules or number of parts'
head -c 1000 part-0-of-2.sonde >cut.part
run "$SONDE" merge cut.part part-1-of-2.sonde
like 'so is one that is cut' "$err" 'damaged'
run "$SONDE" merge whole.txt
like 'so is what is not a part' "$err" 'is not a part'
run "$SONDE" summary run --part 4/4
is 'part 4 of 4 does not exist' "$status" 2
like 'and the hint says why' "$err" 'k from 0 to n-1'
mv run elsewhere
run "$SONDE" merge part-0-of-2.sonde part-1-of-2.sonde
like 'a run that went away' "$err" '--run RUN'
run "$SONDE" merge --run elsewhere part-0-of-2.sonde part-1-of-2.sonde
is 'can be shown' "$status" 0

done_testing
