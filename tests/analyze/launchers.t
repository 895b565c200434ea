#!/bin/bash
# Real launchers: each task takes its part, and the parts make the whole.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/lib/slurm.sh"

command -v mpirun >/dev/null || skip_service 'mpirun is not installed'
"$MAKE_RUN" make run 200000
"$SONDE" summary run --json >whole.json
mkdir parts
run mpirun --allow-run-as-root --oversubscribe -n 4 "$SONDE" summary run --part auto -o parts
is 'mpirun -n 4' "$status" 0
is 'four parts' "$(find parts -type f | wc -l)" 4
"$SONDE" merge --json parts/* >merged.json
ok 'make the whole' cmp -s merged.json whole.json

slurm_start
mkdir slurm
run timeout 120 srun -N2 -n4 --chdir="$PWD" "$SONDE" summary run --part auto -o slurm
is 'srun -n 4' "$status" 0
is 'four parts again' "$(find slurm -type f | wc -l)" 4
"$SONDE" merge --json slurm/* >srun.json
ok 'make the whole, to the byte' cmp -s srun.json whole.json

done_testing
