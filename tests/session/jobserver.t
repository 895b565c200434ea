#!/bin/bash
# The job server's queue outlives it; logs are streamed; what is queued can be cancelled.
. "$(dirname "$0")/../lib/tap.sh"
poll() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

cat >slow.sh <<'END'
#!/bin/sh
echo "hello $1"
until test -e "$2"; do sleep 0.1; done
echo "bye $1"
END
chmod +x slow.sh
printf 'apps:\n  slow: { command: [ %s/slow.sh ] }\n' "$TEST_DIR" >jobs.yml
start() {
	rm -f url
	"$SONDE" jobserver --listen 127.0.0.1:0 --token me:secret --config jobs.yml --dir jobs >url 2>server.err &
	server=$!
	poll test -s url
}
ask() { curl -s --user me:secret "$@"; }
submit() { ask "$(<url)/job/nx/buildWithParameters" --data-urlencode app_name=slow --data-urlencode "app_args=$1" | jq .number; }
state() { ask "$(<url)/jobs/$1" | jq -r .state; }
is_state() { test "$(state "$1")" = "$2"; }

start
one=$(submit "one $TEST_DIR/go") two=$(submit "two $TEST_DIR/go") three=$(submit "three $TEST_DIR/go")
poll is_state "$one" running
is 'one at a time' "$(state "$two")" queued
ask -X POST "$(<url)/jobs/$three/cancel" >/dev/null
is 'what waits can be cancelled' "$(state "$three")" cancelled
ask -N "$(<url)/jobs/$one/log/stream" >stream &
follower=$!
ok 'the log is streamed while it runs' poll grep -q 'data: hello one' stream

has_ring() { left=$(find jobs -path '*/run.json' -exec jq -r '.ring // empty' {} + | head -1) && [[ -n $left ]]; }
ok 'it is recorded' poll has_ring
kill -KILL "$server"
wait "$server" 2>/dev/null
wait "$follower"
touch go
start
poll is_state "$two" "done"
is 'what ran when the server was killed is run by the next' "$(state "$one")" "done"
ok 'of what was run again no ring is left' test ! -e "$left"
is 'and what waited' "$(state "$two")" "done"
is 'what was cancelled stays so' "$(state "$three")" cancelled
like 'each has its log' "$(ask "$(<url)/jobs/$two/log")" 'hello two.*bye two'
is 'and its profile' "$(ask "$(<url)/jobs/$two/artifacts/profile.json" | jq -r .sonde_profile)" 1
mkdir -p outside && echo secret >outside/file
ln -s "$TEST_DIR/outside/file" "jobs/$two/run/link" && mkfifo "jobs/$two/run/pipe" && ln -s outside "jobs/$two/run/dir"
for name in link pipe dir dir/file ../job.json %2e%2e/job.json .. nothing; do
	like "$name is no artifact" "$(ask -o /dev/null -w '%{http_code}' -m 20 --path-as-is "$(<url)/jobs/$two/artifacts/$name")" '^40[04]$'
done
unlike 'nor listed' "$(ask "$(<url)/jobs/$two/artifacts")" '"(link|pipe|dir)"'
is 'a stream of what has ended ends' "$(ask "$(<url)/jobs/$two/log/stream" | grep -c 'data: bye two')" 1
four=$(submit "four $TEST_DIR/go")
ok 'numbers go on' test "$four" -gt "$three"
poll is_state "$four" "done"
kill "$server"
wait "$server"
is 'the server ends well' "$?" 0

# As many as are remembered have been there: the next is taken all the same, and the oldest forgotten.
for ((i = 5; i <= 1100; i++)); do
	mkdir "jobs/$i" && cp "jobs/$two/job.json" "jobs/$i/job.json"
done
start
last=$(submit "five $TEST_DIR/go")
is 'after a thousand jobs another is taken' "$last" 1101
poll is_state "$last" "done"
is 'and done' "$(state "$last")" "done"
is 'a thousand are listed, the newest' "$(ask "$(<url)/jobs" | jq -c '[length, .[-1].number]')" '[1000,1101]'
kill "$server"
wait "$server"
done_testing
