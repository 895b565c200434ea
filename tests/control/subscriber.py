"""A subscriber of MQTT 3.1.1: subscriber.py PORT OUT. Appends `topic qos payload` to OUT for every message; OUT.ready: it listens."""
import socket
import struct
import sys

s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=600)


def take(n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


def packet():
    """Kind with flags, and body."""
    kind, length, shift = take(1)[0], 0, 0
    while True:
        byte = take(1)[0]
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return kind, take(length)


def text(t):
    return struct.pack(">H", len(t)) + t.encode()


def send(kind, body):
    s.sendall(bytes([kind, len(body)]) + body)


send(0x10, text("MQTT") + bytes([4, 2]) + struct.pack(">H", 600) + text("subscriber"))
assert packet() == (0x20, b"\0\0"), "the broker refuses us"
send(0x82, struct.pack(">H", 1) + text("edge/#") + bytes([1]))
assert packet()[0] == 0x90, "no subscription"
open(sys.argv[2] + ".ready", "w").close()
while True:
    kind, body = packet()
    if kind >> 4 != 3:
        continue
    end = 2 + struct.unpack(">H", body[:2])[0]
    topic, qos = body[2:end].decode(), kind >> 1 & 3
    if qos:
        send(0x40, body[end:end + 2])
        end += 2
    with open(sys.argv[2], "a") as f:
        f.write(f"{topic} {qos} {body[end:].decode()}\n")
