#!/bin/sh
# Start one agent a line of the file `slaves` ($SELFTF_HOME/slaves, else ./slaves; neither: one agent here). Other hosts are
# reached by ssh; for them the monitor must be started with SELFTF_MASTER_NODE, an address of this machine that they reach.
here=$(dirname "$(readlink -f "$0")")
sonde=$here/../../../../../bin/sonde
slaves=${SELFTF_HOME:-.}/slaves
count=1
others=
if [ -e "$slaves" ]; then
	count=0
	while read -r host _ || [ -n "$host" ]; do
		case $host in
		'' | '#'*) ;;
		localhost | 127.0.0.1 | "$(uname -n)") count=$((count + 1)) ;;
		*) others=$others${others:+,}$host ;;
		esac
	done <"$slaves"
fi
if [ -n "$others" ]; then
	if [ -z "$SELFTF_MASTER_NODE" ]; then
		echo "start_all_agent.sh: '$slaves' names other machines ($others): start the monitor with SELFTF_MASTER_NODE=ADDRESS," \
			'one that they reach' >&2
		exit 1
	fi
	"$sonde" fleet add --agents 1 --hosts "$others" || exit
fi
[ "$count" = 0 ] || exec "$sonde" fleet add --agents "$count"
