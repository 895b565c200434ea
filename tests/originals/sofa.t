#!/bin/bash
# SOFA's introduction: each of its command lines, with a page of our own instead of the BBC's.
. "$(dirname "$0")/../lib/tap.sh"

command -v wget >/dev/null || skip_service 'wget is not here'
eval "$("$SONDE" env sofa)"

# A server for wget, on a free port; it prints the port and ends with this test.
mkdir site && echo 'the news' >site/news
/usr/bin/python3 -c '
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="site")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()' >port 2>/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null; tap_exit' EXIT
until [[ -s port ]]; do sleep 0.05; done
url=http://127.0.0.1:$(<port)/news

run sofa stat "wget $url"
is 'stat: the program ends well' "$status" 0
ok 'stat: wget fetched its page' test -s news
like 'stat: says where the time went' "$out$err" 'running +[0-9.]+ [mu]?s'
run sofa stat "wget -q $url" --profile_all_cpus
is 'stat --profile_all_cpus' "$status" 0

run sofa record "wget -q -O again $url"
is 'record' "$status" 0
ok 'record: wget fetched its page' cmp -s again site/news
ok 'record: the log directory is there' test -d sofalog
run sofa preprocess
is 'preprocess' "$status" 0
run sofa analyze
is 'analyze' "$status" 0
like 'analyze: prints statistics' "$out" '[0-9]'
run sofa report
is 'report' "$status" 0

# viz --viz_port: the page and the two that the introduction links to; a server holds the port until it is told to end.
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sofa viz --viz_port="$port" >viz.out 2>&1 &
viz=$!
trap 'kill "$server" "$viz" 2>/dev/null; tap_exit' EXIT
for ((i = 0; i < 200; i++)); do
	page=$(grep -o "http://[^ ]*${port}[^ ]*" viz.out | head -n 1)
	[[ $page ]] && break
	sleep 0.1
done
like 'viz says where to look' "$page" "^http://(127.0.0.1|localhost):$port"
for path in / /cpu-report.html /gpu-report.html; do
	code=$(curl -s -L -o page -c jar -b jar -w '%{http_code}' "$page")
	code=$(curl -s -L -o page -c jar -b jar -w '%{http_code}' "http://127.0.0.1:$port$path")
	is "viz answers $path" "$code" 200
	like "$path is a page" "$(<page)" '<html'
done
kill "$viz"
wait "$viz" 2>/dev/null

run sofa --cpu_filters="idle:black,tensorflow:orange" record "/usr/bin/python3 -c 'print(1)'"
is 'options before the word: --cpu_filters' "$status" 0
is 'the program prints what it prints' "$out" 1
run sofa --gpu_filters="tensorflow:orange" record "/usr/bin/python3 -c 'print(2)'"
is 'options before the word: --gpu_filters' "$status" 0
run sofa --logdir one record "true"
is 'a log directory of its own' "$status" 0
run sofa --logdir two record "true"
run sofa diff --base_logdir one --match_logdir two
ok 'diff: a verdict, whichever it is' test "$status" = 0 -o "$status" = 3
like 'diff: what changed' "$out" '^B is .*wall time'
run sofa clean --logdir one
is 'clean' "$status" 0

# Its collectors beside perf: packets, system calls, block devices, interfaces.
run sofa record --logdir net --enable_tcpdump --enable_strace --netstat_interface lo --blkdev /dev/null "wget -q -O third $url"
is 'record with tcpdump, strace, netstat and blktrace' "$status" 0
ok 'wget fetched its page' cmp -s third site/news
if (($(id -u) == 0)); then
	is 'packets of the fetch' "$("$SONDE" events --table flow --json net | jq -s "map(select(.destination_port == $(<port))) | length > 0 and
		(map(.payload_in) | add) > 9")" true
	ok 'each packet has a row' test "$("$SONDE" events --table packet --json net | wc -l)" -gt 5
else
	like 'packets, or why not' "$(jq -r '.probes[] | select(.name == "net").reason' net/run.json)" 'packet socket'
fi
is 'calls of static programs' "$(jq -r '.probes[] | select(.name == "syscalls").state' net/run.json)" ran
for word in block system; do
	ok "$word, or why not" test "$(jq -r ".probes[] | select(.name == \"$word\") | .state == \"ran\" or (.reason | length > 0)" net/run.json)" = true
done
run sofa record --network_filters 127000000001 true
is 'what has no equivalent is refused' "$status" 2
like 'with what to use instead' "$err" 'sonde events --table flow'

run sofa --help
like 'help' "$out" 'viz'

done_testing
