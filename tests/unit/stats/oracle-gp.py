#!/usr/bin/python3
"""Expected values for the tests of the Gaussian process, from numpy and scipy, written from the formulas and not from gp.c.

    tests/unit/stats/oracle-gp.py > tests/unit/stats/oracle-gp.h
"""
import textwrap

import numpy as np
from scipy import stats

rng = np.random.default_rng(7)
N, D = 9, 3
X = rng.random((N, D)).round(3)
X[:, 2] = rng.integers(0, 3, N)  # a category
Y = (np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * (X[:, 2] == 1)).round(4)
NOISE = np.where(np.arange(N) % 4 == 0, 0.25, 1.0)
SCALE, VARIANCE, ADDITIVE, SIGMA = np.array([-0.4, 0.2, 0.5]), -0.3, -1.1, -3.5
PRIOR = dict(scale=([-0.6, -0.6, -0.2], 0.9), variance=(-0.5, 0.7), additive=(-0.9, 1.0), noise=(-4.0, 2.0))
AT = np.array([[0.31, 0.62, 1.0], [0.9, 0.05, 2.0], [0.5, 0.5, -1.0]])


def kernel(a, b, scale=SCALE, variance=VARIANCE, additive=ADDITIVE):
    d = a[:, None, :] - b[None, :, :]
    d[:, :, 2] = a[:, None, 2] != b[None, :, 2]
    u = d ** 2 / np.exp(2 * scale)
    r = np.sqrt(5 * u.sum(-1))
    joint = np.exp(variance) * (1 + r + r ** 2 / 3) * np.exp(-r)
    return joint + np.exp(additive) * np.mean(1 / (1 + D * u / 2), axis=-1)


def evidence(scale, variance, additive, sigma):
    k = kernel(X, X, scale, variance, additive) + np.diag(np.exp(sigma) * NOISE) + 1e-8 * np.exp(variance) * np.eye(N)
    inv = np.linalg.inv(k)
    mean = inv.sum(0) @ Y / inv.sum()
    log = stats.multivariate_normal(np.full(N, mean), k).logpdf(Y)
    z = lambda v, m, s: -0.5 * ((v - m) / s) ** 2
    m, s = PRIOR["scale"]
    return log + sum(z(scale, np.array(m), s)) + z(variance, *PRIOR["variance"]) + z(additive, *PRIOR["additive"]) + z(sigma, *PRIOR["noise"])


def gradient(h=1e-5):
    theta = np.concatenate([SCALE, [VARIANCE, ADDITIVE, SIGMA]])
    out = []
    for i in range(len(theta)):
        e = np.zeros(len(theta))
        e[i] = h
        f = lambda t: evidence(t[:3], t[3], t[4], t[5])
        out.append((8 * (f(theta + e) - f(theta - e)) - (f(theta + 2 * e) - f(theta - 2 * e))) / (12 * h))
    return out


def predict(at):
    k = kernel(X, X) + np.diag(np.exp(SIGMA) * NOISE) + 1e-8 * np.exp(VARIANCE) * np.eye(N)
    inv = np.linalg.inv(k)
    mean = inv.sum(0) @ Y / inv.sum()
    c = kernel(at, X)
    return mean + c @ inv @ (Y - mean), np.exp(VARIANCE) + np.exp(ADDITIVE) - np.einsum("ij,jk,ik->i", c, inv, c)


def array(name, values):
    text = "static const double %s[] = { %s };" % (name, ", ".join(repr(float(v)) for v in np.ravel(values)))
    print(textwrap.fill(text, 110, subsequent_indent="\t", break_long_words=False))


print("/*\n * Made by: tests/unit/stats/oracle-gp.py > tests/unit/stats/oracle-gp.h\n * Expected values; see there.\n */\n/* clang-format off */")
array("gp_x", X)
array("gp_y", Y)
array("gp_noise", NOISE)
array("gp_theta", np.concatenate([SCALE, [VARIANCE, ADDITIVE, SIGMA]]))
array("gp_evidence", [evidence(SCALE, VARIANCE, ADDITIVE, SIGMA)])
array("gp_gradient", gradient())
array("gp_at", AT)
mean, variance = predict(AT)
array("gp_mean", mean)
array("gp_variance", variance)
