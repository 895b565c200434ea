#!/bin/bash
# early_stop: asha, a whole study: who is not among the best third after 4 or 16 steps is stopped, and nobody else.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

# x shows from the first step, y only after the fourth. Who ought to be stopped waits for that; who ought not goes on.
cat >prog <<'PY'
#!/usr/bin/python3
import math, os, sys, time
x, y, place = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]

def ought_to_stop(rung, own):
    with open(f"{place}.{rung}", "a+") as file:
        file.seek(0)
        others = sorted(map(float, file))
        print(repr(own), file=file)
    at = (len(others) - 1) / 3
    low, high = math.floor(at), math.ceil(at)
    return len(others) >= 2 and own > others[low] + (at - low) * (others[high] - others[low])

for i in range(1, 33):
    loss = 300 - 10 * i + x if i <= 4 else 200 - i + x + y
    is_to_stop = i in (4, 16) and ought_to_stop(i, loss)
    if is_to_stop: # written down before it is said: who is stopped may not come to it any more
        with open(place, "a") as file:
            print(os.path.basename(os.environ["SONDE_TUNE_DIR"]), i, file=file)
    print("step", i, "loss", repr(loss), flush=True)
    if is_to_stop:
        time.sleep(300)
        sys.exit("nobody stopped it")
PY
chmod +x prog
cat >study.yml <<YML
name: rungs
command: [./prog, "{x}", "{y}", $TEST_DIR/lagging]
params: [{name: x, type: float, low: 0, high: 50, default: 40}, {name: y, type: float, low: 0, high: 40, default: 30}]
objective: {name: loss, from: step, goal: minimize}
steps: 'step ([0-9]+) loss ([0-9.]+)'
early_stop: asha
budget: {trials: 27}
seed: 1
confirm: 0
YML
run timeout 500 "$SONDE" tune study.yml --json
is 'the study ends well' "$status $(jq .failed <<<"$out")" '0 0'
diag "$err"
is 'those that lag behind are stopped, and no others' "$(jq -r '.trials[] | select(.state == "cut") | .id' <<<"$out")" "$(cut -d' ' -f1 lagging)"
ok 'some after 4 steps' grep -q ' 4$' lagging
ok 'some after 16' grep -q ' 16$' lagging
ok 'some go on to the end' holds '.done >= 4' "$out"
ok 'the best went on to the end' holds '.best.params as $b | [.trials[] | select(.state == "done") | .params == $b] | any' "$out"
ok 'and no one stopped would have been better' holds '(.best.params | .x + .y) as $b | [.trials[] | select(.state == "cut") | .params.x + .params.y >= $b] | all' "$out"
ok 'it is near the truth' holds '.best.params | .x + .y < 9' "$out"

done_testing
