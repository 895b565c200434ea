# shellcheck shell=bash
# tap.sh: a small library for tests that are shell scripts and speak TAP.
#
#	#!/bin/bash
#	. "$(dirname "$0")/../lib/tap.sh"
#	plan 2                                  # or nothing here and done_testing alone
#	run "$SONDE" --version                  # sets $status, $out, $err
#	is 'exits with 0' "$status" 0
#	like 'names itself' "$out" '^sonde [0-9]'
#	done_testing
#
# Each test runs in a directory of its own ($TEST_DIR, removed at the end), so
# what it records into ./sonde-runs disturbs nobody. It is given:
#
#	SONDE        the staged program, $SONDE_STAGE/bin/sonde
#	SONDE_STAGE  the staged prefix (bin, libexec/sonde, lib, include, share)
#	SOURCE_DIR   the project's sources
#
# A test that cannot run says why: `skip NAME REASON` for one result, `skip_all
# REASON` for the file: what the kernel, the user or the load is to blame for.
# `skip_missing NAME REASON` and `skip_service REASON` are for what a test machine
# must offer (packages, servers, perf events): where CI=true they are failures.

set -u

SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${SONDE_STAGE:=$SOURCE_DIR/build}"
SONDE=$SONDE_STAGE/bin/sonde
TEST_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sonde-test.XXXXXX")
export SONDE_STAGE SONDE SOURCE_DIR TEST_DIR
unset SONDE_RUNS

tap_count=0
tap_failed=0
tap_plan=
tap_is_done=false

# Remove the temporary directory; a script that ends before done_testing has failed.
tap_exit() {
	local rc=$?
	cd /
	chmod -R u+rwx "$TEST_DIR" 2>/dev/null
	rm -rf "$TEST_DIR"
	if ! $tap_is_done; then
		printf 'Bail out! the test ended early, with status %s\n' "$rc"
		exit 1
	fi
}
trap tap_exit EXIT
cd "$TEST_DIR" || exit 1

# diag TEXT...: lines for the reader of a failure.
diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# plan N: N results will follow.
plan() {
	tap_plan=$1
	printf '1..%s\n' "$1"
}

# pass NAME, fail NAME: state one result; everything else ends here.
pass() {
	tap_count=$((tap_count + 1))
	printf 'ok %s - %s\n' "$tap_count" "$1"
}

fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %s - %s\n' "$tap_count" "$1"
	diag "at ${BASH_SOURCE[-1]}:${BASH_LINENO[-2]}"
	return 1
}

# ok NAME COMMAND...: the command succeeds.
ok() {
	local tap_name=$1 # not `name`: the command may use one of the test's
	shift
	if "$@" >&2; then # what it prints is no result
		pass "$tap_name"
	else
		fail "$tap_name"
		diag "failed: $*"
		return 1
	fi
}

# is NAME GOT WANT: the same text.
is() {
	if [[ $2 == "$3" ]]; then
		pass "$1"
	else
		fail "$1"
		diag "got:  $2"
		diag "want: $3"
		return 1
	fi
}

# like NAME TEXT REGEX: some part of the text matches the extended regular expression.
like() {
	if [[ $2 =~ $3 ]]; then
		pass "$1"
	else
		fail "$1"
		diag "text:       $2"
		diag "is unlike:  $3"
		return 1
	fi
}

# unlike NAME TEXT REGEX: no part of it does.
unlike() {
	if [[ ! $2 =~ $3 ]]; then
		pass "$1"
	else
		fail "$1"
		diag "text:     $2"
		diag "is like:  $3"
		return 1
	fi
}

# run COMMAND...: sets status, out (standard output) and err (standard error); never fails.
# shellcheck disable=SC2034 # they are for the test
run() {
	status=0
	"$@" >"$TEST_DIR/.out" 2>"$TEST_DIR/.err" || status=$?
	out=$(<"$TEST_DIR/.out")
	err=$(<"$TEST_DIR/.err")
}

# skip NAME REASON: this result cannot be had here.
skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %s - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# skip_missing NAME REASON: the same, but a failure where the machine has to offer it.
skip_missing() {
	[[ ${CI-} == true ]] || { skip "$@" && return; }
	fail "$1" || diag "needs what this machine must offer: $2"
}

# skip_all REASON: none of this file's can; ends the test.
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	tap_is_done=true
	exit 0
}

# skip_service REASON: as skip_all, but a failure where the machine has to offer it.
skip_service() {
	[[ ${CI-} == true ]] || skip_all "$1"
	fail "needs what this machine must offer: $1"
	done_testing
}

# done_testing: the last line of every test.
done_testing() {
	[[ -n $tap_plan ]] || printf '1..%s\n' "$tap_count"
	tap_is_done=true
	[[ $tap_failed == 0 ]]
	exit
}
