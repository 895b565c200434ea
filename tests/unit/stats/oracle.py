#!/usr/bin/python3
"""Expected values for the tests of stats/, from mpmath, numpy and scipy.

    tests/unit/stats/oracle.py > tests/unit/stats/oracle.h

Distribution functions are computed with 400 digits; quantiles are asked for at the
double nearest to a known probability and solved with as many. Group-sequential
bounds come from a plain convolution on a fine grid, which is slow and shares
nothing with the recursion under test.
"""
import math
import textwrap
import warnings

import mpmath as mp
import numpy as np
from scipy import signal, stats

mp.mp.dps = 400


def normal_cdf(z):
    return mp.erfc(-mp.mpf(z) / mp.sqrt(2)) / 2


def t_cdf(t, df):
    t, df = mp.mpf(t), mp.mpf(df)
    tail = beta_cdf(df / (df + t * t), df / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


def chi2_lower(x, df):
    return mp.gammainc(mp.mpf(df) / 2, 0, mp.mpf(x) / 2, regularized=True)


def chi2_upper(x, df):
    return mp.gammainc(mp.mpf(df) / 2, mp.mpf(x) / 2, mp.inf, regularized=True)


def beta_cdf(x, a, b):
    """By the series whose terms are all positive (DLMF 8.17.8)."""
    x, a, b = mp.mpf(x), mp.mpf(a), mp.mpf(b)
    if x > 0.5:
        return 1 - beta_cdf(1 - x, b, a)
    term = total = mp.mpf(1)
    k = 0
    while term > total * mp.eps:
        term *= x * (a + b + k) / (a + 1 + k)
        total += term
        k += 1
    factor = a * mp.log(x) + b * mp.log(1 - x) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)
    return mp.exp(factor) / a * total


def inverse(cdf, p, near):
    near = mp.mpf(near)
    beside = near * (1 - mp.mpf(10) ** -9) - mp.mpf(10) ** -12
    return mp.findroot(lambda x: (cdf(x) - mp.mpf(p)) / mp.mpf(p), (near, beside), tol=mp.mpf(10) ** -60)


def number(v):
    v = float(v)
    return "INFINITY" if v == math.inf else repr(v)


def table(name, comment, fields, rows):
    print(f"\n/* {comment} */\nstatic const struct {{\n\tdouble {', '.join(fields)};\n}} {name}[] = {{")
    for row in rows:
        print("\t{ " + ", ".join(number(v) for v in row) + " },")
    print("};")


def array(name, values):
    text = textwrap.wrap(", ".join(number(v) for v in values), 100)
    print(f"static const double {name}[] = {{\n\t" + "\n\t".join(text) + "\n};")


def normal_rows():
    for z in [-37.0, -20.0, -8.0, -5.0, -3.0, -1.96, -1.0, -0.1, -1e-8, 0.0, 0.5, 1.0, 2.5, 6.0]:
        p = normal_cdf(z)
        yield z, p, inverse(normal_cdf, float(p), z)


T_POINTS = [
    (-1e6, 1), (-12.7, 1), (-0.01, 1), (-300.0, 2), (-4.3, 2), (-1.0, 2), (0.5, 2), (-60.0, 3), (-3.2, 2.5),
    (-2.8, 4), (-50.0, 4), (-1e-6, 5), (2.1, 9.7), (-2.02, 39), (-15.0, 39), (0.3, 100), (-6.0, 1000),
    (-1.96, 1e5), (-12.0, 1.1e5), (-8.0, 1e6), (-37.0, 1e9), (-30.0, 30), (-0.7, 0.5),
]  # fmt: skip


def t_rows():
    for t, df in T_POINTS:
        p = t_cdf(t, df)
        yield t, df, p, inverse(lambda x, df=df: t_cdf(x, df), float(p), t)


CHI2_POINTS = [
    (1e-8, 1), (0.004, 1), (1.0, 1), (3.84, 1), (60.0, 1), (0.05, 2), (6.0, 2), (0.5, 3.5), (3.0, 10), (10.0, 10),
    (18.3, 10), (80.0, 10), (60.0, 100), (124.3, 100), (900.0, 1000), (1e5, 1e5), (101000.0, 1e5), (0.2, 0.3),
]  # fmt: skip


def chi2_rows():
    for x, df in CHI2_POINTS:
        p = chi2_lower(x, df)
        q = inverse(lambda v, df=df: chi2_lower(v, df), float(p), x)
        yield x, df, p, chi2_upper(x, df), q


BETA_POINTS = [
    (0.5, 1, 1), (0.1, 0.5, 0.5), (0.9, 0.5, 0.5), (1e-6, 2, 3), (0.3, 2, 3), (0.95, 2, 3), (0.4, 10, 10),
    (0.02, 1, 50), (0.2, 50, 100), (0.6, 3, 0.2), (0.51, 5000, 5000), (0.9995, 1e4, 2), (0.05, 251, 4750),
]  # fmt: skip


def beta_rows():
    for x, a, b in BETA_POINTS:
        p = beta_cdf(x, a, b)
        yield x, a, b, p, inverse(lambda v, a=a, b=b: beta_cdf(v, a, b), float(p), x)


def power_rows():
    points = [(2, 1.0, 0.95), (3, 0.5, 0.95), (5, 1.5, 0.95), (10, 0.0, 0.95), (20, 0.7, 0.9), (40, 0.4, 0.99)]
    for n, effect, level in points:
        limit = stats.t.ppf((1 + level) / 2, n - 1)
        shift = effect * math.sqrt(n)
        yield n, effect, level, stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift)


def mann_whitney_rows():
    for na, nb, u in [(2, 3, 0), (3, 3, 1), (5, 7, 8), (8, 8, 20), (4, 20, 40), (20, 25, 170)]:
        # U of two samples without ties that has this value
        ranks = [1] * na
        left = u
        for i in range(na - 1, -1, -1):
            ranks[i] = min(nb, left)
            left -= ranks[i]
        a = sorted(i + r + 0.0 for i, r in enumerate(sorted(ranks)))
        b = [v for v in range(na + nb) if v not in a]
        result = stats.mannwhitneyu(a, b, alternative="less", method="exact")
        assert result.statistic == u, (result.statistic, u)
        yield na, nb, u, result.pvalue


def signed_rank_rows():
    for n, w in [(1, 0), (5, 0), (5, 7), (6, 0), (10, 8), (20, 52), (50, 434)]:
        ways = np.array([1], dtype=object)
        for rank in range(1, n + 1):
            ways = np.concatenate([ways, [0] * rank]) + np.concatenate([[0] * rank, ways])
        yield n, w, mp.mpf(int(sum(ways[: w + 1]))) / 2**n


def spent(kind, f, alpha=0.05):
    if kind == 0:
        return 4 * (1 - stats.norm.cdf(stats.norm.ppf(1 - alpha / 4) / math.sqrt(f)))
    if kind == 1:
        return alpha * math.log(1 + (math.e - 1) * f)
    return alpha * f**2


def bounds(kind, fractions):
    """Convolve the walk's density step by step, cutting off what lies beyond each bound."""
    h = 1 / 2048
    x = np.arange(-8, 8 + h / 2, h)
    density, last, used, out = None, 0.0, 0.0, []
    for f in fractions:
        step = f - last
        kernel = stats.norm.pdf(x, scale=math.sqrt(step))
        density = kernel if density is None else signal.fftconvolve(density, kernel, mode="same") * h
        want = spent(kind, f) - used
        tail = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)]) * h
        bound = -np.interp(want / 2, tail[: len(x) // 2], x[: len(x) // 2])
        out.append(bound / math.sqrt(f))
        # the cells that the bound cuts keep their inner part
        density = density * np.clip((bound - np.abs(x)) / h + 0.5, 0, 1)
        last, used = f, spent(kind, f)
    return out


def bound_rows():
    for kind in range(3):
        for fractions in [[0.2, 0.4, 0.6, 0.8, 1.0], [5 / 32, 8 / 32, 12 / 32, 20 / 32, 1.0]]:
            for f, z in zip(fractions, bounds(kind, fractions)):
                yield kind, f, z


def sample_values():
    values = np.round(np.random.default_rng(1).lognormal(0, 1, 37), 3)
    values[5] = values[6]
    return values


def autocorrelated():
    rng = np.random.default_rng(2)
    series = [0.0]
    for _ in range(199):
        series.append(0.7 * series[-1] + rng.normal())
    return np.round(series, 3)


def correlation(x, lag):
    d = np.asarray(x) - np.mean(x)
    return float(np.dot(d[: len(d) - lag], d[lag:]) / np.dot(d, d))


def summaries(x):
    half = len(x) // 2
    a, b = x[:half], x[half:]
    welch = stats.ttest_ind(b, a, equal_var=False)
    one = stats.t.interval(0.95, len(x) - 1, np.mean(x), stats.sem(x))
    print("\n/* of sample: what its name says; welch is of its second half against its first */")
    array("sample", x)
    for name, value in [
        ("sample_mean", np.mean(x)),
        ("sample_variance", np.var(x, ddof=1)),
        ("sample_q10", np.quantile(x, 0.1)),
        ("sample_median", np.median(x)),
        ("sample_q99", np.quantile(x, 0.99)),
        ("sample_mad", stats.median_abs_deviation(x, scale="normal")),
        ("sample_trimmed", stats.trim_mean(x, 0.2)),
        ("sample_t_lo", one[0]),
        ("sample_t_hi", one[1]),
        ("sample_welch_p", welch.pvalue),
        ("sample_hl", np.median([(x[i] + x[j]) / 2 for i in range(len(x)) for j in range(i, len(x))])),
        ("sample_hl_shift", np.median([q - p for p in a for q in b])),
    ]:
        print(f"static const double {name} = {number(value)};")


def series(x):
    print("\n/* a series of which each value is 0.7 times the last and noise */")
    array("series", x)
    array("series_correlation", [correlation(x, lag) for lag in range(6)])


def bca(x):
    result = stats.bootstrap((x,), np.mean, n_resamples=200000, method="BCa", batch=1000, random_state=3)
    ci = result.confidence_interval
    print("\n/* BCa interval of the sample's mean, to the accuracy of 200000 draws */")
    print(f"static const double sample_bca_lo = {ci.low:.4f}, sample_bca_hi = {ci.high:.4f};")


def main():
    warnings.simplefilter("ignore")  # of scipy's noncentral t
    print("/*\n * Made by: tests/unit/stats/oracle.py > tests/unit/stats/oracle.h\n"
          " * Expected values; see there.\n */\n/* clang-format off */\n#include <math.h>")  # fmt: skip
    table("normal_oracle", "P(Z <= z), and the quantile of the nearest double", ["z", "p", "quantile"], normal_rows())
    table("t_oracle", "Student's t", ["t", "df", "p", "quantile"], t_rows())
    table("chi2_oracle", "chi-squared", ["x", "df", "p", "upper", "quantile"], chi2_rows())
    table("beta_oracle", "beta", ["x", "a", "b", "p", "quantile"], beta_rows())
    table("power_oracle", "power of the two-sided t test, sd 1", ["n", "effect", "level", "power"], power_rows())
    table("mann_whitney_oracle", "P(U <= u)", ["na", "nb", "u", "p"], mann_whitney_rows())
    table("signed_rank_oracle", "P(W <= w)", ["n", "w", "p"], signed_rank_rows())
    comment = "group-sequential bounds of level 0.95: O'Brien-Fleming 0, Pocock 1, square 2"
    table("bound_oracle", comment, ["kind", "fraction", "z"], bound_rows())
    x = sample_values()
    summaries(x)
    bca(x)
    series(autocorrelated())


if __name__ == "__main__":
    main()
