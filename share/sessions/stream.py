"""A stream of mebibytes over TCP: stream.py give|take PORT MEBIBYTES."""
import socket
import sys

port, count = int(sys.argv[2]), int(sys.argv[3])
if sys.argv[1] == "give":
    server = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = server.accept()
        try:
            for _ in range(count):
                client.sendall(bytes(1 << 20))
        except OSError:
            pass
        client.close()
else:
    import sonde

    taken = 0
    with socket.create_connection(("127.0.0.1", port)) as source:
        while data := source.recv(1 << 16):
            before, taken = taken >> 20, taken + len(data)
            sonde.rate("received_bytes", len(data))
            for i in range(before, taken >> 20):
                sonde.step("mebibyte", i)
