#!/bin/bash
# --syscalls: a static program leaves the same table io as its dynamic twin under the tracer, and so do others that the
# tracer cannot see; nothing is counted twice.
. "$(dirname "$0")/../lib/tap.sh"

[[ -x ${TWIN_STATIC:-} ]] || skip_service 'no static C library here (libc6-dev)'
mkdir work

# calls RUN: what was done to files, without what differs from run to run.
calls() {
	"$SONDE" events --json "$1" | jq -c 'select(.category != "process") | [.call, .path, .path2, .fd, .ret, .errno, .size, .offset,
		.category, .error, .text, .args, .process]' | sed -E 's/"address":[0-9]+/"address":0/; s/("mmap",[^,]*,[^,]*,[0-9]*),[0-9]{12,}/\1,0/; s/("munmap",.*)"address":[0-9]+/\1/' |
		grep -v '/proc/self/exe' # static programs look where they are
}
probe() { jq -r --arg key "$2" '.probes[] | select(.name == "syscalls")[$key]' "$1/run.json"; }

run "$SONDE" record -o dynamic --probes trace -- "$TWIN_DYNAMIC" work
is 'the dynamic twin ends as it should' "$status" 7
run "$SONDE" record -o blind --probes trace -- "$TWIN_STATIC" work
is 'the static one cannot be traced' "$(calls blind | wc -l)" 0
run "$SONDE" record -v -o static --probes trace --syscalls -- "$TWIN_STATIC" work
is 'and ends as it should' "$status" 7
is 'with --syscalls its table is that of the dynamic one' "$(calls static)" "$(calls dynamic)"
ok 'which is not empty' test "$(calls static | wc -l)" -gt 50
is 'its processes have rows' "$("$SONDE" events --table process --json static | jq -c '[.process, .parent, .exit_code]')" \
	"$(printf '[1,null,7]\n[2,1,3]')"
is 'with their calls' "$("$SONDE" events --table process --json static | jq .events | paste -sd+ | bc)" "$(probe static events)"
like 'the end says how many' "$err" 'syscalls: [0-9]+ events, '
is 'the summary reads it' "$("$SONDE" summary --json static >/dev/null 2>&1; echo $?)" 0

run "$SONDE" record -o both --probes trace --syscalls -- "$TWIN_DYNAMIC" work
is 'a dynamic program is left to the tracer' "$(probe both events)" 0
is 'and is not counted twice' "$(calls both)" "$(calls dynamic)"
run "$SONDE" record -o alone --probes syscalls -- "$TWIN_STATIC" work
is 'without the tracer it works too' "$(calls alone | jq -c 'del(.[12])')" "$(calls static | jq -c 'del(.[12])')"
run "$SONDE" record -o filtered --probes trace --syscalls --include "$TEST_DIR/work/d" -- "$TWIN_STATIC" work
run "$SONDE" record -o as_filtered --probes trace --include "$TEST_DIR/work/d" -- "$TWIN_DYNAMIC" work
is 'filters are the same' "$(calls filtered)" "$(calls as_filtered)"
run "$SONDE" record -o only --probes trace --syscalls --only meta -- "$TWIN_STATIC" work
is 'categories too' "$(calls only | jq -r '.[8]' | sort -u)" meta

# An ordinary user's are watched by stops, root's by the kernel where that can be had: the same table.
if (($(id -u) == 0)) && chmod 755 . && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$TWIN_STATIC"; then
	mkdir -p home/work && chown -R 65534 home
	as_nobody() { (cd home && setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
	run as_nobody "$SONDE" record -o static --probes trace --syscalls -- "$TWIN_STATIC" work
	is 'for an ordinary user it ends as it should' "$status" 7
	run as_nobody "$SONDE" record -o dynamic --probes trace -- "$TWIN_DYNAMIC" work
	is 'and leaves the same table' "$(calls home/static)" "$(calls home/dynamic)"
	is 'by ptrace' "$(probe home/static by)" ptrace
else
	skip 'an ordinary user' 'only root can become somebody else'
fi

# A tree of both kinds, and one that clears its environment.
run "$SONDE" record -o tree --probes trace --syscalls -- sh -c "\"$TWIN_STATIC\" work; env -i \"$TWIN_DYNAMIC\" work; exit 5"
is 'a tree of both kinds' "$status" 5
per_pid() { "$SONDE" events --json tree | jq -r 'select(.call == "fdatasync").pid' | sort | uniq -c | awk '{print $1}' | paste -sd' '; }
is 'each of the two that only the kernel saw, once' "$(per_pid)" '1 1'

if command -v busybox >/dev/null && ! readelf -lW "$(command -v busybox)" | grep -q INTERP; then
	echo content >from
	run "$SONDE" record -o busy --probes trace --syscalls -- busybox cp from to
	is 'busybox copies' "$(cat to)" content
	is 'what it copied is known' "$("$SONDE" events --json busy | jq -s '[.[] | select((.call == "sendfile" and
		(.path | endswith("/from"))) or (.call == "write" and (.path | endswith("/to")))).ret] | add')" 8
else
	skip_missing 'busybox' 'it is not installed, or dynamic'
fi
if command -v go >/dev/null; then
	cat >main.go <<'GO'
package main

import "os"

func main() {
	if err := os.WriteFile("from-go", []byte("eleven byte"), 0o600); err != nil {
		os.Exit(1)
	}
	if b, err := os.ReadFile("from-go"); err != nil || len(b) != 11 {
		os.Exit(2)
	}
	os.Exit(3)
}
GO
	if GOCACHE=$TEST_DIR/cache GOFLAGS=-mod=mod GO111MODULE=off HOME=$TEST_DIR go build -o from-go-program main.go 2>go.err; then
		run "$SONDE" record -o go --probes trace --syscalls -- ./from-go-program
		is 'a Go program ends as it should' "$status" 3
		is 'what it wrote and read is known' "$("$SONDE" events --json go | jq -r 'select(.path == "'"$TEST_DIR"'/from-go" and
			(.call == "write" or .call == "read")) | "\(.call) \(.ret)"' | paste -sd,)" 'write 11,read 11,read 0'
	else
		skip_missing 'Go' "it does not build here: $(head -1 go.err)"
	fi
else
	skip_missing 'Go' 'no Go compiler here'
fi
done_testing
