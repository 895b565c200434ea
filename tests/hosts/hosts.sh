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
