#!/bin/sh
# Start the monitor, and the message server it needs, in the background: on loopback, or at $SELFTF_MASTER_NODE.
here=$(dirname "$(readlink -f "$0")")
for name in OS_SIZE NUM_ITER_PER_OS ONLINE_NUM_ITER_PER_OS; do
	if printenv "$name" >/dev/null; then
		echo "start_monitor.sh: $name is handed to the jobs; the monitor itself does not reconfigure them" >&2
	fi
done
exec "$here/../../../../../bin/sonde" fleet up --agents 0 ${SELFTF_MASTER_NODE:+--listen "$SELFTF_MASTER_NODE"}
