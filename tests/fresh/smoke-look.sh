# shellcheck shell=bash
# Commands that read runs: info, events, summary, diff, query, recover, join, merge, preprocess, clean.

smoke_info() {
	want 'tar' sonde info --all "$RUN"
	want '"state": *"complete"' sonde info --json "$RUN"
	want '' sonde info --check "$RUN"
	fails 1 'does-not-exist' sonde info does-not-exist
}

smoke_events() {
	want 'write' sonde events "$RUN"
	want '"call":"(stat|newfstatat|faccessat|access|statx|__xstat)' sonde events --json --errors "$RUN"
	want '"exe":".*/tar"' sonde events --table process --json "$RUN"
}

smoke_summary() {
	want 'wall time' sonde summary --full "$RUN"
	want '^\{' sonde summary --json "$RUN"
}

smoke_diff() {
	local status=0
	sonde diff "$RUN" "$RUN-2" >out 2>err || status=$?
	[[ $status == 0 || $status == 3 ]] || { show "exit status $status" sonde diff; return 1; }
	status=0
	sonde diff --json "$RUN" "$RUN-2" >out 2>err || status=$?
	[[ $status == 0 || $status == 3 ]] && grep -q '^{' out
}

smoke_query() {
	want '^[1-9][0-9]*$' sonde query --csv "$RUN" "SELECT count(*) FROM io WHERE call = 'write'"
	want '"function"' sonde query --json "$RUN" 'SELECT function, self_ns FROM functions LIMIT 3'
	fails 1 'no such table' sonde query "$RUN" 'SELECT * FROM no_table'
}

smoke_recover() {
	local recorder
	sonde record -q -o killed --probes trace -- bash -c 'echo $$ >pid; for i in 1 2 3; do cat /etc/hostname; done; sleep 1000' >/dev/null &
	recorder=$!
	poll test -s pid
	poll sonde events --json --call open killed # something has been written
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null || true
	kill -TERM "$(<pid)"
	quietly sonde recover --now killed
	want '"state": *"recovered"' sonde info --json killed
}

smoke_join() {
	quietly sonde join -o both "$RUN" "$RUN-2"
	is_complete both
}

smoke_merge() {
	mkdir parts
	quietly sonde summary --part 0/2 -o parts "$RUN"
	quietly sonde summary --part 1/2 -o parts "$RUN"
	want 'wall time' sonde merge --full parts/*
}

smoke_preprocess() {
	cp -R "$RUN" copy
	quietly sonde preprocess copy
	is_complete copy
}

smoke_clean() {
	cp -R "$RUN" copy
	quietly sonde preprocess copy
	du -sk copy >before
	quietly sonde clean copy
	du -sk copy >after
	is_complete copy
}
