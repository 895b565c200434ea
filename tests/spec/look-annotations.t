#!/bin/bash
# sonde events shows what a program says about itself: spans, steps, marks, counters, metadata.
# shellcheck disable=SC2016 # jq and other shells have variables of their own
. "$(dirname "$0")/../lib/tap.sh"

holds() { jq -es "$1" <<<"$out" >/dev/null; }

cat >program.py <<'PROGRAM'
import sonde, os, time
sonde.meta("model", "tiny \"one\"\n")
with sonde.span("outer", "work", size=3, ratio=0.5, name="a\tb"):
    for i in range(3):
        with sonde.span("inner"):
            time.sleep(0.001)
        sonde.step("train", i, 1.5 - i)
    sonde.step("blind", 7)
    sonde.instant("here", "marks", x=1)
    sonde.counter("queue", 4)
with sonde.span("never ends"):
    sonde.counter("queue", 0.25)
    os._exit(0)
PROGRAM
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
[[ -d $PYTHONPATH/sonde ]] || skip_service 'the Python package is not there'
"$SONDE" record --probes trace -- /usr/bin/python3 program.py

run "$SONDE" events --table span --json
is 'it exits with 0' "$status" 0
ok 'spans have the promised keys' holds 'all(.[]; has("ts_ns") and has("dur_ns") and has("pid") and has("tid") and has("name")
	and has("cat") and has("depth") and has("args") and has("is_open"))'
is 'all are there, in the order of their start' "$(jq -r .name <<<"$out" | tr '\n' ,)" 'outer,inner,inner,inner,never ends,'
ok 'arguments are an object' holds '.[0].args == {"size": 3, "ratio": 0.5, "name": "a\tb"}'
ok 'none is null' holds '.[1].args == null and .[1].cat == null and .[0].cat == "work"'
ok 'depth counts what is around' holds '[.[].depth] == [0, 1, 1, 1, 0]'
ok 'children lie inside' holds '.[0] as $o | all(.[1:4][]; .ts_ns >= $o.ts_ns and .ts_ns + .dur_ns <= $o.ts_ns + $o.dur_ns)'
ok 'and last as long as they slept' holds 'all(.[1:4][]; .dur_ns >= 1000000)'
ok 'the last one is open' holds '[.[].is_open] == [false, false, false, false, true]'

run "$SONDE" events --table step --json
is 'steps as they were' "$(jq -c '[.name, .index, .value]' <<<"$out" | tr '\n' ,)" \
	'["train",0,1.5],["train",1,0.5],["train",2,-0.5],["blind",7,null],'
ok 'with when and who' holds 'all(.[]; .ts_ns > 0 and .pid > 0 and .tid > 0)'
run "$SONDE" events --table mark --json
is 'marks as they were' "$(jq -c '[.name, .cat, .args]' <<<"$out")" '["here","marks",{"x":1}]'
run "$SONDE" events --table counter --json
is 'counters as they were' "$(jq -c '[.name, .value]' <<<"$out" | tr '\n' ,)" '["queue",4],["queue",0.25],'
run "$SONDE" events --table meta --json
is 'metadata as they were' "$(jq -c '[.key, .value]' <<<"$out")" '["model","tiny \"one\"\n"]'

run "$SONDE" events --table span --name inner --json
is '--name' "$(wc -l <<<"$out")" 3
run "$SONDE" events --table span --name 'n*' --json
is '--name with a pattern' "$(jq -r .name <<<"$out")" 'never ends'
run "$SONDE" events --table step --name train --tail 1 --json
is 'the last step' "$(jq -c .index <<<"$out")" 2
run "$SONDE" events --table span --min-duration 3ms --json
is 'long spans' "$(jq -r .name <<<"$out" | head -n 1)" outer

run "$SONDE" events --table span
like 'spans for people' "$out" $'\n +0\.[0-9]+ +[0-9.]+ ms +[0-9]+ +[0-9]+ +1  inner '
run "$SONDE" events --table step
like 'steps for people' "$out" 'train +2 +-0.5'
like 'unknown values for people' "$out" 'blind +7 +-'
run "$SONDE" events --table meta
unlike 'line breaks of values do not break lines' "$out" $'tiny "one"\n'

done_testing
