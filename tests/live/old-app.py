"""What broke the original, pushed: old-app.py READY STOP. Makes READY with what it saw, then waits for STOP."""
import json
import math
import os
import sys
import time

from live_metrics import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, SageAppMetricsServer
from waggle.plugin import Plugin

server = SageAppMetricsServer({"inference": METRIC_TIMER, "fps": METRIC_RATE, "factorial": METRIC_NUMBER, "cars": METRIC_NUMBER})
server.push_metric("factorial", math.factorial(5))
server.push_metric("factorial", math.factorial(999))
server.push_metric("factorial", float("nan"))
server.push_metric("factorial", "no number")
server.push_metric("unknown", 1)
server.stop_timer("inference")
for _ in range(3):
    server.start_timer("inference")
    server.stop_timer("inference")
    server.start_timer("fps")
    server.stop_timer("fps")
for i in range(100000):
    server.push_metric("cars", i)
seen = {"rejected": server.rejected, "errors": []}
with Plugin() as plugin:
    plugin.publish("env.count.car", 3, meta={"camera": "top"}, timestamp=1700000000123456789)
    try:
        with plugin.timeit("env.inference"):
            raise RuntimeError("inside")
    except RuntimeError:
        pass
    for name, value, more in (("Env", 1, {}), ("upload", 1, {}), ("a", b"x", {}), ("a", 1, {"timestamp": 1700000000}), ("a", 1, {"meta": {"a": 1}})):
        try:
            plugin.publish(name, value, **more)
        except (ValueError, TypeError) as error:
            seen["errors"].append(type(error).__name__)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
    json.dump(seen, file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
