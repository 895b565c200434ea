"""Speak to a fleet's server as a stranger with its token: nats.py FLEET.JSON SUBJECT [TEXT...]

Each TEXT is published under SUBJECT, and what the server says to a last PING is waited for. Prints the server's
complaint and fails when there is one. With SONDE_TOKEN set that is the token.
"""
import json
import os
import socket
import sys
import urllib.parse

home = json.load(open(sys.argv[1], encoding="utf-8"))
url = urllib.parse.urlparse(home["url"])
token = os.environ.get("SONDE_TOKEN", home["token"])
with socket.create_connection((url.hostname, url.port), timeout=30) as server:
    lines = server.makefile("rb")
    lines.readline()  # INFO
    options = {"verbose": False, "pedantic": False, "auth_token": token}
    said = [f"CONNECT {json.dumps(options)}\r\n"]
    for text in sys.argv[3:]:
        said.append(f"PUB {sys.argv[2]} {len(text.encode())}\r\n{text}\r\n")
    server.sendall(("".join(said) + "PING\r\n").encode())
    for line in lines:
        if line.startswith(b"-ERR"):
            sys.exit(line.decode().strip())
        if line.startswith(b"PONG"):
            sys.exit(0)
sys.exit("the server hung up")
