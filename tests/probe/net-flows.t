#!/bin/bash
# --net: what each connection carried, exactly, and whose it was.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/net.sh"

(($(id -u) == 0)) || skip_all 'a network namespace of our own needs root'
in_net true 2>/dev/null || skip_all 'no network namespaces here'

# expect NAME FLOW TRUTH KEY=KEY...: fields of the flow are those of what the program says.
expect() {
	local name=$1 flow=$2 truth=$3 pair
	shift 3
	for pair in "$@"; do
		is "$name: ${pair%=*}" "$(jq -r ".${pair%=*}" <<<"$flow")" "$(jq -r ".${pair#*=}" <<<"$truth")"
	done
}
both=(pid=pid source_port=port peer_pid=peer_pid destination_port=peer_port payload_out=out payload_in=in)

for case in 'tcp 127.0.0.1 3000000 70000' 'tcp ::1 100000 5000000' 'udp 127.0.0.1 300 900' 'udp ::1 30 1'; do
	rm -rf run
	# shellcheck disable=SC2086 # a case is several words
	run in_net "$SONDE" record --net -o run -- "$NET_TRUTH" $case
	is "$case: it runs" "$status" 0
	flow=$(flows run)
	is "$case: one flow" "$(wc -l <<<"$flow")" 1
	expect "$case" "$flow" "$out" "${both[@]}"
	is "$case: protocol" "$(jq -r .protocol <<<"$flow")" "${case%% *}"
	is "$case: on the loopback" "$(jq -r '[.interface, .is_loopback] | join(" ")' <<<"$flow")" 'lo true'
	is "$case: of the run" "$(jq -r '.process != null and .peer_process != null' <<<"$flow")" true
	is "$case: nothing was lost" "$(jq -r '.probes[] | select(.name == "net").lost' run/run.json)" 0
	packets=$(jq -r '.packets_out + .packets_in' <<<"$flow")
	is "$case: its packets are the interface's" "$packets" \
		"$("$SONDE" events --table counter --json run | jq -s '[.[] | select(.name == "net.lo.rx_packets").value] | max // 0 | . - 0' | cut -d. -f1)"
	heads=$((packets * 20))
	[[ $case == *::1* ]] && heads=$((packets * 40))
	ok "$case: bytes have the IP headers" test "$(jq -r '.bytes_out + .bytes_in - .payload_out - .payload_in' <<<"$flow")" -ge "$heads"
done
done_testing
