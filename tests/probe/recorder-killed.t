#!/bin/bash
# SIGKILL of the recorder: the program goes on undisturbed, the run opens and says what is missing.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

mkfifo fifo
exec 9<>fifo # so that nobody waits to open it
"$SONDE" record -q -o run --freq 999 -- "$TRUTH" hold "$PWD/fifo" >out &
recorder=$!
has_samples() { [[ -s run/tables/sample.tbl ]] && (($("$SONDE" events run --table sample --json 2>/dev/null | wc -l) > 200)); }
ok 'samples reach the disk while it runs' wait_for has_samples
kill -KILL $recorder
wait $recorder 2>/dev/null
echo >&9
ok 'the program ends by itself and says what it computed' wait_for grep -q rounds out

run "$SONDE" info run
is 'the run opens' "$status" 0
like 'and says that it was not finished' "$out$err" 'recorder has not finished'
run "$SONDE" recover run
is 'it can be recovered' "$status" 0
ok 'the samples are there' test "$("$SONDE" events run --table sample --json | wc -l)" -gt 0
run "$SONDE" export --to folded run
like 'with their stacks' "$out" ';main;.*burn'
done_testing
