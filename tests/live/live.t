#!/bin/bash
# sonde live: what running applications say is served as it is now, and nothing of those that have ended.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"

name=live-test-$$
start_live url
server=$live
start_app "$name"

scrape() { curl -s -o "$TEST_DIR/page" -D "$TEST_DIR/headers" -w '%{http_code}' "$@"; }
# sample NAME [LABELS]: its value on the page.
sample() { grep -F "$1{app=\"$name\"${2-}} " page | sed 's/.* //'; }

is 'metrics need no token on loopback' "$(scrape "$(<url)/metrics")" 200
like 'text 0.0.4 is the usual' "$(<headers)" 'text/plain; version=0.0.4'
is 'a counter has its sum, under a proper name' "$(sample sonde_app_frames_seen_total)" 3
is 'a gauge its last finite value' "$(sample sonde_app_queue_depth)" 7
is 'what was no number is counted' "$(sample sonde_rejected_updates_total)" 1
is 'a histogram counts' "$(sample sonde_app_latency_seconds_count)" 3
is 'below a bound' "$(sample sonde_app_latency_seconds_bucket ',le="0.5"')" 2
is 'and above' "$(sample sonde_app_latency_seconds_bucket ',le="+Inf"')" 3
is 'steps are counted' "$(sample sonde_steps_total ',step="frame"')" 5
is 'with the times between them' "$(sample sonde_step_interval_seconds_count ',step="frame"')" 4
like 'which are more than nothing' "$(sample sonde_step_interval_seconds_sum ',step="frame"')" '[1-9]'
is 'and the last value' "$(sample sonde_step_value ',step="frame"')" 2
is 'one process' "$(sample sonde_processes)" 1
like 'that has memory' "$(sample sonde_resident_memory_bytes)" '^[1-9][0-9]{5,}$'
like 'the machine is there' "$(<page)" 'sonde_node_cpu_seconds_total\{mode="idle"\} [0-9]'
like 'with its free memory as free' "$(<page)" 'sonde_node_memory_free_bytes [0-9]'
like 'we are there' "$(<page)" 'process_resident_memory_bytes [1-9]'
like 'with our version' "$(<page)" 'sonde_build_info\{version="[0-9.]+[^"]*"\} 1'

scrape -H 'Accept: application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5' "$(<url)/metrics" >code
like 'OpenMetrics who asks for it' "$(<headers)" 'application/openmetrics-text; version=1.0.0'
is 'ends as it must' "$(tail -n 1 page)" '# EOF'
like 'and names families without _total' "$(<page)" '# TYPE sonde_app_frames_seen counter'

touch stop
wait "$app"
is 'the application returns its own code' "$?" 9
scrape "$(<url)/metrics" >code
is 'and is not shown any more' "$(grep -c "$name" page)" 0
kill "$server"
wait "$server"
is 'the server ends well' "$?" 0

# Boards that programs have scribbled over.
mkdir rings
dir=rings/sonde-$(id -u).abcdef
mkdir -m 700 "$dir"
cat >scribble.py <<'END'
import mmap, os, random, struct, sys, time
dir, version, pid = sys.argv[1], int(sys.argv[2]), os.getpid()
random.seed(1)
head = struct.pack("<QIIIIiiIIQqQ", 0x544e454d47455353, version, 2, 1, 0, pid, 1, 0, 0, 0, 2**62, 0)
kept = []
for i in range(20):
    board = struct.pack("<III", 0xffffffff, 0xffffffff, 0xffffffff) + random.randbytes(250000)
    if i % 2:  # metrics of a known kind with names that do not end, and histograms that are not there
        tail = struct.pack("<IIQQQQqQQ", 1 + i % 4, 0xffffffff - i, 1, 1, 0x7ff0000000000000, 1, 1, 0, 0)
        metrics = b"".join(b"%04d" % k + b"\xff\"\n\\" * 15 + tail for k in range(256))
        board = board[:64] + metrics + board[64 + len(metrics):]
    with open(f"{dir}/{i + 1}.board", "w+b") as file:
        file.write(head.ljust(4096, b"\0") + board)
        file.flush()
        if i < 19:
            kept.append(mmap.mmap(file.fileno(), 0))  # as those have it whose boards they are
open(f"{dir}/99.board", "wb").write(head)
os.symlink("/etc/passwd", f"{dir}/98.board")
open("scribbled", "w").close()
while not os.path.exists("erased"):
    time.sleep(0.05)
END
version=$(sed -n 's/^#define SONDE_SHM_VERSION \([0-9]*\)u$/\1/p' "$SOURCE_DIR/include/sonde/shm.h")
/usr/bin/python3 scribble.py "$dir" "$version" &
scribbler=$!
poll test -e scribbled
printf 'rings: [%s]\nseries: 3\n' "$TEST_DIR/rings" >live.yml
start_live url2 --config live.yml
is 'hostile boards are survived' "$(scrape "$(<url2)/metrics")" 200
ok 'and are no reason for bytes that are no text' iconv -f UTF-8 -t UTF-8 page -o /dev/null
is 'a board that nobody has is nobody'"'"'s' "$(sed -n 's/^sonde_processes{app="python3"} //p' page)" 19
ok 'what passes the cap is counted' test "$(sed -n 's/^sonde_live_dropped_series_total //p' page)" -gt 0
is 'twice' "$(scrape "$(<url2)/metrics")" 200
kill "$live"
wait "$live"
is 'the server still ends well' "$?" 0

touch erased
wait "$scribbler"

# A program that never heard of us, alone and as a shell's child; and a ring that calls another's process its own.
start_live url3
plain() {
	"$SONDE" live run --name "$1" "${@:2}" -- sh -c 'while [ ! -e plain.stop ]; do sleep 0.1; done' &
}
plain "plain-$name"
plain_app=$!
page_of() { curl -s -o page "$(<url3)/metrics" && sed -n "s/^$1 //p" page; }
shown() { test "$(page_of "sonde_processes{app=\"$1\"}")" = 1; }
poll shown "plain-$name"
is 'a program without a word of ours is shown' "$(page_of "sonde_processes{app=\"plain-$name\"}")" 1
like 'with its processor time' "$(page_of "sonde_cpu_seconds_total{app=\"plain-$name\"}")" '^[0-9.]+$'
like 'and its memory' "$(page_of "sonde_resident_memory_bytes{app=\"plain-$name\"}")" '^[1-9][0-9]{4,}$'
if "$SONDE" live run --group -- true 2>/dev/null; then
	plain "grouped-$name" --group
	grouped_app=$!
	poll shown "grouped-$name"
	is 'in a group of its own once, too' "$(page_of "sonde_processes{app=\"grouped-$name\"}")" 1
else
	grouped_app=$plain_app
	skip 'in a group of its own once, too' 'no control group can be made here'
fi
touch plain.stop
wait "$plain_app" "$grouped_app"
gone() { test -z "$(page_of "sonde_processes{app=\"plain-$name\"}")"; }
ok 'until it ends' poll gone
kill "$live"
wait "$live"
echo 9000000000000000000 >"$dir/$$.process"
start_live url4 --config live.yml
scrape "$(<url4)/metrics" >code
is 'but who only says so has nobody'"'"'s process' "$(grep -c '^sonde_processes{' page)" 0
kill "$live"
wait "$live"
run "$SONDE" live --listen 0.0.0.0:0
is 'an address that others reach needs a token' "$status" 2
run "$SONDE" live run -- /no/such/program
is 'a program that is not there is 127' "$status" 127
done_testing
