#!/bin/bash
# sonde tune serve: JSON lines as scripts rely on them, repeatable by seed.
. "$(dirname "$0")/../lib/tap.sh"

# holds FILTER JSON: jq says true
holds() { jq -e "$1" <<<"$2" >/dev/null; }

cat >space.yml <<'YML'
params: [{name: x, type: float, low: 0, high: 1, log: false, default: 0.5}, {name: n, type: int, low: 1, high: 64, log: true},
         {name: mode, type: categorical, choices: [a, b]}, {name: k, type: int, low: 1, high: 16, active_if: {mode: [b]}}]
objective: {name: value, goal: minimize}
YML

# drive SEED TRIALS: play the program; prints every answer and the best
drive() {
	/usr/bin/python3 - "$SONDE" "$@" <<'PY'
import json, subprocess, sys
sonde, seed, trials = sys.argv[1], sys.argv[2], int(sys.argv[3])
server = subprocess.Popen([sonde, "tune", "serve", "space.yml", "--seed", seed], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
def ask(line):
    server.stdin.write(line + "\n")
    return server.stdout.readline().strip()
for i in range(trials):
    line = ask('{"ask":1}')
    print(line)
    answer = json.loads(line)
    p = answer["params"]
    assert ("k" in p) == (p["mode"] == "b") and 1 <= p["n"] <= 64 and isinstance(p["n"], int)
    if i == 3:
        server.stdin.write(json.dumps({"tell": answer["id"], "failed": True}) + "\n")
    else:
        server.stdin.write(json.dumps({"tell": answer["id"], "value": (p["x"] - 0.2) ** 2 + abs(p["n"] - 9) / 50 + (p.get("k", 30) / 100)}) + "\n")
print(ask('{"best":true}'))
server.stdin.close()
assert server.wait() == 0
PY
}

run drive 3 25
is 'the conversation ends well' "$status" 0
diag "$err"
is 'the default comes first' "$(head -1 <<<"$out" | jq -c .params)" '{"x":0.5,"n":6,"mode":"a"}'
is 'ids count from 1' "$(head -25 <<<"$out" | jq -s -c 'map(.id) == [range(1; 26)]')" true
is 'no configuration comes twice' "$(head -25 <<<"$out" | jq -c .params | sort | uniq -d | wc -l)" 0
best=$(tail -1 <<<"$out")
is 'best has params, value, lo and hi' "$(jq -c '[.params, .value, .lo, .hi] | map(. != null) | all' <<<"$best")" true
ok 'in order' holds '.lo <= .value and .value <= .hi' "$best"
ok 'and it is good' holds '.value < 0.2 and .params.mode == "b"' "$best"
first=$out
run drive 3 25
is 'a seed repeats it all' "$out" "$first"
run drive 4 25
unlike 'another does not' "$out" "^$first$"

run bash -c "printf '%s\n' 'no json' '{\"tell\":5,\"value\":1}' '{\"ask\":2}' '{\"what\":1}' | '$SONDE' tune serve space.yml"
is 'wrong lines end nothing' "$status" 0
is 'each is answered' "$(jq -r 'has("error")' <<<"$out" | tr '\n' ' ')" 'true true false false true '
is 'one line each' "$(wc -l <<<"$out")" 5
run "$SONDE" tune serve
is 'serve without a study is a usage error' "$status" 2
run "$SONDE" tune serve none.yml
is 'a study that is not there is a failure' "$status" 1
like 'which is named' "$err" "none.yml.*No such file"

done_testing
