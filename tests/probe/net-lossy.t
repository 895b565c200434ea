#!/bin/bash
# --net between two hosts with a router that loses packets, and on a VLAN: retransmissions, round trips and tags, end to end.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/net.sh"

(($(id -u) == 0)) || skip_all 'network namespaces of our own need root'
[[ $(command -v tc) && $(command -v nstat) ]] || skip_service 'tc or nstat is not installed (iproute2)'
here=sonde-here-$$ between=sonde-between-$$ there=sonde-there-$$
clean_up() { for name in "$here" "$between" "$there"; do ip netns del "$name" 2>/dev/null; done; }
trap 'clean_up; tap_exit' EXIT
for name in "$here" "$between" "$there"; do
	ip netns add "$name" 2>/dev/null || skip_all 'network namespaces cannot be made here'
done
at() { ip netns exec "$@"; }
# join HOST LINK NET: a line from the host to the router between, which is .254.
join() {
	ip link add line netns "$1" type veth peer name "$2" netns "$between" || skip_all 'no veth here'
	at "$1" ip link set lo up
	at "$1" ip addr add "$3.1/24" dev line
	at "$1" ip link set line up
	at "$1" ip link set line gso_max_segs 1 # a packet is a segment
	at "$1" ip route add default via "$3.254"
	at "$between" ip addr add "$3.254/24" dev "$2"
	at "$between" ip link set "$2" up
}
join "$here" near 192.0.2
join "$there" far 198.51.100
at "$between" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
sent() { at "$here" nstat -az TcpRetransSegs 2>/dev/null | awk '/TcpRetransSegs/ { print $2 }'; }

# talk RUN ADDRESS OUT IN: from here to a server there, recorded here. The server's pid is $server.
talk() {
	rm -f port
	at "$there" "$NET_TRUTH" serve "$2" 0 >port &
	server=$!
	for ((i = 0; i < 600; i++)); do
		[[ -s port ]] && break
		sleep 0.1
	done
	run at "$here" "$SONDE" record --net -o "$1" -- "$NET_TRUTH" ask "$2" "$(cat port)" "$3" "$4"
	((status == 0)) || kill $server
	wait $server
	is "$1: it runs" "$status" 0
	flow=$(flows "$1" | jq -c "select(.destination == \"$2\" and .protocol == \"tcp\")")
	is "$1: one flow" "$(jq -s length <<<"$flow")" 1
	is "$1: what was sent" "$(jq -c '[.payload_out, .payload_in]' <<<"$flow")" "$(jq -c '[.out, .in]' <<<"$out")"
	is "$1: whose it is" "$(jq .pid <<<"$flow")" "$(jq .pid <<<"$out")"
	ok "$1: it had round trips" test "$(jq .rtts <<<"$flow")" -gt 0
}

before=$(sent)
talk plain 198.51.100.1 300000 20000
# A machine that stalls may make TCP send again what was not lost; the kernel knows of all of it.
ok 'plain: nothing was sent twice that was not' test "$(jq .retransmits_out <<<"$flow")" -le "$(($(sent) - before))"
is 'plain: no VLAN' "$(jq .vlan <<<"$flow")" null

if at "$between" tc qdisc add dev far root netem delay 20ms 2>/dev/null; then
	talk slow 198.51.100.1 100000 5000
	ok 'slow: no round trip is shorter than the line is long' test "$(jq .rtt_min_ns <<<"$flow")" -ge 20000000
	at "$between" tc qdisc del dev far root
else
	skip 'slow: no round trip is shorter than the line is long' 'tc has no netem here'
fi
# Loss on the way: at random, or by a queue that is too short.
if at "$between" tc qdisc add dev far root netem loss 4% 2>/dev/null ||
	at "$between" tc qdisc add dev far root tbf rate 80mbit burst 20kb limit 40kb 2>/dev/null; then
	before=$(sent)
	talk lossy 198.51.100.1 600000 1000
	again=$(($(sent) - before))
	ok 'lossy: some were sent again' test "$again" -gt 0
	# The kernel counts segments; those that are sent together are one packet here.
	ok 'lossy: and the flow says so' test "$(jq .retransmits_out <<<"$flow")" -gt 0 -a "$(jq .retransmits_out <<<"$flow")" -le "$again"
	at "$between" tc qdisc del dev far root
else
	skip 'lossy: some were sent again' 'tc has neither netem nor tbf here'
fi

# A VLAN: frames with a tag, as a host that is on it would send them.
cat >tagged.py <<'EOF'
import socket, struct
own = bytes.fromhex(open("/sys/class/net/near/address").read().strip().replace(":", ""))
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("near", 0))
for i in range(20):
    udp = struct.pack(">HHHH", 5000, 6000, 8 + 100, 0) + bytes(100)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), i, 0, 64, 17, 0, bytes([203, 0, 113, 2]), bytes([192, 0, 2, 1]))
    s.send(b"\xff" * 6 + own + struct.pack(">HHH", 0x8100, 3 << 13 | 7, 0x0800) + ip + udp)
EOF
run at "$here" "$SONDE" record --net --packets -o tagged -- ip netns exec "$between" /usr/bin/python3 tagged.py
is 'tagged: the sender ran' "$status" 0
flow=$(flows tagged | jq -c 'select(.source == "203.0.113.2")')
is 'tagged: the flow has its VLAN' "$(jq -c '[.vlan, .packets_out, .payload_out, .source_port]' <<<"$flow")" '[7,20,2000,5000]'
is 'tagged: and its packets' "$("$SONDE" events --table packet --json tagged | jq -c "select(.flow == $(jq .flow <<<"$flow")).payload" | sort | uniq -c | xargs)" '20 100'
done_testing
