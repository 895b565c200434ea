#!/usr/bin/python3
"""Write the traces of a made-up DLIO training job, and print what an analyzer must find in them.

    make-dlio.py FOLDER [SEED]

FOLDER gets one .pfw.gz per rank, in the form in which DFTracer (generation C) traces a DLIO job on Lustre:
metadata records (HH, SH, FH, thread_name) that name 64-bit hashes, one bracket before and one behind the
lines, spans written at their end (inner ones first) and known to their parts by p_idx, forks that appear in
two threads, ids with gaps, numbers as strings in nested arguments.

The answers are printed as JSON. They are not read from the traces: each event is counted in the layer for
which it is made, and the times of layers come from a map with one byte per microsecond.
"""
import contextlib
import gzip
import hashlib
import json
import os
import random
import sys

HOSTS, RANKS, FORKS = 2, 6, 2  # in all, in all, of a rank
EPOCHS, STEPS, IMAGES = 3, 3, 4  # in all, of an epoch, of a rank in a step
START_US = 1744611912000000
BASE = "/p/lustre3/user/dlio/unet3d_hdf5"
HEADER_READS = (8, 16, 512, 512, 512, 80, 328, 544)  # what HDF5 reads before the sample itself
TIMES = {"io": ("Reader POSIX (Lustre)", "Checkpoint POSIX (Lustre)"), "compute": ("Compute",),
         "app_io": ("Fetch Data", "Data Loader", "Reader", "Checkpoint")}


def name_hash(name):
    return int("".join("%x" % (byte >> 4) for byte in hashlib.md5(name.encode()).digest()), 16)


class Truth:
    """What the job holds, counted while it is made."""

    def __init__(self):
        self.layers, self.read_sizes, self.intervals = {}, [], {kind: [] for kind in TIMES}
        self.paths, self.files = set(), []
        self.first, self.last = None, 0

    def add(self, layers, ts, dur, size):
        self.first = ts if self.first is None else min(ts, self.first)
        self.last = max(self.last, ts + dur)
        for layer in layers:
            row = self.layers.setdefault(layer, {"events": 0, "bytes": 0})
            row["events"] += 1
            row["bytes"] += size
            for kind in (k for k, names in TIMES.items() if layer in names):
                self.intervals[kind].append((ts, dur))

    def busy(self, kind):
        """A number with a byte 1 for each microsecond in which some event of the kind runs."""
        line = bytearray(self.last - self.first)
        for ts, dur in self.intervals[kind]:
            line[ts - self.first:ts - self.first + dur] = b"\1" * dur
        return int.from_bytes(line, "big")

    def times(self):
        io, app_io, compute = (self.busy(kind) for kind in ("io", "app_io", "compute"))
        return {"io_ns": io.bit_count() * 1000, "unoverlapped_io_ns": (io & ~compute).bit_count() * 1000,
                "app_io_ns": app_io.bit_count() * 1000,
                "unoverlapped_app_io_ns": (app_io & ~compute).bit_count() * 1000,
                "compute_ns": compute.bit_count() * 1000,
                "unoverlapped_compute_ns": (compute & ~io).bit_count() * 1000,
                "unoverlapped_app_compute_ns": (compute & ~app_io).bit_count() * 1000}

    def answers(self):
        in_layers = sum(row["events"] for row in self.layers.values())
        for row in self.layers.values():
            row["mib"] = int(row.pop("bytes") / 2 ** 20 * 1000 + 0.5) / 1000
        return {"lines": sum(file["lines"] for file in self.files), "events": sum(file["events"] for file in self.files),
                "metadata": sum(file["metadata"] for file in self.files), "named_files": len(self.paths),
                "processes": RANKS, "hosts": HOSTS, "job_ns": (self.last - self.first) * 1000,
                "layers": self.layers, "events_in_layers": in_layers - self.layers["Data Loader Fork"]["events"],
                "events_as_dfanalyzer": in_layers, "times": self.times(), "read_min": min(self.read_sizes),
                "read_max": max(self.read_sizes), "files": self.files}


class Rank:
    """The tracer of one process: a clock, the open spans and the lines so far."""

    def __init__(self, rank, truth, seed):
        self.rank, self.truth, self.random = rank, truth, random.Random(f"{seed} {rank}")
        self.pid = 1028567 + rank
        self.host = f"node{rank % HOSTS + 1}"
        self.now = START_US + self.random.randrange(5000)
        self.id, self.open, self.lines, self.known = 0, [], [], set()
        self.metadata = 0

    def next_id(self):
        self.id += 1
        return self.id

    def pass_time(self, least, most):
        took = self.random.randint(least, most)
        self.now += took
        return took

    def write(self, record):
        self.lines.append(json.dumps(record, separators=(",", ":")))

    def meta(self, kind, name, value):
        self.metadata += 1
        self.write({"id": self.next_id(), "name": kind, "cat": "dftracer", "pid": self.pid, "tid": self.pid, "ph": "M",
                    "args": {"hhash": name_hash(self.host), "name": name, "value": value}})

    def named(self, kind, name):
        """The hash of a name, which is written down when it first comes up."""
        if (kind, name) not in self.known:
            self.known.add((kind, name))
            self.meta(kind, name, name_hash(name))
            if kind == "FH":
                self.truth.paths.add(name)
        return name_hash(name)

    def event(self, number, name, cat, ts, dur, args, layers=(), size=0, tid=None):
        head = {"hhash": name_hash(self.host), "p_idx": self.open[-1] if self.open else -1}
        level = {"level": len(self.open) + 1}
        self.truth.add(layers, ts, dur, size)
        self.write({"id": number, "name": name, "cat": cat, "pid": self.pid, "tid": tid or self.pid, "ts": ts, "dur": dur,
                    "ph": "X", "args": {**head, **args, **level}})

    @contextlib.contextmanager
    def span(self, name, cat, *layers, **args):
        """A span around what happens inside, written behind it."""
        number, ts = self.next_id(), self.now
        self.open.append(number)
        self.pass_time(5, 50)
        yield
        self.pass_time(5, 50)
        self.open.pop()
        self.event(number, name, cat, ts, self.now - ts, {key: str(value) for key, value in args.items()}, layers)

    def moment(self, name, cat, *layers, **args):
        with self.span(name, cat, *layers, **args):
            pass

    def call(self, name, path, most=1200, size=0, **args):
        fhash = self.named("FH", path)
        place = "Reader" if "/data" in path else "Checkpoint" if "/checkpoint" in path else None
        layers = [place + " POSIX (Lustre)"] if place else []
        number, ts = self.next_id(), self.now
        dur = self.pass_time(2, most)
        self.event(number, name, "POSIX", ts, dur, {"fhash": fhash, **args}, layers, size)
        self.pass_time(1, 30)

    def read(self, path, fd, size, offset, most):
        self.truth.read_sizes.append(size)
        self.call("pread", path, most, size, fd=fd, ret=size, count=size, offset=offset)

    def fork(self, child):
        """One call, seen by the parent and by the child, which returns a little later."""
        number, ts = self.next_id(), self.now
        dur = self.pass_time(15000, 30000)
        for tid, ret, late in ((self.pid, child, 0), (child, 0, self.random.randint(100, 300))):
            self.event(number, "fork", "POSIX", ts, dur + late, {"ret": ret}, ("Data Loader Fork", "Other POSIX"), tid=tid)
        self.pass_time(20000, 60000)


def begin(r):
    r.meta("HH", r.host, name_hash(r.host))
    r.meta("thread_name", str(r.pid), "thread_name")
    cmd = r.named("SH", f"/usr/bin/python;/usr/bin/dlio_benchmark;++workload.dataset.data_folder={BASE}/data;++workload.train.epochs={EPOCHS}")
    program = r.named("SH", "dlio_benchmark")
    r.event(r.next_id(), "start", "dftracer", r.now, 0, {"cmd_hash": cmd, "exec_hash": program, "version": 100008,
                                                        "date": "Sun Apr 13 23:25:12 2025", "ppid": 1028565})
    r.next_id()  # the module's own span, which does not end before the tracer does
    r.pass_time(100000, 300000)


def initialize(r):
    with r.span("DLIOBenchmark.initialize", "dlio_benchmark"):
        for folder in ("train", "valid"):
            with r.span("FileStorage.walk_node", "storage"):
                r.moment("FileStorage.get_uri", "storage")
                r.call("opendir", f"{BASE}/data/{folder}", 4000)
        for _ in range(20):
            r.moment("FileStorage.get_uri", "storage")
        with r.span("FileStorage.create_namespace", "storage"):
            r.call("__xstat64", BASE)
            r.call("mkdir", BASE + "/checkpoint", mode=511)
            r.call("__xstat64", BASE + "/checkpoint")
        r.moment("PyTorchCheckpointing.__init__", "checkpoint")
    with r.span("TorchDataLoader.read", "data_loader", epoch="train"):
        with r.span("TorchDataset.__init__", "data_loader", epoch="train"):
            with r.span("TorchDataset.worker_init", "data_loader", "Data Loader", epoch="train"):
                r.moment("HDF5Reader.__init__", "reader", "Reader", epoch=-1)


def read_image(r, path, step, index):
    args = {"step": step, "image_idx": index}
    size = r.random.randint(140 << 20, 150 << 20)
    fd = 15 + r.rank % 3
    with r.span("TorchDataset.__getitem__", "data_loader", "Data Loader", **args), \
            r.span("HDF5Reader.read_index", "reader", "Reader", epoch=-1, image_size=size, **args):
        with r.span("HDF5Reader.open", "reader", "Reader", epoch=-1, image_size=1, **args):
            r.call("open", path, ret=fd, flags=0)
            r.call("__fxstat", path, fd=fd)
            for n, header in enumerate(HEADER_READS):
                r.read(path, fd, header, 512 * n, 10)
            r.call("__lxstat", path, 50)
        with r.span("HDF5Reader.get_sample", "reader", "Reader", epoch=-1, image_size=size, **args):
            r.read(path, fd, size, 2048, 40000)
        r.moment("FormatReader.preprocess", "reader", "Reader", **args)
        with r.span("HDF5Reader.close", "reader", "Reader", epoch=-1, image_size=size, **args):
            r.call("close", path, ret=0, fd=fd)


def train_step(r, step):
    index = (step - 1) * IMAGES
    number, ts = r.next_id(), r.now
    for n in range(index, index + IMAGES):
        image = r.rank * STEPS * IMAGES + n
        read_image(r, f"{BASE}/data/train/img_{image:03d}_of_{RANKS * STEPS * IMAGES}.hdf5", step, n)
    args = {"step": str(step), "image_idx": str(index + IMAGES - 1)}
    r.event(number, "loop.iter", "data_loader", ts, r.now - ts, args, ["Fetch Data"])
    with r.span("loop.yield", "data_loader", **args):
        r.moment("TorchFramework.trace_object", "ai_framework", image_size=step, epoch=0)
        with r.span("TorchFramework.compute", "ai_framework", "Compute", image_size=step, epoch=0):
            r.pass_time(60000, 90000)


def save_checkpoint(r, epoch):
    folder = f"{BASE}/checkpoint/global_epoch{epoch}_step{STEPS}"
    with r.span("PyTorchCheckpointing.save_checkpoint", "checkpoint", "Checkpoint", epoch=epoch):
        with r.span("FileStorage.create_node", "storage"):
            r.call("__xstat64", BASE + "/checkpoint")
            r.call("mkdir", folder, mode=511)
            r.call("__xstat64", folder)
        if r.rank == 0:
            with r.span("PyTorchCheckpointing.save_state", "checkpoint", epoch=epoch):
                path, size = folder + "/model_states-0.pt", r.random.randint(10000, 13000)
                r.call("open64", path, flags=524865, ret=21, mode=438)
                r.call("__fxstat64", path, fd=21)
                r.call("lseek64", path, 5, fd=21, ret=0, whence=1, offset=0)
                r.call("write", path, size=size, count=size, ret=size, fd=21)
                r.call("close", path, ret=0, fd=21)


def train(r):
    with r.span("DLIOBenchmark.run", "dlio_benchmark", "App", epoch=EPOCHS):
        for epoch in range(1, EPOCHS + 1):
            with r.span("DLIOBenchmark._train", "dlio_benchmark", "Training", epoch=epoch):
                r.moment("TorchDataLoader.next", "data_loader", epoch="train")
                for n in range(FORKS if epoch == 1 else 0):
                    r.fork(1029637 + r.rank * FORKS + n)
                for step in range(1, STEPS + 1):
                    train_step(r, step)
                if epoch == EPOCHS:
                    save_checkpoint(r, epoch)
            r.moment("TorchDataLoader.finalize", "data_loader", step=STEPS, image_idx=STEPS * IMAGES - 1)
            r.moment("ConfigArguments.reconfigure", "config")
    r.event(r.next_id(), "end", "dftracer", r.now, 0, {"num_events": r.id})


def make_job(folder, seed):
    truth = Truth()
    for rank in range(RANKS):
        r = Rank(rank, truth, seed)
        begin(r)
        initialize(r)
        train(r)
        name = f"trace-{rank}-of-{RANKS}.pfw.gz"
        with gzip.open(os.path.join(folder, name), "wt", encoding="utf-8") as file:
            file.write("\n".join(["["] + r.lines + ["]"]))
        truth.files.append({"name": name, "lines": len(r.lines) + 2, "events": len(r.lines) - r.metadata, "metadata": r.metadata})
    return truth.answers()


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    json.dump(make_job(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1), sys.stdout, indent=1)
    print()
