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


def rastrigin3(p, rng):
    return sum(x * x - 10 * math.cos(2 * math.pi * x) + 10 for x in (p["x%d" % i] - 0.7 for i in range(3)))


def shekel4(p, rng):
    a = [[4] * 4, [1] * 4, [8] * 4, [6] * 4, [3, 7, 3, 7], [2, 9, 2, 9], [5, 3, 5, 3]]
    b = [.1, .2, .2, .4, .4, .6, .3]
    return 10.4029 - sum(1 / (b[i] + sum((p["x%d" % j] - a[i][j]) ** 2 for j in range(4))) for i in range(7))


def mixed8(p, rng):
    """Two kinds of two numbers each that do not matter, two that interact, a log scale; 5 % noise."""
    t = 20 + 15 * (math.log10(p["rate"]) + 2.5) ** 2 + 10 * (p["mix"] - 0.8) ** 2 * (1 + 3 * (p["kind"] == "b"))
    t += {"a": 6, "b": 0, "c": 3, "d": 9}[p["kind"]] + 0.4 * abs(p["depth"] - 5 - 2 * (p["kind"] == "b"))
    t += 0.03 * (p["width"] / 16 - p["depth"]) ** 2 + (2 if p["quick"] else 0)
    return t, t * math.exp(0.05 * rng.gauss(0, 1))


def nested(p, rng):
    """Conditions on conditions: each solver has parameters of its own, one of which has others."""
    t = 12 + 4 * (p["tol"] - 0.3) ** 2
    if p["solver"] == "direct":
        return t + 6 + 0.05 * abs(p["block"] - 96) ** 0.8
    t += 3 * abs(math.log2(p["restart"] / 40.0))
    if p["pre"] == "ilu":
        t += 1.5 * abs(p["fill"] - 3) - 6
    elif p["pre"] == "amg":
        t += 2 * abs(p["cycles"] - 2) - 5 + 8 * (p["damp"] - 0.66) ** 2
    return t


def cliff5(p, rng):
    """The best lies beside what fails."""
    x = [p["x%d" % i] for i in range(5)]
    if x[0] + x[1] > 1.2 or x[2] > 0.75 + 0.2 * x[3]:
        return None
    return 5 - 2 * x[0] - 1.5 * x[1] - 2 * x[2] + 1.2 * (x[3] - 0.4) ** 2 + (x[4] - 0.5) ** 2 + 2 * (x[0] - x[1]) ** 2


def wide10(p, rng):
    """Ten numbers of which four matter, two of them together; 2 % noise."""
    t = 3 + 4 * (p["x1"] - p["x4"]) ** 2 + 2 * (p["x1"] - .8) ** 2 + abs(p["x6"] - .25) + 1.5 * (p["x9"] - .6) ** 2
    return t, t * math.exp(0.02 * rng.gauss(0, 1))


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
    "rastrigin3": (rastrigin3, X(3, -2.56, 2.56)),
    "shekel4": (shekel4, X(4, 0, 10)),
    "mixed8": (mixed8, [("rate", "flog", 1e-5, 1.0), F("mix", 0, 1), ("kind", "c", ["a", "b", "c", "d"], None), ("depth", "i", 1, 16),
                        ("width", "ilog", 8, 512), ("quick", "b", None, None), F("idle", 0, 1), ("spare", "i", 1, 100)]),
    "nested": (nested, [F("tol", 0, 1), ("solver", "c", ["direct", "krylov"], None), ("block", "ilog", 8, 1024, {"solver": ["direct"]}),
                        ("restart", "ilog", 4, 512, {"solver": ["krylov"]}), ("pre", "c", ["none", "ilu", "amg"], None, {"solver": ["krylov"]}),
                        ("fill", "i", 0, 10, {"pre": ["ilu"]}), ("cycles", "i", 1, 6, {"pre": ["amg"]}), ("damp", "f", 0, 1, {"pre": ["amg"]})]),
    "cliff5": (cliff5, X(5, 0, 1)),
    "wide10": (wide10, X(10, 0, 1)),
}
