#!/bin/bash
# --syscalls by perf's tracepoints: calls, results, sizes and descriptors are those that the other ways see; a name is right
# or absent. It is the way where BPF cannot be loaded, and ptrace is the one where neither can.
. "$(dirname "$0")/../lib/tap.sh"

[[ -x ${NAMES:-} ]] || skip_service 'no static C library here (libc6-dev)'
(($(id -u) == 0)) || skip_all 'only root may open tracepoints'
# tracefs in a mount namespace of our own: the machine stays as it is.
traced() { unshare --mount bash -c 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' bash "$@"; }
untraced() { unshare --mount bash -c '! mountpoint -q /sys/kernel/tracing || umount -R /sys/kernel/tracing && exec "$@"' bash "$@"; }
traced true 2>/dev/null || skip_all 'tracefs cannot be mounted here'
mkdir work
probe() { jq -r --arg key "$2" '.probes[] | select(.name == "syscalls")[$key]' "$1/run.json"; }
# What was called, and what came of it. What perf cannot know: paths, offsets that depend on them, sizes of vectors, and so
# whether a path was empty, which makes fstat of fstatat.
numbers() {
	"$SONDE" events --json "$1" | jq -c 'select(.category != "process") | if .call == "fstat" then .call = "fstatat" | .fd = null else . end |
		[.call, .fd, .ret, .errno, (if .call == "readv" or .call == "writev" then null else .size end), .error, .process]' |
		sed -E 's/("mmap",[^,]*),[0-9]{12,}/\1,0/'
}

run traced "$SONDE" record -v -o perf --probes trace --syscalls-by perf -- "$TWIN_STATIC" work
is 'a static program ends as it should' "$status" 7
is 'by perf' "$(probe perf by)" perf
is 'nothing was lost' "$(probe perf lost)" 0
like 'that paths are not known is said' "$err" 'syscalls: .*calls were given a path that is not known'
is 'and counted' "$(probe perf unnamed)" "$("$SONDE" events --json perf | jq -r 'select(.path == null and (.fd == null or .call == "open" or .call == "openat")) | .call' |
	grep -cvE '^(sync|munmap|close_range)$')"
for way in bpf ptrace; do
	run traced "$SONDE" record -q -o $way --probes trace --syscalls-by $way -- "$TWIN_STATIC" work
	if [[ $(probe $way state) == ran ]]; then
		is "the calls are those that $way sees" "$(numbers perf)" "$(numbers $way)"
	else
		skip "the calls are those that $way sees" "$(probe $way reason)"
	fi
done
is 'its processes are known' "$("$SONDE" events --table process --json perf | jq -c '[.process, .parent, .exit_code]')" \
	"$(printf '[1,null,7]\n[2,1,3]')"
# A name that is there is the one that ptrace saw at that call.
wrong() { paste -d' ' <(paths perf) <(paths ptrace) | awk '$1 != "null" && $1 != $2' | wc -l; }
paths() { "$SONDE" events --json "$1" | jq -c 'select(.category != "process").path'; }
is 'no name is another one' "$(wrong)" 0

# Files that stay open until the recorder has looked.
run traced "$SONDE" record -q -o lasting --probes trace --syscalls-by perf -- "$NAMES" lasting work
is 'files that last' "$status" 0
of() { "$SONDE" events --json lasting | jq -r "select(.call == \"$1\" and (.fd // 0) > 2) | \"\(.path) $2\"" | paste -sd,; }
is 'have their names' "$(of write '\(.ret)')" "$(for n in 'one 1' 'two 2' 'three 3' 'two 2' 'three 3'; do echo "$PWD/work/$n"; done | paste -sd,)"
is 'and offsets' "$("$SONDE" events --json lasting | jq -c 'select(.call == "write" and (.path // "" | endswith("/three"))).offset' | paste -sd,)" 0,0
like 'sockets, too' "$("$SONDE" events --json lasting | jq -r 'select(.call == "socket").path')" '^socket:\[[0-9]+\]$'

# Descriptors that become another file's at once: never the other's name.
run traced "$SONDE" record -q -o fast --probes trace --syscalls-by perf -- "$NAMES" fast work 400
is 'files that come and go' "$status" 0
is 'nothing was lost of them' "$(probe fast lost)" 0
"$SONDE" events --json fast | jq -r 'select(.call == "write") | "\(.ret) \(.path // "-")"' | sed "s|$PWD/work/||" | sort | uniq -c >written
is 'every write is there' "$(awk '{n += $1} END {print n}' written)" 1600
is 'and none has the name of another file' "$(awk '$3 != "-" && $3 != ($2 == 1 ? "one" : $2 == 2 ? "two" : "three")' written)" ''
diag "$(awk '{n[$3 == "-"] += $1} END {printf "%d writes with a name, %d without", n[0], n[1]}' written), $(probe fast disbelieved) names read and not believed"

# The program notices nothing: signals, stops, interrupted calls, exec, vfork, threads.
mkdir bare watched
bash -c 'cd bare && exec "$@"' bash "$UPRIGHT" >bare.out 2>/dev/null
bare=$?
run traced bash -c 'cd watched && exec "$@"' bash "$SONDE" record -o run --probes trace --syscalls-by perf -- "$UPRIGHT"
is 'it does as without' "$status $out" "$bare $(cat bare.out)"
ok 'its calls were seen' test "$(probe watched/run events)" -gt 1600

# Which way is taken.
if unshare -pf --mount-proc true 2>/dev/null; then
	run traced unshare -pf --mount-proc "$SONDE" record -q -o without --probes trace --syscalls -- "$TWIN_STATIC" work
	is 'where BPF cannot be loaded it is perf' "$status $(probe without by)" '7 perf'
	is 'with the same calls' "$(numbers without)" "$(numbers ptrace)"
	run untraced unshare -pf --mount-proc "$SONDE" record -q -o last --probes trace --syscalls -- "$TWIN_STATIC" work
	is 'without tracepoints it is ptrace' "$status $(probe last by)" '7 ptrace'
else
	skip 'where BPF cannot be loaded it is perf' 'no namespace of processes can be made here'
fi
run untraced "$SONDE" record -v -o refused --probes trace --syscalls-by perf -- "$TWIN_STATIC" work
is 'perf alone, without tracepoints: the program runs' "$status" 7
like 'and it is said why there are no calls' "$err" 'syscalls: failed: the tracepoints of system calls are not there: tracefs is not mounted'

# A tree of both kinds: what the tracer sees is left to it.
run traced "$SONDE" record -q -o tree --probes trace --syscalls-by perf -- sh -c "\"$TWIN_STATIC\" work; \"$TWIN_DYNAMIC\" work; exec \"$TWIN_STATIC\" work"
is 'a tree of both kinds' "$status" 7
is 'each of the three once' "$("$SONDE" events --json tree | jq -r 'select(.call == "fdatasync").pid' | sort | uniq -c | awk '{print $1}' | paste -sd' ')" '1 1 1'

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
		run traced "$SONDE" record -q -o go --probes trace --syscalls-by perf -- ./from-go-program
		is 'a Go program ends as it should' "$status" 3
		is 'what it wrote and read is known' "$("$SONDE" events --json go | jq -r 'select(.ret == 11 and (.call == "write" or .call == "read")) | "\(.call) \(.size >= 11)"' |
			paste -sd,)" 'write true,read true'
	else
		skip_missing 'Go' "it does not build here: $(head -1 go.err)"
	fi
else
	skip_missing 'Go' 'no Go compiler here'
fi
done_testing
