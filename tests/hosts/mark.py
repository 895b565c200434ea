"""Opens marks and says when, by the time of day, which is the same in every time namespace: a truth to hold a clock against."""
import json
import os
import sys
import time

os.makedirs(sys.argv[2], exist_ok=True)
for i in range(int(sys.argv[1])):
    path = "%s/mark-%d-%d" % (sys.argv[2], os.getpid(), i)
    before = time.time_ns()
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    after = time.time_ns()
    os.close(fd)
    with open(path + ".truth", "w") as f:
        json.dump({"path": path, "before_ns": before, "after_ns": after}, f)
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    time.sleep(0.15)
