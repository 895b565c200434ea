"""An application for rules: app.py DIR. Steps until DIR/stop is there; what its knob is goes to DIR/knob, signals to DIR/signal."""
import os
import signal
import sys
import time

import sonde

place = sys.argv[1]
signal.signal(signal.SIGUSR1, lambda *_: open(f"{place}/signal", "w").close())
i = 0
while not os.path.exists(f"{place}/stop"):
    batch = sonde.knob("batch", 4, 1, 64)
    level = float(open(f"{place}/level").read() or 0) if os.path.exists(f"{place}/level") else 0.0
    sonde.metric_set("level", level)
    sonde.step("frame", i)
    i += 1
    with open(f"{place}/knob.new", "w") as f:
        f.write(str(batch))
    os.rename(f"{place}/knob.new", f"{place}/knob")
    time.sleep(0.02)
