"""An application whose latencies are known: histogram.py READY STOP. A thousand values, evenly from 0.001 to 1."""
import os
import sys
import time

import sonde

for i in range(1, 1001):
    sonde.metric_observe("latency_seconds", i / 1000)
sonde.metric_add("framesSeen", 3)
sonde.metric_set("queue_depth", 7)
open(sys.argv[1], "w").close()
i = 0
while not os.path.exists(sys.argv[2]):
    sonde.step("frame", i)
    i += 1
    time.sleep(0.02)
