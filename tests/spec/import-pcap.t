#!/bin/bash
# sonde import of captures: pcap and pcapng, in both byte orders, with the packets and flows that another reader finds.
. "$(dirname "$0")/../lib/tap.sh"

rows() { "$SONDE" events --table "$1" --json "$2"; }

cat >make.py <<'EOF'
import ipaddress, struct, sys

def ip4(src, dst, protocol, body, fragment=0):
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, fragment, 64, protocol, 0, ipaddress.ip_address(src).packed,
                       ipaddress.ip_address(dst).packed) + body

def ip6(src, dst, protocol, body, extension=b""):
    return struct.pack(">IHBB", 6 << 28, len(extension) + len(body), 0 if extension else protocol, 64) + \
        ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + extension + body

def tcp(sport, dport, seq, ack, flags, payload=b""):
    return struct.pack(">HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 1000, 0, 0) + payload

def udp(sport, dport, payload):
    return struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload

A, B, A6, B6 = "10.1.2.3", "192.168.0.9", "fe80::1", "2001:db8::2"
ETHERNET = b"\1" * 12
packets = [
    (1.000001, b"\x08\x00", ip4(A, B, 6, tcp(40000, 80, 100, 0, 2))),
    (1.000101, b"\x08\x00", ip4(B, A, 6, tcp(80, 40000, 500, 101, 18))),
    (1.000201, b"\x08\x00", ip4(A, B, 6, tcp(40000, 80, 101, 501, 24, b"x" * 1000))),
    (1.000301, b"\x81\x00\x00\x05\x08\x00", ip4(A, B, 6, tcp(40000, 80, 101, 501, 24, b"x" * 1000))),
    (1.000401, b"\x08\x00", ip4(B, A, 6, tcp(80, 40000, 501, 1101, 25, b"y" * 10))),
    (1.000411, b"\x08\x00", ip4(B, A, 6, tcp(80, 40000, 532, 1101, 24, b"z" * 5))),
    (1.000421, b"\x08\x00", ip4(B, A, 6, tcp(80, 40000, 512, 1101, 24, b"late" * 5))),
    (1.000431, b"\x08\x00", ip4(B, A, 6, tcp(80, 40000, 512, 1101, 24, b"late" * 5))),
    (1.000501, b"\x86\xdd", ip6(A6, B6, 17, udp(53, 5353, b"q" * 30))),
    (1.000601, b"\x86\xdd", ip6(B6, A6, 17, udp(5353, 53, b"r" * 70), struct.pack(">BB6x", 17, 0))),
    (1.000701, b"\x08\x06", b"arp..."),
    (1.000801, b"\x08\x00", ip4(A, B, 1, b"\x08\0\0\0")),
    (1.000901, b"\x08\x00", ip4(A, B, 17, b"later", fragment=100)),
    (1.001001, b"\x88\xa8\x00\x05\x81\x00\x20\x07\x08\x00", ip4("10.1.2.4", B, 17, udp(7, 8, b"tagged"))),
]

def classic(order, scale, magic):
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    for ts, kind, data in packets:
        frame = ETHERNET + kind + data
        out += struct.pack(order + "IIII", int(ts), round(ts % 1 * scale), len(frame), len(frame)) + frame
    return out

def block(order, kind, body):
    body += b"\0" * (-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size

def ng(order):
    out = block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1))
    out += block(order, 1, struct.pack(order + "HHI", 1, 0, 0) + struct.pack(order + "HH", 2, 4) + b"eth0" +
                 struct.pack(order + "HHB3x", 9, 1, 9) + struct.pack(order + "HH", 0, 0))
    out += block(order, 0x4321, b"whatever it is")
    for ts, kind, data in packets:
        frame = ETHERNET + kind + data
        ns = round(ts * 1e9)
        out += block(order, 6, struct.pack(order + "IIIII", 0, ns >> 32, ns & 0xffffffff, len(frame), len(frame)) + frame)
    return out

open("little.pcap", "wb").write(classic("<", 1e6, 0xa1b2c3d4))
open("big.pcap", "wb").write(classic(">", 1e6, 0xa1b2c3d4))
open("ns.pcap", "wb").write(classic("<", 1e9, 0xa1b23c4d))
open("little.pcapng", "wb").write(ng("<"))
open("big.pcapng", "wb").write(ng(">"))
EOF
/usr/bin/python3 make.py

for file in little.pcap big.pcap ns.pcap little.pcapng big.pcapng; do
	run "$SONDE" import $file -o "$file.run" --json
	is "$file is known by its content" "$status:$(jq -r .source.format "$file.run/run.json")" '0:pcap'
	is "$file: packets of IP, and others" "$(jq -c '[.events, .other, .invalid]' <<<"$out")" '[13,1,0]'
	is "$file: packets" "$(rows packet $file.run | jq -c '[.ts_ns, .flow, (.is_reply | if . then 1 else 0 end), .bytes, .payload, .tcp_flags, .seq, (.is_retransmit | if . == null then null elif . then 1 else 0 end)]' | head -10 | xargs)" \
		"$(printf '%s ' '[1000001000,1,0,40,0,2,100,0]' '[1000101000,1,1,40,0,18,500,0]' '[1000201000,1,0,1040,1000,24,101,0]' '[1000301000,1,0,1040,1000,24,101,1]' \
			'[1000401000,1,1,50,10,25,501,0]' '[1000411000,1,1,45,5,24,532,0]' '[1000421000,1,1,60,20,24,512,0]' '[1000431000,1,1,60,20,24,512,1]' '[1000501000,2,0,78,30,null,null,null]' '[1000601000,2,1,126,70,null,null,null]' | xargs)"
	is "$file: flows" "$(rows flow $file.run | jq -c '[.protocol, .source, .source_port, .destination, .destination_port, .packets_out, .packets_in, .payload_out, .payload_in, .retransmits_out, .vlan]' | xargs)" \
		"$(printf '%s ' '[tcp,10.1.2.3,40000,192.168.0.9,80,3,5,1000,35,1,null]' '[udp,fe80::1,53,2001:db8::2,5353,1,1,30,70,null,null]' \
			'[icmp,10.1.2.3,null,192.168.0.9,null,1,0,0,0,null,null]' '[udp,10.1.2.3,null,192.168.0.9,null,1,0,0,0,null,null]' \
			'[udp,10.1.2.4,7,192.168.0.9,8,1,0,6,0,null,7]' | xargs)"
done
gzip -k little.pcap
"$SONDE" import -q little.pcap.gz -o packed
rows packet packed | cmp - <(rows packet little.pcap.run)
is 'compressed it is the same' "$?" 0
"$SONDE" export --to sofa -o sofa little.pcap.run
is "SOFA's nettrace has its addresses" "$(sed -n 4p sofa/nettrace.csv | cut -d, -f 6,8,9,12)" \
	'1000.000000,10001002003,192168000009,network:tcp:10001002003_to_192168000009_with_1000'

for cut in 3 30 500; do
	head -c -$cut little.pcapng >cut.pcapng
	run "$SONDE" import cut.pcapng -o "cut-$cut" --json
	is "a capture that is cut by $cut is read to there" "$status:$(jq .invalid <<<"$out")" '0:1'
done
head -c 10 little.pcap >stub.pcap
run "$SONDE" import --from pcap stub.pcap -o stub
is 'a capture of nothing is an error' "$status" 1

# A real capture, on the loopback interface of a network of our own.
if unshare -n true 2>/dev/null && command -v tcpdump >/dev/null; then
	cat >talk.sh <<'EOF'
ip link set lo up 2>/dev/null || exit 1
rm -f real.pcap tcpdump.log # of the capture before
touch tcpdump.log
tcpdump -Z root --immediate-mode -s 128 -B 4096 -i "$1" -U -w real.pcap 2>tcpdump.log &
dump=$!
for i in $(seq 100); do grep -q listening tcpdump.log && break; sleep 0.1; done
/usr/bin/python3 - <<'PY'
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
client.sendall(b"a" * 3000)
got = 0
while got < 3000:
    got += len(peer.recv(4096))
peer.sendall(b"b" * 500)
while not client.recv(4096):
    pass
client.close()
peer.close()
PY
# Both have said goodbye.
for i in $(seq 100); do
	[[ $(tcpdump -Z root -n -r real.pcap 'tcp[13] & 1 != 0' 2>/dev/null | grep -vc ' Out ') -ge 2 ]] && break
	sleep 0.1
done
kill -INT $dump
wait $dump
EOF
	for interface in lo any; do
		unshare -n bash talk.sh $interface 2>/dev/null
		run "$SONDE" import real.pcap -o "real-$interface"
		is "a capture of $interface is imported" "$status:$err" '0:'
		is "$interface: one flow with what was sent" "$(rows flow "real-$interface" | jq -c 'select(.protocol == "tcp") | [.payload_out, .payload_in, .retransmits_out, .is_loopback]' | xargs)" '[3000,500,0,true]'
	done
	is 'with as many packets as tcpdump reads' "$(rows packet real-any | wc -l)" "$(tcpdump -Z root -n -r real.pcap ip 2>/dev/null | grep -vc ' Out ')"
else
	skip_missing 'a capture of lo is imported' 'no network of our own, or no tcpdump'
fi

done_testing
