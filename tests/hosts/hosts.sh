# shellcheck shell=bash
# What the tests of several hosts share.
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"

# The marks of a run are where they were made, within the stated bound and the distance of the two clocks' readings (20 us).
marks_are_true() { # RUN MARKS COUNT
	local found worst bound
	read -r found worst bound < <(/usr/bin/python3 "$SOURCE_DIR/tests/hosts/truth.py" "$1" "$2")
	is "$1: every mark of every host is there" "$found" "$3"
	ok "$1: off by $worst ns at most, within the bound of $bound ns" test "$worst" -le $((bound + 20000))
}

# drift_of AHEAD_S PPM: for SONDE_TEST_DRIFT, a clock that starts to go wrong now; it is AHEAD_S of ours already.
drift_of() { /usr/bin/python3 -c 'import sys, time; print("%d,%s" % (time.monotonic_ns() + int(sys.argv[1]) * 10**9, sys.argv[2]))' "$1" "$2"; }

# drift_is_true RUN HOST PPM: what was measured is what was done, as well as the pings could tell.
drift_is_true() {
	local found
	found=$(jq --argjson i "$2" --argjson ppm "$3" '.hosts[$i].clock as $c |
		($c.drift_ppm - $ppm | fabs) * 1e-6 * .wall_ns <= 2 * $c.bound_ns + 20000' "$1/run.json")
	is "$1: the drift is the one that was made" "$found" true
	diag "drift: $(jq ".hosts[$2].clock.drift_ppm" "$1/run.json") ppm of $3, which moved it by $(jq ".wall_ns * $3 / 1000000 | round" "$1/run.json") ns;" \
		"bound $(jq ".hosts[$2].clock.bound_ns" "$1/run.json") ns"
}
