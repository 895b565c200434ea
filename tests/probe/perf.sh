# shellcheck shell=bash
# What the tests of probes share. TRUTH is tests/probe/truth.c.

export XDG_CACHE_HOME=$TEST_DIR/cache

# Perf events can be had here, or the file is skipped.
needs_perf() {
	"$SONDE" record -q -o can --probes cpu -- true
	[[ $(jq -r '.probes[] | select(.name == "cpu").state' can/run.json) == ran ]] ||
		skip_service "no perf events: $(jq -r '.probes[] | select(.name == "cpu").reason' can/run.json)"
}

# near NAME GOT WANT RATIO: they differ by at most that part of WANT.
near() {
	if awk -v a="$2" -v b="$3" -v r="$4" 'BEGIN { d = a - b; exit !(a != "" && b != "" && (d < 0 ? -d : d) <= r * b) }'; then
		pass "$1"
	else
		fail "$1"
		diag "got $2, want $3 within $4 of it"
	fi
}

# within NAME GOT WANT BOUND: they differ by at most BOUND.
within() {
	if awk -v a="$2" -v b="$3" -v r="$4" 'BEGIN { d = a - b; exit !(a != "" && b != "" && (d < 0 ? -d : d) <= r) }'; then
		pass "$1 (within $4)"
	else
		fail "$1"
		diag "got $2, want $3 within $4"
	fi
}

# cpu_bound RUN NS: 2 % of NS, and what is perf's to count and not the CPU clocks': time that the hypervisor took, of which
# the machine's counters know in ticks of 10 ms.
cpu_bound() {
	local stolen
	stolen=$("$SONDE" events "$1" --table counter --json | jq -s 'map(select(.name == "cpu.all.steal_ns")) | last.value')
	awk -v ns="$2" -v s="$stolen" 'BEGIN { printf "%.0f", 0.02 * ns + s + 20000000 }'
}

# wait_for COMMAND...: until it succeeds, at most a minute.
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}
