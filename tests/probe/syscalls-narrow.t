#!/bin/bash
# --syscalls: calls of a 32-bit program have other numbers. They are not taken for those of a 64-bit one; that they are
# missing is said, and what such a program executes is seen again.
. "$(dirname "$0")/../lib/tap.sh"

[[ -x ${TWIN_STATIC:-} ]] || skip_service 'no static C library here (libc6-dev)'
cc -m32 -nostdlib -static -o narrow "$SOURCE_DIR/tests/probe/narrow.S" 2>/dev/null || skip_all 'the compiler makes no 32-bit programs'
./narrow /bin/true >/dev/null 2>&1 || skip_all 'the kernel runs no 32-bit programs'
mkdir work
traced() { unshare --mount bash -c 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"' bash "$@"; }
((EUID)) && traced() { "$@"; }
probe() { jq -r --arg key "$2" '.probes[] | select(.name == "syscalls")[$key]' "$1/run.json"; }
calls() { "$SONDE" events --json "$1" | jq -c 'select(.category != "process") | [.call, .fd, .ret, .errno]' | sed -E 's/("mmap",[^,]*),[0-9]{12,}/\1,0/'; }

for way in bpf perf ptrace; do
	run traced "$SONDE" record -v -o $way --probes trace --syscalls-by $way -- ./narrow "$TWIN_STATIC" work
	is "$way: it ends as it should" "$status" 7
	is "$way: it writes what it should" "$(head -2 <<<"$out" | paste -sd' ')" 'narrow narrow'
	if [[ $(probe $way state) != ran ]]; then
		skip "$way: calls" "$(probe $way reason)"
		continue
	fi
	traced "$SONDE" record -q -o $way-alone --probes trace --syscalls-by $way -- "$TWIN_STATIC" work >/dev/null
	is "$way: calls are those of the program behind it alone" "$(calls $way)" "$(calls $way-alone)"
	is "$way: what was not seen is counted" "$(probe $way foreign)" 1
	like "$way: and said" "$err" 'syscalls: .*calls of 1 32-bit programs are not known'
	is "$way: its processes are known" "$("$SONDE" events --table process --json $way | jq -s 'map(.pid) | unique | length')" 3
done

if ((EUID == 0)) && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$TWIN_STATIC"; then
	chmod 755 .
	mkdir home && chown 65534 home
	as_nobody() { (cd home && setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
	cp "$(command -v id)" setuid-id && chmod u+s,a+rx setuid-id
	run as_nobody "$SONDE" record -o setuid --probes trace --syscalls -- "$TEST_DIR/narrow" "$TEST_DIR/setuid-id" -u
	is 'a setuid program that it executes keeps its rights' "$out" "$(as_nobody "$TEST_DIR/narrow" "$TEST_DIR/setuid-id" -u)"
else
	skip 'an ordinary user' 'only root can become somebody else'
fi
done_testing
