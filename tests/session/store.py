"""An object store for tests: store.py DIR. GET /plain/X, /bucket/X (S3, signatures checked by botocore), /objects/X (Sage).

A file CUT in DIR makes answers break off after half of what was asked for. What was asked for goes to DIR/asked.
"""
import http.server
import os
import socket
import sys
import urllib.parse

from signed import is_signed

place = sys.argv[1]


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def refuse(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        with open(f"{place}/asked", "a") as f:
            f.write(f"{path} {self.headers.get('Range', '-')}\n")
        if path.startswith("/bucket/") and not is_signed(self):
            return self.refuse(403)
        if path.startswith("/objects/") and self.headers.get("Authorization") != "sage secret":
            return self.refuse(401)
        if path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/plain/data")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        name = f"{place}/{os.path.basename(path)}"
        if not os.path.exists(name):
            return self.refuse(404)
        data = open(name, "rb").read()
        start = int(self.headers["Range"].split("=")[1].split("-")[0]) if self.headers.get("Range") else 0
        if start >= len(data):
            return self.refuse(416)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        part = data[start:]
        if os.path.exists(f"{place}/CUT"):
            self.wfile.write(part[:len(part) // 2])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        self.wfile.write(part)
        return None

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
with open(f"{place}/port.new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(f"{place}/port.new", f"{place}/port")
server.serve_forever()
