"""An application with metrics: app.py READY STOP. Makes the file READY, then waits for the file STOP."""
import os
import sys
import time

import sonde

for i in range(5):
    sonde.step("frame", i, 0.5 * i)
sonde.metric_add("framesSeen", 2)
sonde.metric_add("framesSeen", 1)
sonde.metric_set("queue_depth", 7)
sonde.metric_set("queue_depth", float("nan"))
for value in (0.3, 0.3, 3.0):
    sonde.metric_observe("latency_seconds", value)
open(sys.argv[1], "w").close()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
sys.exit(9)
