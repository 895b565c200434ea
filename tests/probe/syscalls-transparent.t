#!/bin/bash
# --syscalls changes nothing of what a program does: signals, stops, interrupted calls, exec, vfork, threads, its end.
. "$(dirname "$0")/../lib/tap.sh"

[[ -x ${UPRIGHT:-} ]] || skip_service 'no static C library here (libc6-dev)'
BUSY=$(command -v busybox) || skip_service 'busybox is not installed'
mkdir bare watched
bash -c 'cd bare && exec "$@"' bash "$UPRIGHT" >bare.out 2>bare.err
bare=$?
run bash -c 'cd watched && exec "$@"' bash "$SONDE" record -o run --probes trace --syscalls -- "$UPRIGHT"
is 'it ends in the same way' "$status" "$bare"
is 'it prints the same' "$out" "$(cat bare.out)"
is 'and nothing else' "$err" "$(cat bare.err)"
ok 'its calls were seen' test "$(jq '.probes[] | select(.name == "syscalls").events' watched/run/run.json)" -gt 1600
is 'an interrupted call is one row' "$("$SONDE" events --json watched/run | jq -c 'select(.call == "read" and .ret <= 1 and
	(.path // "" | startswith("pipe:"))) | [.ret, .errno]' | paste -sd' ')" '[-1,4] [1,0] [1,0] [1,0]'

# A recorder that dies does not take the program with it.
"$SONDE" record -o killed --probes trace --syscalls -- sh -c "echo \$\$ >pid; \"$BUSY\" sh -c 'sleep 1; echo still here >alive'" 2>/dev/null &
recorder=$!
for _ in $(seq 1200); do [[ -s pid ]] && break; sleep 0.05; done
watcher=$(pgrep -P $recorder -x sonde-watcher)
kill -9 $recorder
wait $recorder 2>/dev/null
for _ in $(seq 1200); do [[ -e alive ]] && break; sleep 0.05; done
is 'a program whose recorder is killed goes on' "$(cat alive 2>/dev/null)" 'still here'
for _ in $(seq 1200); do [[ -n $watcher && -e /proc/$watcher ]] || break; sleep 0.05; done
ok 'its watcher was there' test -n "$watcher"
ok 'and is no more' test ! -e "/proc/$watcher"
run "$SONDE" recover killed
is 'its run can be completed' "$status" 0

if (($(id -u) == 0)) && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$UPRIGHT"; then
	# An ordinary user: the same, and programs with rights of their own keep them.
	chmod 755 .
	mkdir home
	chown 65534 home
	as_nobody() { (cd home && setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
	run as_nobody "$SONDE" record -o run --probes trace --syscalls -- "$UPRIGHT"
	is 'for an ordinary user too' "$out" "$(cat bare.out)"
	cp "$(command -v id)" setuid-id && chmod u+s,a+rx setuid-id
	run as_nobody "$SONDE" record -o setuid --probes trace --syscalls -- "$TEST_DIR/setuid-id" -u
	is 'a setuid program keeps its rights' "$out" "$(as_nobody "$TEST_DIR/setuid-id" -u)"
	run as_nobody "$SONDE" record -o setuid2 --probes trace --syscalls -- "$BUSY" sh -c "$TEST_DIR/setuid-id -u"
	is 'from a program that is watched as well' "$out" "$(as_nobody "$BUSY" sh -c "$TEST_DIR/setuid-id -u")"
	run as_nobody "$SONDE" record -o setuid3 --probes trace --syscalls -- sh -c "$TEST_DIR/setuid-id -u; $TEST_DIR/setuid-id -u"
	is 'from one that the tracer sees' "$out" "$(as_nobody sh -c "$TEST_DIR/setuid-id -u; $TEST_DIR/setuid-id -u")"
	by_fd="import os; os.execve(os.open('$TEST_DIR/setuid-id', os.O_RDONLY), ['id', '-u'], {})"
	run as_nobody "$SONDE" record -o setuid4 --probes trace --syscalls -- /usr/bin/python3 -c "$by_fd"
	is 'by a descriptor' "$out" "$(as_nobody /usr/bin/python3 -c "$by_fd")"
else
	skip 'an ordinary user' 'only root can become somebody else'
fi
done_testing
