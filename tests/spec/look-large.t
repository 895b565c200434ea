#!/bin/bash
# Ten million events are printed in order, and exported, within 1 GiB of address space.
. "$(dirname "$0")/../lib/tap.sh"

count=5000000
"$SONDE" record --overflow block -- dd if=/dev/zero of=/dev/null bs=1 count=$count 2>/dev/null
is 'all were recorded' "$("$SONDE" info --json | jq '[.calls[] | select(.call == "read" or .call == "write") | .count]|add')" \
	$((2 * count))
ulimit -v 1048576

# The time is the first key and has the same number of digits throughout: sorted as text is sorted by time.
"$SONDE" events --json --call read,write | tee >(cut -c 1-30 | LC_ALL=C sort -C; echo $? >order) | wc -l >lines
is 'events print them all' "$(<lines)" $((2 * count))
for _ in $(seq 100); do
	[[ -s order ]] && break
	sleep 0.1
done
is 'in the order of time' "$(<order)" 0
is 'the last ones are found' "$("$SONDE" events --json --call write --tail 3 | wc -l)" 3
is 'the trace has them all' "$("$SONDE" export | grep -c '"ph":"X".*"name":"\(read\|write\)"')" $((2 * count))
run "$SONDE" info
is 'info works' "$status" 0

done_testing
