"""serving: a run of the fixture, and `sonde view` of it, for tests of the API and of the page."""
import atexit
import http.client
import json
import os
import struct
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
import tap  # noqa: E402

FIXTURE = os.environ.get("SERVE_FIXTURE", "")


def record(where, *arguments, **more):
    """Record the fixture into `where`/run; its directory."""
    run = os.path.join(where, "run")
    subprocess.run([tap.SONDE, "record", "-o", run, "--", FIXTURE, *arguments], cwd=where, check=True,
                   timeout=tap.LIMIT_SECONDS, **more)
    return run


def events(run, table):
    """Rows of a table as `sonde events` prints them: the independent source of truth."""
    out = subprocess.run([tap.SONDE, "events", "--table", table, "--json", run], check=True, capture_output=True,
                         timeout=tap.LIMIT_SECONDS).stdout
    return [json.loads(line) for line in out.splitlines()]


class Server:
    """`sonde view` of a run, logged in to."""

    def __init__(self, run, *options):
        self.process = subprocess.Popen([tap.SONDE, "view", "--port", "0", "--json", *options, run],
                                        stdout=subprocess.PIPE)
        atexit.register(self.stop)  # whatever becomes of the test
        self.url = json.loads(self.process.stdout.readline())["url"]
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.query = parts.hostname, parts.port, parts.query
        status, headers, _ = self.ask("/?" + self.query)
        assert status == 303, status
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def ask(self, path, method="GET", headers=None):
        """Status, headers and body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=tap.LIMIT_SECONDS)
        all_headers = {"Cookie": self.cookie} if hasattr(self, "cookie") else {}
        all_headers.update(headers or {})
        connection.request(method, path, headers=all_headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, response.headers, body

    def api(self, name, **query):
        """The JSON answer; it must be fine."""
        status, _, body = self.ask(f"/api/{name}?{urllib.parse.urlencode(query)}")
        assert status == 200, (name, query, status, body[:200])
        return json.loads(body)

    def link(self):
        """An address that logs in another browser."""
        return json.loads(self.ask("/api/link", "POST")[2])["url"]

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=tap.LIMIT_SECONDS)


def decode_slices(data):
    """What /api/slices says, written from its description alone: {lane: [(start, end, name, busy, is_cell)]}."""
    magic, lanes, start, unit = struct.unpack_from("<IIqq", data)
    assert magic == 0x32434C53
    at, out = 24, {}

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    for _ in range(lanes):
        lane, items, length = struct.unpack_from("<III", data, at)
        at += 12
        end, units, rows = at + length, 0, []
        for _ in range(items):
            head = varint()
            units += head >> 2
            begin, kind = units, head & 3
            assert kind <= 2, "an item is of no known kind"
            if kind:
                units = (units // 8 + (varint() if kind == 2 else 1)) * 8
                busy = data[at]
                at += 1
            else:
                busy = 255
                units += varint()
            rows.append((start + begin * unit, start + units * unit, varint(), busy, kind != 0))
        assert at == end, "a lane's bytes are not what they say"
        out[lane] = rows
    return out
