#!/usr/bin/env python3
"""A sparse linear model (logistic regression, or a support vector machine with --loss svm) trained with parameter servers: a worker
fetches and sends only the weights that its batch touches. sonde train sparse.yml -- python3 sparse.py"""
import numpy as np
import torch
from torch.nn import functional

import paramserver

ACTIVE = 40  # features of a sample
LOSSES = {"lr": lambda margin: functional.softplus(-margin).mean(), "svm": lambda margin: functional.relu(1 - margin).mean()}


class Model:
    """A worker's batches: made from the truth on the spot, so that nothing has to be fetched."""

    def __init__(self, loss, features, batch, seed):
        self.loss, self.features, self.batch = LOSSES[loss], features, batch
        self.random = torch.Generator().manual_seed(seed)
        self.truth = torch.randn(features, generator=torch.Generator().manual_seed(7))
        parts = paramserver.cut({"w": np.zeros(features, np.float32)})
        self.edges = np.cumsum([0] + [part.size for part in parts.values()])

    def set_threads(self, count):
        torch.set_num_threads(count)

    def wanted(self):
        """The next batch, and the weights it touches, by part. Some features are much more frequent than others."""
        rows = (self.features * torch.rand(self.batch, ACTIVE, generator=self.random) ** 4).long().clamp_(max=self.features - 1)
        self.labels = torch.where(self.truth[rows].sum(dim=1) > 0, 1.0, -1.0)
        self.touched, at = np.unique(rows.numpy(), return_inverse=True)
        self.at = torch.from_numpy(at).view(self.batch, ACTIVE)
        bounds = np.searchsorted(self.touched, self.edges)
        self.slices = [(("w", i), slice(lo, hi)) for i, (lo, hi) in enumerate(zip(bounds, bounds[1:])) if hi > lo]
        return {key: self.touched[s] - self.edges[key[1]] for key, s in self.slices}

    def gradients(self, values):
        weights = torch.from_numpy(np.concatenate([values[key] for key, _ in self.slices])).requires_grad_()
        loss = self.loss(weights[self.at].sum(dim=1) * self.labels)
        loss.backward()
        gradient = weights.grad.numpy()
        return loss.item(), {key: (self.touched[s] - self.edges[key[1]], gradient[s]) for key, s in self.slices}


class ModelOf:
    """Makes a worker's model; can be sent to its process."""

    def __init__(self, *args):
        self.args = args

    def __call__(self, seed):
        return Model(*self.args, seed)


def main():
    options = paramserver.options_of(__doc__, loss="lr", features=1000000, batch=2000, rate=0.05, steps=100000, seed=1)
    chief = paramserver.Chief(ModelOf(options.loss, options.features, options.batch), {"w": np.zeros(options.features, np.float32)},
                              paramserver.Adagrad(options.rate), preload=["torch", "paramserver"], seed=options.seed)
    chief.run(options.steps, options)


if __name__ == "__main__":
    main()
