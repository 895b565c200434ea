#!/bin/bash
# Knobs of a session: set from their first use on, swept over, and said to be useless when nobody asks for them.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python

cat >app.py <<'END'
import sys
import time

import sonde

batch, mode, share = sonde.knob("batch", 1, 1, 64), sonde.knob("mode", "slow", choices=["slow", "fast"]), sonde.knob("share", 0.5)
sys.stderr.write(f"knobs: {batch} {mode} {share}\n")
for i in range(10):
    time.sleep(0.06 / batch)
    sonde.step("frame", i)
END
printf 'command: [ /usr/bin/python3, app.py ]\nknobs: { batch: 3, mode: fast, share: 0.25 }\n' >set.yml
run "$SONDE" session set.yml -o set
like 'knobs are what the file says' "$status $err" '0 .*knobs: 3 fast 0.25'
printf 'command: [ /usr/bin/python3, app.py ]\n' >plain.yml
run "$SONDE" session plain.yml -o plain
like 'or their own' "$status $err" '0 .*knobs: 1 slow 0.5'
printf 'command: [ /usr/bin/python3, app.py ]\nknobs: { mode: fast }\nsweep: { over: knob.batch, values: [ 1, 8, 30 ] }\n' >sweep.yml
run "$SONDE" session sweep.yml -o sweep --json
is 'a sweep over one' "$status $(jq -r '[.sweep.points[].value] | join(" ")' sweep/profile.json)" '0 1 8 30' || diag "$err"
is 'sets it at each point, and the others as they are' "$(grep -o 'knobs: .*' <<<"$err" | paste -sd,)" 'knobs: 1 fast 0.5,knobs: 8 fast 0.5,knobs: 30 fast 0.5'
like 'and recommends what is fast' "$(jq -r .sweep.recommended sweep/profile.json)" '^(8|30)$'
printf 'command: [ /usr/bin/python3, app.py ]\nknobs: { bach: 3 }\n' >typo.yml
run "$SONDE" session typo.yml -o typo
like 'one that nobody asks for did nothing, which is said' "$status $err" "1 .*did not use the knob 'bach'"
printf 'command: [ /usr/bin/python3, app.py ]\nknobs: { batch: 1000 }\n' >bounds.yml
run "$SONDE" session bounds.yml -o bounds
like 'the program'"'"'s bounds are kept' "$status $err" '0 .*knobs: 1 slow'
printf 'command: [ "true" ]\nknobs: { batch: [ 1 ] }\n' >bad.yml
run "$SONDE" session bad.yml -o bad
like 'a value that is none' "$status $err" "1 .*bad.yml:2: knob 'batch' must be"
done_testing
