#!/bin/bash
# A file size limit (ulimit -f) does not end the recorder, and changes nothing of what the program sees.
. "$(dirname "$0")/../lib/tap.sh"

# limited KIB COMMAND...: its output, and its status as the last line. Through a pipe, which has no limit.
limited() {
	local kib=$1
	shift
	(ulimit -f "$kib" && "$@" 2>&1 && echo "status $?" || echo "status $?") | cat
}

for kib in 0 1 20 200; do
	unlike "the recorder survives a limit of $kib KiB" "$(limited $kib "$SONDE" record -o "run-$kib" -- sh -c 'exit 7')" 'status 153'
done
like 'what it cannot write is its error' "$(limited 0 "$SONDE" record -o none -- true)" 'sonde: .*File too large.*status 125'
is 'the program has its own output and status' "$(limited 20 "$SONDE" record -q -o status -- sh -c 'echo mine; exit 7')" $'mine\nstatus 7'

# The signal is the program's own business: it ends it, or is ignored as its parent had it.
for before in true 'trap "" XFSZ'; do
	bare=$(eval "$before"; limited 20 dd if=/dev/zero of=big bs=100000 count=1 status=none)
	is "the program gets the signal as without us ($before)" \
		"$(eval "$before"; limited 20 "$SONDE" record -q -f -o big-run -- dd if=/dev/zero of=big bs=100000 count=1 status=none)" "$bare"
done
done_testing
