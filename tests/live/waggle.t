#!/bin/bash
# sonde env waggle: the failures of the original, pushed by an application that was written for it.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"
unset PYTHONPATH
eval "$("$SONDE" env waggle)"
LIVE_APP=$SOURCE_DIR/tests/live/old-app.py
export PYWAGGLE_LOG_DIR=$TEST_DIR/log

name=waggle-test-$$
start_live url
start_app "$name" || fail 'the application runs'
curl -s -o page "$(<url)/metrics"
sample() { grep -F "$1{app=\"$name\"${2-}} " page | sed 's/.* //'; }

is '999!, NaN and a word are rejected alone: what was fine stays' "$(sample sonde_app_factorial)" 120
is 'and counted' "$(sample sonde_rejected_updates_total)" 3
is 'the last of 100 000 pushes is there at once' "$(sample sonde_app_cars)" 99999
is 'a timer is a histogram of seconds' "$(sample sonde_app_inference_seconds_count)" 3
is 'a rate is steps' "$(sample sonde_steps_total ',step="fps"')" 3
like 'and a gauge' "$(sample sonde_app_fps_per_second)" '^[1-9]'
is 'a publication is a gauge' "$(sample sonde_app_env_count_car)" 3
seen() { /usr/bin/python3 -c "import json; print(json.load(open('ready'))['$1'])"; }
is 'a name that was not announced raises nothing and is counted' "$(seen rejected)" 2
is 'publish refuses what pywaggle refuses' "$(seen errors)" \
	"['ValueError', 'ValueError', 'TypeError', 'ValueError', 'TypeError']"
is 'data.ndjson is written as pywaggle does' "$(head -n 1 log/data.ndjson)" \
	'{"name": "env.count.car", "timestamp": "2023-11-14T22:13:20.123456789Z", "meta": {"camera": "top"}, "value": 3}'
like 'timeit publishes though its block raised' "$(sed -n 2p log/data.ndjson)" '"name": "env.inference".*"value": [1-9][0-9]*\}'
is 'and nothing else is there' "$(wc -l <log/data.ndjson)" 2

# An application that dies costs nothing and is gone.
child_of() { ps -o pid= --ppid "$1" | tr -d ' '; }
kill -KILL "$(child_of "$app")"
wait "$app"
is 'a killed application is told by its signal' "$?" 137
curl -s -o page "$(<url)/metrics"
is 'and is not shown any more' "$(grep -c "$name" page)" 0
kill "$live"
wait "$live"
is 'the server ends well' "$?" 0
done_testing
