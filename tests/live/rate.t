#!/bin/bash
# Rates: how many a second while things happen, 0 when they do not any more; the counter beside; rules that look at it.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

cat >app.py <<'END'
import os
import time
import sonde
while not os.path.exists("stop"):
    if not os.path.exists("quiet"):
        sonde.rate("frames", 2)
        sonde.rate("read_bytes_per_second", 4096)
    sonde.rate("frames", float("inf"))
    sonde.metric_set("other_per_second", 5)
    sonde.rate("other", 1)
    time.sleep(0.01)
END
name=rate-$$
"$SONDE" live run --name "$name" -- /usr/bin/python3 app.py &
app=$!
cat >rules.yml <<END
interval: 100ms
journal: $TEST_DIR/journal.ndjson
rules:
  - { name: slow, when: 'sonde_app_frames_per_second{app="$name"} < 1', do: [ report the camera stands still ] }
END
start_live url --rules rules.yml
# sample NAME: its value, on a page that is fetched now.
sample() {
	curl -s -o page "$(<url)/metrics"
	sed -n "s/^$1{app=\"$name\"} //p" page
}
flows() { rate=$(sample sonde_app_frames_per_second) && test -n "$rate" && awk -v r="$rate" 'BEGIN { exit !(r > 0) }'; }
poll flows
# Two every 10 ms at least; at an end of the window there may be one more.
ok "frames a second, $rate, are possible ones" awk -v r="$rate" 'BEGIN { exit !(r > 0 && r <= 201) }'
like 'they are a gauge' "$(<page)" '# TYPE sonde_app_frames_per_second gauge'
like 'beside a counter' "$(<page)" '# TYPE sonde_app_frames_total counter'
like 'a name that ends like that has the ending once' "$(<page)" "sonde_app_read_bytes_per_second\\{app=\"$name\"\\} [1-9]"
like 'and its counter none' "$(<page)" "sonde_app_read_bytes_total\\{app=\"$name\"\\} [1-9]"
like 'what is no number is rejected alone' "$(<page)" "sonde_rejected_updates_total\\{app=\"$name\"\\} [1-9]"
is 'two of one name are not added up: one is left out' "$(grep -c "^sonde_app_other_per_second{app=\"$name\"}" page)" 1
like 'and counted' "$(<page)" 'sonde_live_dropped_series_total [1-9]'
if command -v promtool >/dev/null; then
	ok 'promtool finds nothing to mend' promtool check metrics <page
else
	skip 'promtool finds nothing to mend' 'prometheus, of the services, is not installed'
fi

touch quiet
stands() { test "$(sample sonde_app_frames_per_second)" = 0; }
poll stands
is 'when nothing happens any more it is 0' "$(sample sonde_app_frames_per_second)" 0
total=$(sample sonde_app_frames_total)
ok 'the counter stays' test "$total" = "$(sample sonde_app_frames_total)" -a "$total" -gt 0
poll grep -qs 'the camera stands still' journal.ndjson
like 'a rule looks at it' "$(<journal.ndjson)" 'sonde_app_frames_per_second.* = 0'
rm quiet
ok 'and it begins again' poll flows
touch stop
wait "$app"
is 'an application that has ended has none' "$(sample sonde_app_frames_per_second)" ''
kill "$live"
wait "$live"
is 'the server ends well' "$?" 0
done_testing
