"""PyTorch under dftracer.python: pytorch.py loader|profiler|graph."""
import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from dftracer.python import ai, dft_fn, dftracer

DATA, FILES, WORKERS, EPOCHS = os.environ["DATA_ROOT"], 12, 2, 2
fn = dft_fn("APP")


class Samples(Dataset):
    def __len__(self):
        return FILES

    @ai.data.item
    def __getitem__(self, number):
        with open(os.path.join(DATA, f"sample{number}.bin"), "rb") as file:
            return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).float()


@fn.log
def step(model, batch):
    return model(batch).sum()


def make_model():
    return torch.nn.Sequential(torch.nn.Linear(64, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))


def loader():
    """Workers are forked anew for each epoch, read the files and are ended by the loader."""
    model = make_model()
    for epoch in ai.pipeline.epoch.iter(range(EPOCHS)):
        for batch in ai.dataloader.fetch.iter(DataLoader(Samples(), batch_size=4, num_workers=WORKERS)):
            step(model, batch)


def profiler():
    from dftracer.python.torch import trace_handler
    model = make_model()
    with torch.profiler.profile(on_trace_ready=trace_handler, record_shapes=True):
        for _ in range(3):
            step(model, torch.ones(4, 64))


def graph():
    from dftracer.python.dynamo import Dynamo, create_backend, dynamo

    def work(x):
        return torch.relu(x.sum() + 1).sqrt()

    want = work(torch.ones(3))
    traced = torch.fx.symbolic_trace(work)
    run = create_backend(step=7, autograd=False)(traced, [torch.ones(3)])
    assert torch.equal(run(torch.ones(3)), want)
    model = make_model()
    with_modules = Dynamo().instrument(torch.fx.symbolic_trace(model))
    assert torch.equal(with_modules(torch.ones(2, 64)), model(torch.ones(2, 64)))
    assert dynamo.count_parameters(model) == 64 * 8 + 8 + 8 + 1
    if hasattr(torch, "compile"):
        compiled = dynamo.compile(work, autograd=False)
        assert torch.equal(compiled(torch.ones(3)), want)
        print("compiled")
    else:
        try:
            dynamo.compile(work)
        except RuntimeError as error:
            assert "torch.compile" in str(error)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for number in range(FILES):
        with open(os.path.join(DATA, f"sample{number}.bin"), "wb") as out:
            out.write(bytes(range(64)))
    LOG = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
    globals()[sys.argv[1]]()
    LOG.finalize()
