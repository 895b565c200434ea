#!/bin/bash
# promtool finds nothing wrong with what sonde live serves.
. "$(dirname "$0")/../lib/tap.sh"
command -v promtool >/dev/null || skip_service 'promtool is not installed'
. "$SOURCE_DIR/tests/live/lib.sh"

start_live url
start_app "promtool-test-$$"
curl -s -o page "$(<url)/metrics"
like 'the application is there' "$(<page)" "promtool-test-$$"
run promtool check metrics <page
is 'promtool is content' "$status$out$err" 0
touch stop
wait "$app"
kill "$live"
wait "$live"
done_testing
