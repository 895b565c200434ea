#!/bin/bash
# clean and preprocess touch the cache of a run, and nothing that lies in its place or beside it.
. "$(dirname "$0")/../lib/tap.sh"

"$SONDE" record --probes trace -o run -- true
run "$SONDE" preprocess run
ok 'preprocess makes the cache' test -s run/pyramid/lanes.pyr
mkdir run/pyramid/below
echo thesis >run/pyramid/below/thesis
run "$SONDE" clean run
is 'clean removes it' "$status $(ls run/pyramid)" '0 below'
ok 'other files in its directory stay' test -e run/pyramid/below/thesis
rm -r run/pyramid
run "$SONDE" clean run
is 'clean without a cache does nothing' "$status" 0

mkdir victim
echo thesis >victim/lanes.tmp
echo thesis >victim/lanes.pyr
ln -s ../victim run/pyramid
run "$SONDE" preprocess run
is 'preprocess does not write behind a link' "$(cat victim/lanes.tmp victim/lanes.pyr | sort -u)" thesis
run "$SONDE" clean run
is 'nor does clean remove there' "$(cat victim/lanes.tmp victim/lanes.pyr | sort -u)" thesis
done_testing
