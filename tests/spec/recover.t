#!/bin/bash
# A recorder that is killed costs the program nothing; what was written opens, and recover finishes the rest.
. "$(dirname "$0")/../lib/tap.sh"

cat >worker.py <<'PY'
import os, sys, time
with open("pid", "w") as f:
    f.write(str(os.getpid()))
fd = os.open("out", os.O_WRONLY | os.O_CREAT)
for i in range(2000):
    os.write(fd, b"x")
    if i == 1000:
        open("half", "w").close()
        while not os.path.exists("go on"):
            time.sleep(0.01)
open("finished", "w").close()
time.sleep(float(sys.argv[1]))
PY
# wait_for COMMAND...: until it succeeds, at most a minute.
wait_for() { for _ in $(seq 600); do "$@" && return 0; sleep 0.1; done; return 1; }

"$SONDE" record -o run --probes trace -- /usr/bin/python3 worker.py 0 &
front=$!
ok 'the program got half way' wait_for test -e half
rows() { "$SONDE" events run --json --call write --path "$PWD/out" 2>/dev/null | wc -l; }
is_flushed() { (($(rows) >= 1000)); }
ok 'the recorder has flushed' wait_for is_flushed
kill -9 $front
wait $front 2>/dev/null
touch 'go on'
ok 'the program goes on without its recorder' wait_for test -e finished
is 'and wrote what it would have' "$(stat -c %s out)" 2000

run "$SONDE" info run --json
is 'the bundle opens' "$status" 0
is 'and says that it is unfinished' "$(jq -r .state <<<"$out")" recording
ok 'what was flushed is there' is_flushed

ring_dir=$(jq -r .ring run/run.json)
ok 'run.json says where the rest is' test -d "$ring_dir"
run "$SONDE" recover run --json
is 'recover finishes it' "$status" 0
kept=$(jq .kept_rows <<<"$out")
lost=$(jq .lost_events <<<"$out")
ring=$(jq .ring_events <<<"$out")
ok "nothing vanished silently: $kept kept, $ring from the ring, $lost lost" test "$((kept + ring))" -gt 2000
is 'every write is there or counted as lost' \
	"$(($("$SONDE" events run --json --call write --path "$PWD/out" | wc -l) + lost))" "$((2000 + lost))"
is 'the state says so' "$("$SONDE" info run --json | jq -r .state)" recovered
is 'names survived' "$("$SONDE" info run --json | jq -r '.processes[0].exe' | grep -c python)" 1
ok 'the ring is gone' test ! -e "$ring_dir"
run "$SONDE" recover run
is 'recovering twice does no harm' "$status" 0

# Nobody empties the ring any more: what finds no room in it is counted.
rm -f half finished out 'go on'
"$SONDE" record -o small --process-memory 40K --probes trace -- /usr/bin/python3 worker.py 0 &
front=$!
wait_for test -e half
kill -9 $front
wait $front 2>/dev/null
touch 'go on'
wait_for test -e finished
for _ in $(seq 100); do run "$SONDE" recover small; [[ $status == 1 ]] || break; sleep 0.1; done
ok "what found no room is said: $out" grep -q 'dropped because the ring was full' <<<"$out"
lost=$(jq '.recovered.lost_events + .recovered.dropped_events' small/run.json)
ok 'every write is there or counted' \
	test "$(($("$SONDE" events small --json --call write --path "$PWD/out" | wc -l) + lost))" -ge 2000

# A program that still runs.
rm -f half finished out 'go on'
"$SONDE" record -o busy --probes trace -- /usr/bin/python3 worker.py 30 &
front=$!
wait_for test -e half
kill -9 $front
wait $front 2>/dev/null
run "$SONDE" recover busy
is 'a ring that a live process writes to is refused' "$status" 1
like 'with the way on' "$err" '--now'
run "$SONDE" recover busy --now
is '--now takes what is there' "$status" 0
touch 'go on'
ok 'and the program still goes on' wait_for test -e finished
kill "$(cat pid)"

# A run that is replaced takes the ring with it that its recorder left, but nobody else's.
rm -f half finished out 'go on'
"$SONDE" record -o again --probes trace -- /usr/bin/python3 worker.py 0 &
front=$!
wait_for test -e half
ring_dir=$(jq -r .ring again/run.json)
kill -9 $front
wait $front 2>/dev/null
touch 'go on'
wait_for test -e finished
cp -r again forged
mkdir precious
sed -i "s,\"ring\": .*,\"ring\": \"$PWD/precious\"," forged/run.json
run "$SONDE" record -f -o forged --probes trace -- true
ok 'what is no ring of ours is left alone' test -d precious
ok 'and the ring of another run' test -d "$ring_dir"
run "$SONDE" record -f -o again --probes trace -- true
is 'a run that was left unfinished can be replaced' "$status" 0
ok 'and its ring is gone' test ! -e "$ring_dir"

# A ring without a recorder.
LD_PRELOAD=$SONDE_STAGE/lib/libsonde.so SONDE_RING=$PWD/ring cat /etc/hostname >/dev/null
run "$SONDE" events ring --json
is 'a ring left by LD_PRELOAD alone can be read' "$status" 0
is 'and holds the read' "$(jq -r 'select(.path == "/etc/hostname" and .call == "read" and .ret > 0) | .call' <<<"$out" | sort -u)" read
ok 'it is not changed by that' test -f ring/control
done_testing
