"""Fetches a page many times: client.py URL COUNT."""
import sys
import time
import urllib.request

import sonde

for i in range(int(sys.argv[2])):
    start = time.perf_counter()
    size = len(urllib.request.urlopen(sys.argv[1]).read())
    sonde.metric_observe("request_seconds", time.perf_counter() - start)
    sonde.metric_add("received_bytes", size)
    sonde.step("request", i)
