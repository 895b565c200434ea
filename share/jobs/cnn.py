#!/usr/bin/env python3
"""A small convolutional network on pictures of ten kinds, trained with parameter servers: sonde train cnn.yml -- python3 cnn.py"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

import paramserver

SIDE, KINDS, SAMPLES = 16, 10, 4096


def network(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * (SIDE // 4) ** 2, 128), nn.ReLU(), nn.Linear(128, KINDS))


def pictures(seed):
    """A smooth pattern a kind, each picture shifted and under noise: made, so that nothing has to be fetched."""
    random = torch.Generator().manual_seed(seed)
    patterns = functional.interpolate(torch.randn(KINDS, 3, 6, 6, generator=random), size=SIDE, mode="bicubic", align_corners=False)
    labels = torch.randint(0, KINDS, (SAMPLES,), generator=random)
    down, right = (torch.arange(SIDE) + torch.randint(0, SIDE, (2, SAMPLES, 1), generator=random)) % SIDE
    images = patterns[labels[:, None, None], :, down[:, :, None], right[:, None, :]].permute(0, 3, 1, 2)
    return images + 1.2 * torch.randn(images.shape, generator=random), labels


class Model:
    """A worker's copy of the network and its batches."""

    def __init__(self, batch, seed):
        self.network, self.batch, self.random = network(0), batch, np.random.default_rng(seed)
        self.images, self.labels = pictures(7)
        self.tensors = dict(self.network.named_parameters())
        self.keys = list(paramserver.cut({name: t.detach().numpy() for name, t in self.tensors.items()}))

    def set_threads(self, count):
        torch.set_num_threads(count)

    def wanted(self):
        return dict.fromkeys(self.keys)

    def gradients(self, values):
        with torch.no_grad():
            for name, tensor in self.tensors.items():
                tensor.copy_(torch.from_numpy(paramserver.join(values, name)).view_as(tensor))
        at = torch.from_numpy(self.random.integers(0, SAMPLES, self.batch))
        loss = functional.cross_entropy(self.network(self.images[at]), self.labels[at])
        self.network.zero_grad(set_to_none=True)
        loss.backward()
        return loss.item(), paramserver.cut({name: t.grad.numpy() for name, t in self.tensors.items()})


class ModelOf:
    """Makes a worker's model; can be sent to its process."""

    def __init__(self, batch):
        self.batch = batch

    def __call__(self, seed):
        return Model(self.batch, seed)


def main():
    options = paramserver.options_of(__doc__, batch=32, rate=0.01, momentum=0.5, steps=100000, seed=1)
    start = {name: tensor.detach().numpy() for name, tensor in network(options.seed).named_parameters()}
    chief = paramserver.Chief(ModelOf(options.batch), start, paramserver.Sgd(options.rate, options.momentum),
                              preload=["torch", "paramserver"], seed=options.seed)
    chief.run(options.steps, options)


if __name__ == "__main__":
    main()
