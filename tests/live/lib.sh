# shellcheck shell=bash disable=SC2034 # what is set here is for the tests
# Applications with metrics and a sonde live that watches, for the tests here.
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python
LIVE_APP=$SOURCE_DIR/tests/live/app.py

# poll COMMAND...: until it succeeds; gives up after two minutes.
poll() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

# start_live FILE ARGUMENT...: sonde live in the background; its address is in FILE, its number in $live.
start_live() {
	local file=$1
	shift
	"$SONDE" live --listen 127.0.0.1:0 "$@" >"$file" 2>"$file.err" &
	live=$!
	poll test -s "$file" || diag "$(<"$file.err")"
}

# is_up: the application is ready, or will never be.
is_up() { test -e ready || ! kill -0 "$app" 2>/dev/null; }

# start_app NAME: an application of that name; its number is in $app; it ends when the file stop is there.
start_app() {
	rm -f ready stop
	"$SONDE" live run --name "$1" -- /usr/bin/python3 "$LIVE_APP" ready stop &
	app=$!
	poll is_up && test -e ready
}
