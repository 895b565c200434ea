#!/bin/bash
# <sonde/tune.h>: ask and tell in C, found by pkg-config.
. "$(dirname "$0")/../lib/tap.sh"

export PKG_CONFIG_PATH=$SONDE_STAGE/lib/pkgconfig LD_LIBRARY_PATH=$SONDE_STAGE/lib
eval "flags=($(pkg-config --cflags --libs sonde-tune))"
ok 'pkg-config has what it takes' gcc -Wall -Wextra -Wpedantic -Werror -std=c99 "$(dirname "$0")/ask-tell.c" -o ask-tell "${flags[@]}" -lm
run ./ask-tell
is 'it runs' "$status" 0
is 'and says what it should' "$out" "best b 1 1
best b 1 1
same 1
none yet 0
own 0.25 2
twice 0 1 trial 1 has a result already
unknown 1 unknown parameter 'y'
nothing 1
refused the study:1: invalid type 'flaot' (supported: float, int, ordinal, categorical, bool); did you mean 'float'?
not there"
run bash -c "nm -D --defined-only '$SONDE_STAGE/lib/libsonde-tune.so' | awk '{ print \$3 }' | grep -v '^sonde_tune_'"
is 'the library has no other names' "$out" ''

done_testing
