"""Spans of tasks on one event loop, of threads and of worker processes; prints how many there must be."""
import asyncio
import multiprocessing
import os
import sys
import threading

import sonde

TASKS, ROUNDS, THREADS, WORKERS = 20, 30, 4, 3


@sonde.span("task", "async")
async def task(number):
    for i in range(ROUNDS):
        with sonde.span("await", task=number, round=i):
            await asyncio.sleep(0 if (number + i) % 3 else 0.0005)
    return number


@sonde.span("ticks")
async def ticks():
    for i in range(5):
        yield i


async def loop():
    assert sorted(await asyncio.gather(*(task(n) for n in range(TASKS)))) == list(range(TASKS))
    assert [i async for i in ticks()] == list(range(5))


def thread(number):
    for i in range(ROUNDS):
        with sonde.span("thread", number=number):
            with sonde.span("inner", i=i):
                pass


@sonde.span("work", "pool", fixed="key")
def work(n):
    sonde.step("work", n)
    return n * n


def pools():
    for method in ("fork", "spawn"):
        with sonde.span("pool", method=method), multiprocessing.get_context(method).Pool(WORKERS) as pool:
            assert pool.map(work, range(20), chunksize=1) == [n * n for n in range(20)]


def main():
    asyncio.run(loop())
    threads = [threading.Thread(target=thread, args=(n,)) for n in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with sonde.span("around fork"):
        child = os.fork()
        if child == 0:
            with sonde.span("in child"):
                os._exit(0)
        os.waitpid(child, 0)
    pools()
    with sonde.span("last"):
        pass


if __name__ == "__main__":
    main()
    sys.stdout.write("%d %d %d\n" % (TASKS, ROUNDS, THREADS))
