#!/bin/bash
# What runs beside a session's application: companions that are ready first, tools whose files join the run; sweeps.
. "$(dirname "$0")/../lib/tap.sh"
APP=$SONDE_TEST_APP

port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >app.yml <<END
name: with companion
command: [ /usr/bin/python3, -c, "import os, sys, time, urllib.request\nwhile not os.path.exists('looking'):\n  time.sleep(0.05)\nsys.stderr.write(urllib.request.urlopen('http://127.0.0.1:$port/app.yml').read(4).decode())" ]
companions:
  - name: web
    command: [ /usr/bin/python3, -m, http.server, --bind, 127.0.0.1, "$port" ]
    ready: { port: $port, timeout: 60s }
tools:
  - name: clock
    command: [ sh, -c, "trap 'touch ended; exit' INT; date +%s >begun; echo looking; touch $TEST_DIR/looking; while :; do sleep 0.05; done" ]
outputs: [ html, json ]
END
run "$SONDE" session app.yml -o out
is 'the companion was ready before the application' "$status" 0
like 'which could speak to it' "$err" 'name'
is 'what a tool prints is kept' "$(<out/tools/clock/stdout)" looking
ok 'and what it writes, to its end' test -e out/tools/clock/begun -a -e out/tools/clock/ended
like 'the profile is a page too' "$(<out/profile.html)" '<h1>with companion</h1>.*max_rss_bytes'
ok 'the companion is gone' eval "! (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null"

cat >asked.yml <<END
command: [ cat, made ]
companions:
  - name: maker
    command: [ sh, -c, "sleep 0.3; echo ready >made.new; mv made.new made; exec sleep 300" ]
    ready: { command: [ test, -s, made ], timeout: 60s }
END
run "$SONDE" session asked.yml -o asked
like 'a command can say that a companion is ready' "$status $err" '0 .*ready'

sed -e 's/^    ready:.*/    ready: { file: never, timeout: 300ms }/' app.yml >late.yml
run "$SONDE" session late.yml -o late
like 'a companion that is never ready is said to be' "$status $err" "1 .*'web' was not ready in time"
sed -e 's/^    command: \[ .usr.*/    command: [ "false" ]/' app.yml >gone.yml
run "$SONDE" session gone.yml -o gone
like 'and one that ends' "$status $err" "1 .*exited before it was ready"

cat >sweep.yml <<END
command: [ $APP ]
args: "8 {pause}"
sweep: { over: pause, values: [ 300, 100, 1 ], metric: steps_per_second, tolerance: 0.05 }
END
run "$SONDE" session sweep.yml -o sweep --json
is 'a sweep runs' "$status" 0
is 'every point' "$(jq -r '[.sweep.points[].value] | join(" ")' sweep/profile.json)" '300 100 1'
is 'the fastest is recommended' "$(jq -r .sweep.recommended sweep/profile.json)" 1
ok 'each has its run' test -e sweep/sweep/3/run.json
printf 'command: ["true"]\nsweep: { over: cpus, values: [ 1 ] }\n' >bad.yml
run "$SONDE" session bad.yml
like 'a sweep of one is none' "$status $err" '1 .*at least two'
if "$SONDE" live run --group -- true 2>/dev/null; then
	cat >cpus.yml <<END
command: [ /usr/bin/python3, -c, "import sonde\nfor i in range(150):\n  sum(range(60000))\n  sonde.step('frame', i)" ]
env: { PYTHONPATH: $SONDE_STAGE/lib/sonde/python }
sweep: { over: cpus, values: [ 1, 0.9, 0.02 ], tolerance: 0.5 }
END
	run "$SONDE" session cpus.yml -o cpus --json
	like 'over limits: a fiftieth of a processor is too little' "$status $(jq -r .sweep.recommended cpus/profile.json)" '^0 (1|0.9)$'
	cat >forks.py <<'END'
import os, signal
children = []
try:
    while len(children) < 100:
        child = os.fork()
        if not child:
            signal.pause()
        children.append(child)
    print("forks: no end")
except OSError as err:
    print("forks:", err.strerror, len(children) < 12)
for child in children:
    os.kill(child, signal.SIGKILL)
END
	printf 'command: [ /usr/bin/python3, forks.py ]\nlimits: { pids: 12 }\n' >pids.yml
	run "$SONDE" session pids.yml -o pids
	like 'processes are limited' "$status $err" '0 .*forks: Resource temporarily unavailable True'
else
	skip 'over limits: a fiftieth of a processor is too little' 'no control group can be made here'
	skip 'processes are limited' 'no control group can be made here'
fi
done_testing
