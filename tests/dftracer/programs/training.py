"""A training loop of the conventions `ai`, as often as DFTracer's own test has each of them.

    training.py NORMAL|METADATA|CATEGORY

A category is switched off before the loop runs; `all` is everything.
"""
import os
import sys

import numpy

from dftracer.python import ai, dftracer

EPOCHS, FILES = 3, 2
HOW, DATA = sys.argv[1], os.environ["DATA_ROOT"]


def path_of(number):
    return os.path.join(DATA, f"sample{number}.npy")


class Samples:
    @ai.data.item
    def read(self, number):
        return numpy.load(path_of(number))


@ai.dataloader.fetch
def samples_of(samples, epoch):
    for number in range(FILES):
        yield samples.read(number)


@ai.data.preprocess.derive(name="collate")
def collate(sample):
    return sample


@ai.device.transfer
def transfer(sample):
    return sample


@ai.compute.forward
def forward(sample):
    return float(sample.sum())


@ai.compute.backward
def backward():
    with ai.comm.all_reduce(enable=False):
        pass


@ai.compute
def compute(sample):
    loss = forward(sample)
    backward()
    return loss


class Checkpoint:
    @ai.checkpoint.init
    def __init__(self):
        self.state = None

    @ai.checkpoint.capture
    def capture(self, state):
        self.state = state

    @ai.checkpoint.restart
    def restart(self):
        return self.state


def one_epoch(samples, epoch):
    for step, sample in ai.dataloader.fetch.iter(enumerate(samples_of(samples, epoch))):
        ai.compute.step.start()
        compute(transfer(collate(sample)))
        ai.compute.step.stop()
        ai.update(step=step, epoch=epoch)


@ai.pipeline.train
def train():
    samples = Samples()
    for number in range(FILES):
        numpy.save(path_of(number), numpy.ones(8))
    checkpoint = Checkpoint()
    checkpoint.restart()
    if HOW == "METADATA":
        for epoch in range(EPOCHS):
            ai.pipeline.epoch.start(metadata=True)
            one_epoch(samples, epoch)
            ai.pipeline.epoch.stop(metadata=True)
    else:
        for epoch in ai.pipeline.epoch.iter(range(EPOCHS)):
            one_epoch(samples, epoch)
    checkpoint.capture({})


if HOW == "all":
    ai.disable()
elif HOW not in ("NORMAL", "METADATA"):
    getattr(ai, HOW).disable()
log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
train()
log.finalize()
