#!/bin/bash
# Two copies of a program run at once only if the user wants it, or if one recorded execution shows that they do not collide.
. "$(dirname "$0")/../lib/tap.sh"

field() { /usr/bin/python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" <<<"$out"; }

# Each fails if another copy runs.
cat >one <<'E2'
#!/bin/sh
mkdir lock.d 2>/dev/null || { echo "another copy runs" >&2; exit 1; }
sleep "$1"
rmdir lock.d
E2
chmod +x one

run "$SONDE" duet -a './one 0.002' -b './one 0.006' --budget 30s --json
is 'a program with a lock of its own is compared' "$(field 'r["verdict"] in ("slower", "inconclusive")')" True
is 'one after the other' "$(field 'r["design"]')" rmit
like 'and why' "$(field 'r["why_in_turn"]')" "A calls mkdir"
for try in 1 2 3; do
	run "$SONDE" duet -a "flock -n lk sleep 0.002" -b "flock -n lk sleep 0.006" --budget 30s --json
	is "flock, try $try" "$(field 'r["design"]')" rmit
done
run "$SONDE" duet -a "sh -c 'echo x >file'" -b "sh -c 'sleep 0.004; echo x >file'" --budget 30s
like 'a written file is a reason' "$out" "since A writes '[^']*/file'"
run "$SONDE" duet -a "sh -c 'cat one >/dev/null'" -b "sh -c 'sleep 0.004; cat one >/dev/null'" --budget 30s --json
is 'reading a file and writing to /dev/null is none' "$(field '"why_in_turn" in r')" False
run "$SONDE" duet -a true -b true --prepare true --budget 30s --runs 10 --json
like 'commands around each execution are one' "$(field 'r["why_in_turn"]')" 'around each execution'
run "$SONDE" duet -a './one 0.05' -b './one 0.05' --design async --runs 2 --pairs 2
is 'who asks for both at once has them' "$status" 1
like 'with the failure of the program' "$err" 'another copy runs'

done_testing
