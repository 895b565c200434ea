"""The way to an S3 server on loopback: way.py PORT DIR. It lets only pass what botocore would have signed the same way, and while
DIR/CUT is there breaks answers off after a million bytes. Its own port is in DIR/way-port."""
import http.client
import http.server
import os
import socket
import sys

from signed import is_signed

to, place = int(sys.argv[1]), sys.argv[2]


class Way(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if not is_signed(self, "S3RVER", "S3RVER", "us-east-1"):
            self.send_response(403)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        there = http.client.HTTPConnection("127.0.0.1", to)
        there.request("GET", self.path, headers={k: v for k, v in self.headers.items() if k != "Connection"})
        answer = there.getresponse()
        body = answer.read()
        with open(f"{place}/asked", "a") as f:
            f.write(f"{answer.status} {self.headers.get('Range', '-')}\n")
        self.send_response(answer.status)
        for name in ("Content-Type", "Content-Range", "ETag"):
            if answer.headers[name]:
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not os.path.exists(f"{place}/CUT"):
            return self.wfile.write(body)
        self.wfile.write(body[:1000000])
        self.wfile.flush()
        self.close_connection = True
        return self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Way)
with open(f"{place}/way-port.new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(f"{place}/way-port.new", f"{place}/way-port")
server.serve_forever()
