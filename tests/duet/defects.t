#!/bin/bash
# What was found wrong in the original, one by one. What needs containers is in suite.t: the wait for a shell that ignores
# SIGTERM, one deadline for both sides, all processes of a side ended, half results left out, exit codes.
. "$(dirname "$0")/../lib/tap.sh"

# pairs FILE-OF-A FILE-OF-B: the overlapping pairs as "a-b" with their overlap
pairs() {
	rm -rf pairs && mkdir pairs && printf '%b' "$1" >pairs/lines.x.0.duet.AB.A.t && printf '%b' "$2" >pairs/lines.x.0.duet.AB.B.t
	"$SONDE" duet overlaps pairs | tail -n +2 | cut -d , -f 5,6,7 | sed 's/,/-/; s/,/:/' | tr '\n' ' '
}

# 1. the sweep advanced the interval that began earlier, and missed pairs
is 'every overlap is found' "$(pairs '0 10\n10 20\n' '2 6\n6 12\n')" '0-0:4 0-1:4 1-1:2 '
cat >brute.py <<'EOS'
import os, random, subprocess
random.seed(11)


def side(low, high):
    at, rows = random.randrange(50), []
    for _ in range(40):
        length = random.randrange(low, high)
        rows.append((at, at + length))
        at += length + random.randrange(3)
    return rows


wanted = []
for trial in range(20):
    sides = {"A": side(90, 111), "B": side(99, 122)}
    for name, rows in sides.items():
        with open(f"brute/lines.x.{trial}.duet.AB.{name}.t", "w") as f:
            f.writelines(f"{s} {e}\n" for s, e in rows)
    wanted.append({(i, k) for i, a in enumerate(sides["A"]) for k, b in enumerate(sides["B"]) if min(a[1], b[1]) > max(a[0], b[0])})
out = subprocess.run([os.environ["SONDE"], "duet", "overlaps", "brute"], capture_output=True, text=True, check=True).stdout
got = [set() for _ in wanted]
for line in out.splitlines()[1:]:
    fields = line.split(",")
    got[int(fields[3])].add((int(fields[4]), int(fields[5])))
print("same" if got == wanted else "different", sum(map(len, wanted)) > 1000)
EOS
mkdir brute
is 'in runs of random lengths too, as each with each finds them' "$(/usr/bin/python3 brute.py)" 'same True'

# 2. the configuration of ScalaBench had no barrier in its synchronised runs
for suite in dacapo scalabench; do
	# shellcheck disable=SC2016 # '$$' is what stands there
	like "the preset of $suite waits at the barrier" "$("$SONDE" duet preset $suite | grep -A 2 syncduet_run_base)" '--iteration-barrier \$\$'
done

# 3. resampling few runs gives intervals that are too narrow: of three runs Student's t has 2 degrees of freedom
mkdir three
for i in 0 1 2; do
	printf '0 1000000\n' >three/lines.x.$i.seqn.None.A.t
	printf '0 %d\n' $((1000000 + 10000 * (i + 1))) >three/lines.x.$i.seqn.None.B.t
done
is 'three runs have the interval of Student'"'"'s t' "$("$SONDE" duet report three --json | /usr/bin/python3 -c '
import json, math, sys
r = json.load(sys.stdin)["benchmarks"][0]
x = [math.log(1 + i / 100) for i in (1, 2, 3)]
m = sum(x) / 3
s = math.sqrt(sum((v - m) ** 2 for v in x) / 2)
q = 1 - 0.044 / 2  # the guarded level; the quantile of t with 2 degrees of freedom in closed form
t = (2 * q - 1) / math.sqrt(2 * q * (1 - q))
print(all(abs(math.log(r[k]) - v) < 1e-9 for k, v in (("ratio", m), ("lo", m - t * s / math.sqrt(3)), ("hi", m + t * s / math.sqrt(3)))))')" True

# 4. overlaps of a table that parse wrote failed, and so did groups with less than two runs: see files.t

# 5, 6. containers: see suite.t; a deadline of more than a day, of which only the seconds counted: test_suite.c
for text in 'duetbench: {suite: s, duets: [x]}\nx: {A: {run: y}}' 'duetbench: {suite: s, image: i, results: [/r], duets: [x]}' \
	'duetbench: {suite: s, image: i, results: [], duets: [x]}\nx: {A: {run: y}}' 'duetbench: {suite: s, image: i, results: [/r]}\nx: {A: {run: y}}'; do
	printf '%b\n' "$text" >bad.yml
	run "$SONDE" duet --docker false -o bad bad.yml
	is "checked before anything runs: ${err%%$'\n'*}" "$status $(ls -d bad 2>/dev/null)" '1 '
done

# 7. times as floating-point numbers of 256 ns
mkdir exact && printf '1652640000123456789 1652640000123456890\n' >exact/lines.x.0.duet.AB.A.t
is 'times are exact to the nanosecond' "$("$SONDE" duet process exact --json | grep -o '"iteration_[a-z]*_ns": *[0-9]*' | sort | grep -o '[0-9]*$' | tr '\n' ' ')" '1652640000123456890 1652640000123456789 101 '
# ... and from two clocks: ours is one
run "$SONDE" duet -a true -b true --design sync --runs 2 --pairs 2 --no-self-check --budget 60s --json --samples
is 'both sides are on one clock, and overlap' "$(jq '[.samples[] | (.A[0][0] < .B[-1][1] and .B[0][0] < .A[-1][1])] | all' <<<"$out")" true

# 8. orders by chance alone; no pinning, no check of A against itself, no rule to stop, no size of the effect
run "$SONDE" duet -a true -b true --design rmit --runs 8 --pairs 1 --no-self-check --budget 60s --threshold 0% --level 99.99% --json --samples
is 'four runs have both orders twice' "$(jq -r '[.samples[].order] | .[0:4] | sort | join(" ")' <<<"$out")" 'AB AB BA BA'
run "$SONDE" duet -a 'sleep 0.001' -b 'sleep 0.001' --budget 4s --json
is 'A is compared with itself, and the rule that stopped it is told' "$(jq '.self_check.runs >= 2 and (.stop | IN("decided", "budget", "runs")) and .looks >= 1 and .runs_max >= .runs and .detectable > 0' <<<"$out")" true
if [ "$(nproc)" -ge 2 ]; then
	run "$SONDE" duet -a "sh -c 'taskset -p \$\$ >>a'" -b "sh -c 'taskset -p \$\$ >>b'" --shell --design sync --runs 4 --pairs 1 --no-self-check --budget 60s --threshold 0% --level 99.99%
	is 'sides that run at once have CPUs of their own, exchanged in turn' "$(sed 's/.*: //' a | sort -u | wc -l) $(sed 's/.*: //' b | sort -u | wc -l) $(paste a b | awk '{ if ($6 == $12) same++ } END { print same + 0 }')" '2 2 0'
else
	skip 'sides that run at once have CPUs of their own' 'there is one CPU'
fi

done_testing
