#!/bin/bash
# What SOFA got wrong, each with the numbers it was found by: it does not happen here.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf
eval "$("$SONDE" env sofa)"

probe() { jq -r ".probes[] | select(.name == \"$2\").$3" "$1/run.json"; }

# 1. Without a counter of cycles its "CPU time" was a logarithm of addresses: a dd of 4.6 s took 2959 s.
run sofa --logdir cycles record --perf_events cycles "$TRUTH shares 40"
is 'cycles: the program ran' "$status" 0
cpu=$(jq .cpu_ns <<<"$out")
weight=$("$SONDE" events cycles --table sample --json | jq -s 'map(.weight_ns // 0) | add')
if [[ $(probe cycles cpu reason) == *cpu-clock* ]]; then
	like 'cycles: this machine has none, and that is said' "$(probe cycles cpu reason)" "cannot count 'cycles': cpu-clock was sampled instead"
	within 'cycles: seconds are seconds' "$weight" "$cpu" "$(cpu_bound cycles "$cpu")"
else
	ok 'cycles: this machine has them' test "$(probe cycles cpu events)" -gt 0
fi
is 'cycles: nothing is negative' "$("$SONDE" events cycles --table sample --json | jq -s 'map(select((.weight_ns // 0) < 0 or (.count // 0) < 0)) | length')" 0

# 2. A cluster's report died of a TypeError.
for ip in 10.0.0.1 10.0.0.2; do sofa --logdir "node-$ip" record "$TRUTH shares 5" >/dev/null; done
run sofa --logdir node report --cluster_ip 10.0.0.1,10.0.0.2
is 'cluster: the report of both hosts comes to its end' "$status" 0
is 'cluster: what both did is in it' "$("$SONDE" events node-cluster --table task --json | jq -s 'map(select(.name == "truth").pid) | unique | length')" 2
run sofa --logdir cycles report --cluster_ip 10.0.0.1,10.0.0.2
is 'cluster: a run of one host is refused' "$status" 2
like 'cluster: with what to do' "$err" '--cluster_ip: there is no run of 10.0.0.1'

# 3. diff wanted ./sofalog to exist, and died of a KeyError when it did.
"$SONDE" record -q -o one -- "$TRUTH" shares 10 >/dev/null
"$SONDE" record -q -o two -- "$TRUTH" shares 20 >/dev/null
ok 'diff: there is no sofalog' test ! -e sofalog
run sofa diff --base_logdir one --match_logdir two
ok 'diff: a verdict' test "$status" = 0 -o "$status" = 3
like 'diff: which of them took longer' "$out" 'slower|wall time'

# 4. Twenty clean iterations were "no available patterns", then a ValueError.
cat >steps.py <<'TEXT'
import sys
sys.path.insert(0, sys.argv[1])
import sonde
for i in range(20):
    open("/dev/null").close()
    sonde.step("round", i, float(i))
TEXT
run sofa --logdir steps --aisi_via_strace record "/usr/bin/python3 steps.py $SONDE_STAGE/lib/sonde/python"
if [[ $status == 0 ]]; then
	is 'iterations: all twenty' "$("$SONDE" events steps --table step --json | wc -l)" 20
	run sofa --logdir steps --enable_aisi analyze
	is 'iterations: the report comes to its end' "$status" 0
	like 'iterations: and names them' "$out" 'round'
else
	skip_missing 'iterations' "the Python package is not where this test looks: $(tail -1 <<<"$err")"
fi

cat >plain.py <<'TEXT'
import os
fd = os.open("plain.data", os.O_RDWR | os.O_CREAT, 0o600)
for i in range(20):
    for k in range(20):
        os.pwrite(fd, b"x", k)
    os.ftruncate(fd, 4096)
    os.fdatasync(fd)
TEXT
sofa --logdir plain --aisi_via_strace record "/usr/bin/python3 plain.py"
is 'iterations: twenty that nobody announced are found' "$("$SONDE" summary plain --json | jq '.iterations.by_name[0].count')" 20

# 5. 57850 packets became no row and killed the report; five downloads of it filled 1.85 GB.
/usr/bin/python3 - >port 2>/dev/null <<'TEXT' &
import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(8 << 20))
        self.end_headers()
        self.wfile.write(b"x" * (8 << 20))
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
print(server.server_port, flush=True)
server.serve_forever()
TEXT
server=$!
trap 'kill "$server" 2>/dev/null; tap_exit' EXIT
until [[ -s port ]]; do sleep 0.05; done
url=http://127.0.0.1:$(<port)/
run sofa --logdir net record --enable_tcpdump "curl -s -o /dev/null $url $url $url $url $url"
is 'packets: the program ran' "$status" 0
"$SONDE" record -q -o flows --net -- sh -c "for i in 1 2 3 4 5; do curl -s -o /dev/null $url; done" 2>why
if [[ $(probe flows net state) == ran ]]; then
	ok 'packets: each has a row' test "$("$SONDE" events net --table packet --json | wc -l)" -gt 100
	run sofa --logdir net report
	is 'packets: the report of them comes to its end' "$status" 0
	ok 'packets: there are flows' test "$("$SONDE" events flows --table flow --json | wc -l)" -ge 5
	ok 'packets: 40 MB of payload are not in the run' test "$(du -sk flows | cut -f1)" -lt 4096
	run "$SONDE" summary flows
	is 'packets: the report comes to its end' "$status" 0
else
	skip 'packets' "$(probe flows net reason)"
fi
kill "$server"

# 6. Counters under each other's names; a busy neighbour made an idle program "USR 100 %".
"$SONDE" record -q -o echo --rate 100 -- "$TRUTH" echo 3000 >/dev/null
switches=$("$SONDE" events echo --table counter --json | jq -s 'map(select(.name == "sched.switches")) | last.value')
ok 'labels: context switches are those that were made' test "${switches%.*}" -ge 6000
sh -c 'while :; do :; done' &
burner=$!
"$SONDE" record -q -o sleeper -- sleep 0.5
kill $burner
wait $burner 2>/dev/null
ok 'a neighbour'\''s time is not the program'\''s' test "$(jq '(.usage.user_ns + .usage.system_ns) * 10 < .wall_ns' sleeper/run.json)" = true
ok 'nor are its samples' test "$("$SONDE" events sleeper --table sample --json | jq -s --argjson run "$(<sleeper/run.json)" 'map(.weight_ns // 0) | (add // 0) * 10 < $run.wall_ns')" = true
is 'every row of counters is whole' "$("$SONDE" events echo --table counter --json | jq -s 'map(select(.ts_ns == null or .name == null or .value == null)) | length')" 0

# 7. Two tables of one report differed; functions that lie side by side fell into one.
"$SONDE" summary one --json >first
"$SONDE" summary one --json >second
ok 'two looks at one run are the same' cmp -s first second
"$SONDE" record -q -o often --freq 999 -- "$TRUTH" shares 30 >/dev/null # the rounds of 10 ms and 199 Hz would keep in step
"$SONDE" export --to folded -o folded often
ok 'neighbouring functions stay apart' test "$(grep -c ';thirty;' folded)" -gt 0 -a "$(grep -c ';seventy;' folded)" -gt 0

# 8. It wanted perf_event_paranoid -1, a compiler at run time and a directory made before; unquoted paths went to a shell;
# it killed whatever was called blktrace.
mkdir bare
for program in true sleep; do ln -s "$(type -P $program)" bare/; done
run env PATH="$PWD/bare:$(dirname "$(command -v sofa)")" sofa stat true
is 'no compiler, no perf program, no directory made before: stat works' "$status" 0
run sofa --logdir "a dir; touch pwned \$(touch pwned)" record "true"
is 'a strange path is a path' "$status" 0
ok 'and no command' test ! -e pwned
ok 'the run is there' test -e "a dir; touch pwned \$(touch pwned)/run.json"
cp "$(command -v sleep)" blktrace
./blktrace 100 &
theirs=$!
run sofa --logdir guest record "true"
run sofa --logdir guest clean
ok 'somebody else'\''s blktrace lives' kill -0 $theirs
kill $theirs
if (($(id -u) == 0)); then
	chmod 755 "$TEST_DIR"
	mkdir home && chown 65534:65534 home
	if (cd home && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$SONDE"); then
		(cd home && HOME=$PWD setpriv --reuid 65534 --regid 65534 --clear-groups "$(command -v sofa)" record "$TRUTH shares 5" >/dev/null 2>err)
		is "at perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid) an ordinary user can record" "$?" 0
		is 'with samples' "$(jq -r '.probes[] | select(.name == "cpu").state' home/sofalog/run.json)" ran
	else
		skip 'an ordinary user' 'cannot reach the build'
	fi
else
	skip 'an ordinary user' 'only root can become another user'
fi
done_testing
