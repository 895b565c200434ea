"""What rules speak to: server.py DIR. Takes webhooks (DIR/hooks, refused while DIR/refuse is there) and MQTT (DIR/messages)."""
import http.server
import json
import os
import socketserver
import struct
import sys
import threading

place = sys.argv[1]


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if os.path.exists(f"{place}/refuse"):
            self.send_response(503)
        else:
            with open(f"{place}/hooks", "a") as f:
                alert = json.loads(body)
                f.write(f"{alert['version']} {alert['status']} {alert['alerts'][0]['labels']['alertname']}\n")
            self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class Broker(socketserver.StreamRequestHandler):
    """CONNECT, PUBLISH and DISCONNECT of MQTT 3.1.1, by the letter of the standard."""

    def packet(self):
        head = self.rfile.read(1)
        length, shift = 0, 0
        while head:
            byte = self.rfile.read(1)[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return head[0], self.rfile.read(length)
        return 0, b""

    def handle(self):
        kind, body = self.packet()
        assert kind == 0x10 and body[:8] == b"\0\4MQTT\4\2", body
        self.wfile.write(b"\x20\2\0\0")
        kind, body = self.packet()
        assert kind & 0xF0 == 0x30
        (n,) = struct.unpack(">H", body[:2])
        topic, rest, qos = body[2:2 + n].decode(), body[2 + n:], kind >> 1 & 3
        if qos:
            self.wfile.write(b"\x40\2" + rest[:2])
            rest = rest[2:]
        alert = json.loads(rest)
        assert self.packet()[0] == 0xE0
        with open(f"{place}/messages", "a") as f:
            f.write(f"{topic} {qos} {alert['status']}\n")


hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
broker = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Broker)
for server in (hook, broker):
    threading.Thread(target=server.serve_forever, daemon=True).start()
with open(f"{place}/ports.new", "w") as f:
    f.write(f"{hook.server_address[1]} {broker.server_address[1]}")
os.rename(f"{place}/ports.new", f"{place}/ports")
threading.Event().wait()
