"""Further tuner problems beside the reference ones, so that no choice in the optimiser rests on those alone.

The same shape as the reference problems: name -> (function(p, rng), space); noise is in the function where it takes some.
Kinds of a parameter: f, flog, i, ilog, c (choices), b; a fifth entry is active_if.
"""
import math

F = lambda n, lo, hi: (n, "f", lo, hi)


def levy5(p, rng):
    w = [1 + (p["x%d" % i] - 1) / 4 for i in range(5)]
    s = math.sin(math.pi * w[0]) ** 2 + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    return s + sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1])


def styblinski4(p, rng):
    return sum(0.5 * (x ** 4 - 16 * x * x + 5 * x) + 39.16617 for x in (p["x%d" % i] for i in range(4)))


def griewank6(p, rng):
    x = [p["x%d" % i] - 7 for i in range(6)]
    c = 1.0
    for i, v in enumerate(x):
        c *= math.cos(v / math.sqrt(i + 1))
    return 1 + sum(v * v for v in x) / 4000 - c


def sphere10(p, rng):
    return sum((p["x%d" % i] - 0.3 - 0.04 * i) ** 2 * (1 + i % 3) for i in range(10))


def hart3(p, rng):
    a = [[3, 10, 30], [.1, 10, 35], [3, 10, 30], [.1, 10, 35]]
    q = [[.3689, .117, .2673], [.4699, .4387, .747], [.1091, .8732, .5547], [.03815, .5743, .8828]]
    c = [1, 1.2, 3, 3.2]
    x = [p["x%d" % i] for i in range(3)]
    return 3.86278 - sum(c[i] * math.exp(-sum(a[i][j] * (x[j] - q[i][j]) ** 2 for j in range(3))) for i in range(4))


def sixhump(p, rng):
    x, y = p["x"], p["y"]
    return (4 - 2.1 * x * x + x ** 4 / 3) * x * x + x * y + (4 * y * y - 4) * y * y + 1.031628


def michal5(p, rng):
    return 4.687658 - sum(math.sin(x) * math.sin((i + 1) * x * x / math.pi) ** 20 for i, x in
                          enumerate(p["x%d" % i] for i in range(5)))


def rosen4n(p, rng):
    x = [p["x%d" % i] for i in range(4)]
    v = math.log1p(sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(3)))
    return v, v + 0.1 * rng.gauss(0, 1)


def flags(p, rng):
    """20 compiler-like switches and a level: a few matter, some together, 1 % noise."""
    t = 10.0 - 1.2 * p["f0"] - 0.8 * p["f1"] + 0.9 * p["f2"] - 1.0 * (p["f3"] and p["f4"]) + 0.6 * (p["f3"] != p["f4"])
    t -= 0.5 * (p["f5"] and not p["f0"]) + 0.3 * p["f6"] - 0.25 * p["f7"] + 0.1 * sum(p["f%d" % i] for i in range(8, 12))
    t -= {"O0": -3, "O1": 0, "O2": 1.2, "O3": 1.4, "Os": .4}[p["level"]] + (0.8 if p["level"] == "O3" and p["f5"] else 0)
    return t, t * math.exp(0.01 * rng.gauss(0, 1))


def pipeline(p, rng):
    """A cache, threads and a codec with its own level; too much memory fails."""
    if p["cache"] * p["threads"] > 24000:
        return None
    t = 40 / p["threads"] ** 0.7 + 0.35 * p["threads"] + 30 * math.exp(-p["cache"] / 600) + 0.002 * p["cache"]
    if p["codec"] == "zstd":
        t += 6 + 0.25 * abs(p["level"] - 4) + (0.5 if p["level"] > 12 else 0)
    elif p["codec"] == "lz4":
        t += 9 - 0.02 * p["block"] ** .5 + 1e-5 * p["block"]
    else:
        t += 14
    t += 3 * abs(math.log10(p["chunk"] / 65536.0)) ** 1.5
    return t, t * math.exp(0.03 * rng.gauss(0, 1))


def database(p, rng):
    t = 5 + 200 / (1 + p["cache"] / 2000.0) + 0.0005 * p["cache"]
    t *= {"delete": 1.6, "truncate": 1.45, "wal": 1.0, "memory": 1.1}[p["journal"]]
    t *= {"off": 1.0, "normal": 1.08, "full": 1.9}[p["sync"]]
    t *= 1 + 0.15 * abs(math.log2(p["page"] / 8192.0))
    t += 0.8 * abs(p["workers"] - 6) + (4 if p["mmap"] and p["cache"] > 50000 else -3 if p["mmap"] else 0)
    return t, t * math.exp(0.05 * rng.gauss(0, 1))


def steep(p, rng):
    """A narrow valley in a log scale, with a plateau around it."""
    a, b = math.log10(p["a"]) + 3.2, math.log10(p["b"]) - 1.1
    return 1000 * (1 - math.exp(-(a * a * 2 + b * b + a * b))) + 1 + 20 * (p["c"] - .2) ** 2


X = lambda n, lo, hi: [F("x%d" % i, lo, hi) for i in range(n)]
PROB = {
    "levy5": (levy5, X(5, -10, 10)),
    "styblinski4": (styblinski4, X(4, -5, 5)),
    "griewank6": (griewank6, X(6, -40, 40)),
    "sphere10": (sphere10, X(10, 0, 1)),
    "hart3": (hart3, X(3, 0, 1)),
    "sixhump": (sixhump, [F("x", -3, 3), F("y", -2, 2)]),
    "michal5": (michal5, X(5, 0, math.pi)),
    "rosen4n": (rosen4n, X(4, -2, 3)),
    "flags": (flags, [("f%d" % i, "b", None, None) for i in range(20)] + [("level", "c", ["O0", "O1", "O2", "O3", "Os"], None)]),
    "pipeline": (pipeline, [("threads", "i", 1, 32), ("cache", "ilog", 16, 8192), ("chunk", "ilog", 1024, 1 << 22),
                            ("codec", "c", ["none", "lz4", "zstd"], None), ("level", "i", 1, 19, {"codec": ["zstd"]}),
                            ("block", "ilog", 64, 65536, {"codec": ["lz4"]})]),
    "database": (database, [("cache", "ilog", 100, 100000), ("journal", "c", ["delete", "truncate", "wal", "memory"], None),
                            ("sync", "c", ["full", "normal", "off"], None), ("page", "ilog", 512, 65536), ("workers", "i", 1, 16),
                            ("mmap", "b", None, None)]),
    "steep": (steep, [("a", "flog", 1e-6, 1.0), ("b", "flog", 1e-2, 1e4), F("c", 0, 1)]),
}
