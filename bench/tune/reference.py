"""The reference tuner problems: four standard functions and a simulated training job, all to be minimised.

name -> (function, space, is_noisy); a noisy function takes the random source as its second argument, and psjob_true is its
expectation. Kinds of a parameter: f, flog, i, ilog, c (choices).
"""
import math

HARTMANN_A = [[10, 3, 17, 3.5, 1.7, 8], [.05, 10, 17, .1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, .05, 10, .1, 14]]
HARTMANN_P = [[.1312, .1696, .5569, .0124, .8283, .5886], [.2329, .4135, .8307, .3736, .1004, .9991],
              [.2348, .1451, .3522, .2883, .3047, .6650], [.4047, .8828, .8732, .5743, .1091, .0381]]
HARTMANN_C = [1, 1.2, 3, 3.2]
NODES, THREADS = 36, 16
ITERATIONS = {"SGD": 1.6, "Momentum": 1.15, "RMSProp": 1.1, "Adam": 1.0, "Adadelta": 1.9}  # of each optimiser, to Adam's
BEST_RATE = {"SGD": .05, "Momentum": .01, "RMSProp": .001, "Adam": .001, "Adadelta": .5}  # at a batch of 128


def vector(p, n):
    return [p["x%d" % i] for i in range(n)]


def branin(p):
    x, y = p["x"], p["y"]
    return ((y - 5.1 / (4 * math.pi ** 2) * x * x + 5 / math.pi * x - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10 - 0.397887)


def hart6(p):
    x = vector(p, 6)
    return 3.32237 - sum(c * math.exp(-sum(a * (v - q) ** 2 for a, v, q in zip(row, x, at)))
                         for c, row, at in zip(HARTMANN_C, HARTMANN_A, HARTMANN_P))


def ackley5(p):
    x = [v - 1.7 for v in vector(p, 5)]
    return (20 + math.e - 20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / 5))
            - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / 5))


def rosen4(p):
    x = vector(p, 4)
    return math.log1p(sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:])))


def updates_per_second(p, workers):
    """Of a job with parameter servers: compute and communication of an iteration, and who waits for whom."""
    servers, threads = p["ps"], p["intra"]
    compute = p["batch"] * 0.004 / threads ** 0.8 * (1 + 0.35 * max(0, 2 - (THREADS - threads)))
    compute += 0.01 * (1 if threads <= 14 else 1.5)
    transfer = 0.35 * workers / servers * 0.1 + 0.02 * math.sqrt(servers) * 0.3
    barrier = 0.06 * math.log(workers + 1)
    if p["sync"] == "bsp":
        return 1 / (compute * (1 + barrier) + transfer)
    if p["sync"] == "asp":
        return workers / (compute + transfer * 0.8)
    return workers / (compute * (1 + barrier / (1 + p["stale"])) + transfer * 0.85)


def psjob_true(p):
    """Seconds to the target loss: updates that are needed (more when stale, or at a bad rate), by updates per second."""
    workers = NODES - p["ps"]
    batch = p["batch"] * workers if p["sync"] == "bsp" else p["batch"]
    stale = {"bsp": 0, "asp": 0.03 * workers, "ssp": 0.004 * workers * min(p["stale"], 8)}[p["sync"]]
    off = math.log10(p["lr"] / (BEST_RATE[p["opt"]] * math.sqrt(max(batch, 1) / 128)))
    updates = 4000 * ITERATIONS[p["opt"]] * (1 + stale) * (1 + 900 / batch) * math.exp((0.55 if off < 0 else 1.6) * off * off)
    return min(updates / updates_per_second(p, workers), 50000.0)


def psjob(p, rng):
    return psjob_true(p) * math.exp(0.04 * rng.gauss(0, 1))


def box(n, lo, hi):
    return [("x%d" % i, "f", lo, hi) for i in range(n)]


PROB = {
    "branin": (branin, [("x", "f", -5, 10), ("y", "f", 0, 15)], False),
    "hart6": (hart6, box(6, 0, 1), False),
    "ackley5": (ackley5, box(5, -10, 10), False),
    "rosen4": (rosen4, box(4, -2, 3), False),
    "psjob": (psjob, [("ps", "i", 1, 35), ("intra", "i", 1, 15), ("batch", "ilog", 16, 4096), ("lr", "flog", 1e-5, 1.0),
                      ("opt", "c", list(ITERATIONS), None), ("sync", "c", ["bsp", "asp", "ssp"], None), ("stale", "i", 1, 16)], True),
}
