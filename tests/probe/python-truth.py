"""A Python program of known truth: prints, as JSON, how long it spent where by its own thread clock."""
import json
import os
import sys
import threading
import time
import zlib


def burn(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(300):
            x += i * i
    return x


def thirty():
    burn(0.03)


def seventy():
    burn(0.07)


def shares():
    for _ in range(int(sys.argv[2])):
        thirty()
        seventy()


def alpha():
    burn(0.4)


def beta():
    burn(0.4)


def threads():
    both = [threading.Thread(target=f) for f in (alpha, beta)]
    for t in both:
        t.start()
    for t in both:
        t.join()


def generator():
    while True:
        burn(0.02)
        yield 1


def generators():
    g = generator()
    for _ in range(15):
        next(g)


def deep(n):
    if n:
        deep(n - 1)
    else:
        burn(0.3)


def key(x):
    burn(0.02)
    return x


def through_c():
    sorted(range(15), key=key)


def extension():
    data = os.urandom(1 << 20)
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        zlib.compress(data)


def in_child():
    burn(0.3)


def child():
    pid = os.fork()
    if not pid:
        in_child()
        os._exit(0)
    os.waitpid(pid, 0)


class Größe:
    def method(self):
        burn(0.3)


def kinds():
    threads()
    generators()
    sys.setrecursionlimit(3000)
    deep(900)
    through_c()
    extension()
    child()
    Größe().method()
    exec(compile("def made():\n    burn(0.3)\nmade()", "<made>", "exec"))


def main():
    globals()[sys.argv[1]]()
    print(json.dumps({"pid": os.getpid(), "cpu_s": time.process_time()}))


main()
