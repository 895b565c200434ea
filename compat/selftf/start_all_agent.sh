#!/bin/sh
# Start one agent a line of the file `slaves` ($SELFTF_HOME/slaves, else ./slaves; neither: one agent). This machine only.
here=$(dirname "$(readlink -f "$0")")
slaves=${SELFTF_HOME:-.}/slaves
count=1
if [ -e "$slaves" ]; then
	count=0
	while read -r host _ || [ -n "$host" ]; do
		case $host in
		'' | '#'*) ;;
		localhost | 127.0.0.1 | "$(uname -n)") count=$((count + 1)) ;;
		*)
			echo "start_all_agent.sh: '$host' in '$slaves' is another machine: the fleet's server listens on loopback" >&2
			exit 1
			;;
		esac
	done <"$slaves"
fi
exec "$here/../../../../../bin/sonde" fleet add --agents "$count"
