"""Training with parameter servers, workers and a chief, each a process; servers and workers come and go while it trains.

Parameters are numpy arrays on the servers, large ones cut into parts so that each server holds about as many bytes. A worker
sends its gradient to the servers and gets the new values in one exchange with each; nobody waits for the other workers. When
servers come or go, parameters move with all that belongs to them from server to server: a worker that asks the old one is told
where they are, and training goes on meanwhile. Settings (servers, workers, threads of each worker) are knobs of sonde.job.
"""
import argparse
import os
import socket
import tempfile
from multiprocessing.connection import Connection, wait

import numpy as np

from sonde import job

PART_BYTES = 64 << 10  # parameters larger than this are cut


def listen(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    return server


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return Connection(client.detach())


def cut(values):
    """{name: array} as flat parts: {(name, number): array}."""
    parts = {}
    for name, value in values.items():
        flat = np.ascontiguousarray(value, dtype=np.float32).reshape(-1)
        count = -(-flat.nbytes // PART_BYTES)
        parts.update({(name, i): part.copy() for i, part in enumerate(np.array_split(flat, count))})
    return parts


def join(parts, name):
    return np.concatenate([parts[key] for key in sorted(key for key in parts if key[0] == name)])


def place(sizes, old, servers):
    """Which server has which parameter: {key: server}. Balanced by bytes; what can stay where it is in `old` stays."""
    new = {key: old[key] for key in sizes if old.get(key) in servers}
    load = {server: sum(sizes[key] for key in new if new[key] == server) for server in servers}

    def put(key, server):
        if key in new:
            load[new[key]] -= sizes[key]
        new[key] = server
        load[server] += sizes[key]

    for key in sorted((key for key in sizes if key not in new), key=lambda key: (-sizes[key], key)):
        put(key, min(servers, key=lambda server: (load[server], server)))
    while True:
        full, free = max(servers, key=load.get), min(servers, key=load.get)
        gap = load[full] - load[free]
        movable = [key for key in sizes if new[key] == full and sizes[key] < gap]
        if not movable:
            return new
        put(min(movable, key=lambda key: (abs(gap - 2 * sizes[key]), key)), free)


class Sgd:
    """Gradient descent with momentum; a parameter's slot is its velocity."""

    def __init__(self, rate, momentum):
        self.rate, self.momentum = rate, momentum

    def apply(self, value, slot, gradient):
        slot *= self.momentum
        slot += gradient
        value -= self.rate * slot


class Adagrad:
    """For sparse gradients (indices, values); the slot is the sum of squares."""

    def __init__(self, rate):
        self.rate = rate

    def apply(self, value, slot, gradient):
        at, by = gradient
        slot[at] += by * by
        value[at] -= self.rate * by / (np.sqrt(slot[at]) + 1e-8)


class Server:
    """A parameter server: what it holds, and what it has given away."""

    def __init__(self, rule):
        self.rule, self.held, self.moved = rule, {}, {}

    def exchange(self, gradients, wanted):
        """Apply, then answer: values of what is wanted (whole, or at indices), and where the rest is."""
        elsewhere = {key: self.moved[key] for key in {*gradients, *wanted} if key not in self.held}
        for key, gradient in gradients.items():
            if key in self.held:
                self.rule.apply(*self.held[key], gradient)
        values = {key: self.held[key][0] if at is None else self.held[key][0][at] for key, at in wanted.items()
                  if key in self.held}
        return values, elsewhere

    def give(self, keys, path):
        """To another server; from now on it is asked."""
        other = connect(path)
        other.send(("take", {key: self.held[key] for key in keys}))
        other.recv()
        other.close()
        for key in keys:
            del self.held[key]
            self.moved[key] = path

    def take(self, parts):
        self.held.update(parts)
        for key in parts:
            self.moved.pop(key, None)

    def dump(self):
        return self.held


def serve(_, chief, path, rule):
    """A parameter server's process."""
    server, door, clients = Server(rule), listen(path), []
    chief.send("ready")
    while True:
        for ready in wait([door, chief, *clients]):
            if ready is door:
                clients.append(Connection(door.accept()[0].detach()))
                continue
            try:
                word, *args = ready.recv()
            except (EOFError, ConnectionResetError):
                if ready is chief:
                    return
                clients.remove(ready)
                continue
            if word == "end":
                return
            ready.send(getattr(server, word)(*args))


class Parameters:
    """A worker's view of the parameters: where they are, and the exchange."""

    def __init__(self):
        self.where, self._links = {}, {}

    def _ask(self, requests):
        """{path: (gradients, wanted)} to all, then the answers of all."""
        for path, request in requests.items():
            if path not in self._links:
                self._links[path] = connect(path)
            self._links[path].send(("exchange", *request))
        return [self._links[path].recv() for path in requests]

    def exchange(self, gradients, wanted):
        """Both by part: gradients {key: gradient}, wanted {key: indices or None}. The values wanted."""
        values = {}
        while gradients or wanted:
            requests = {}
            for what, items in enumerate((gradients, wanted)):
                for key, item in items.items():
                    requests.setdefault(self.where[key], ({}, {}))[what][key] = item
            moved = {}
            for got, elsewhere in self._ask(requests):
                values.update(got)
                moved.update(elsewhere)
            self.where.update(moved)
            gradients = {key: gradients[key] for key in moved if key in gradients}
            wanted = {key: wanted[key] for key in moved if key in wanted}
        return values

    def move(self, where):
        self.where = where
        for path in set(self._links) - set(where.values()):
            self._links.pop(path).close()


def work(task, chief, model_of, where, settings, seed):
    """A worker's process. `model_of(seed)` makes what knows its data: wanted(), gradients(values), set_threads(n)."""
    model, parameters, is_going = model_of(seed), Parameters(), True

    def obey(word, *args):
        nonlocal is_going
        if word == "where":
            parameters.move(*args)
            chief.send(("moved",))
        elif word == "threads":
            model.set_threads(*args)
        else:
            is_going = False

    obey("threads", settings["threads"])
    parameters.where = where
    gradients = {}
    while is_going:
        values = parameters.exchange(gradients, model.wanted())
        loss, gradients = model.gradients(values)
        chief.send(("step", loss))
        while chief.poll():
            obey(*chief.recv())
    parameters.exchange(gradients, {})


class Chief:
    """Starts and ends the others, says where parameters are, counts steps, reports."""

    KNOBS = {"ps": (1, 1, 16), "workers": (1, 1, 64), "threads": (1, 1, 64)}  # default, lowest, highest

    def __init__(self, model_of, values, rule, preload=(), seed=1):
        self.model_of, self.rule, self.seed, self.step, self.started = model_of, rule, seed, 0, 0
        self.parts, self.slots = cut(values), None
        self.where, self.settings = {}, {"ps": 0, "workers": 0, "threads": 0}
        self.crew = job.Crew({"ps": serve, "worker": work}, preload=preload)
        self.place = tempfile.TemporaryDirectory(prefix="ps-")
        self.paths, self.newcomers = [], set()

    def _request(self, server, *words):
        server.connection.send(words)
        return server.connection.recv()

    def _add_server(self):
        self.started += 1
        path = os.path.join(self.place.name, str(self.started))
        server = self.crew.start("ps", path, self.rule)
        server.connection.recv()
        self.paths.append(path)

    def _fill(self):
        """The first placement: from the start values, or a checkpoint."""
        for server, path in zip(self.crew.members["ps"], self.paths):
            mine = [key for key in self.where if self.where[key] == path]
            slots = self.slots or {key: np.zeros_like(self.parts[key]) for key in mine}
            self._request(server, "take", {key: (self.parts[key], slots[key]) for key in mine})

    def _move_parameters(self, count):
        """To the first `count` servers; the others then have none."""
        sizes = {key: part.nbytes for key, part in self.parts.items()}
        old, self.where = self.where, place(sizes, self.where, self.paths[:count])
        if not old:
            return self._fill()
        for server, path in zip(self.crew.members["ps"], self.paths):
            for to in self.paths[:count]:
                keys = [key for key in self.where if old[key] == path != self.where[key] == to]
                if keys:
                    self._request(server, "give", keys, to)
        return None

    def _tell_workers(self):
        """Wait until all know where parameters are: nobody then asks a server that is to go."""
        for worker in self.crew.members["worker"]:
            worker.connection.send(("where", self.where))
        for worker in self.crew.members["worker"]:
            while self._hear(worker) != "moved":
                pass

    def _set_servers(self, count):
        while len(self.paths) < count:
            self._add_server()
        self._move_parameters(count)
        self._tell_workers()
        while len(self.paths) > count:
            self.paths.pop()
            server = self.crew.release("ps")
            server.connection.send(("end",))
            server.join()

    def _set_workers(self, count):
        while len(self.crew.members["worker"]) < count:
            self.started += 1
            self.newcomers.add(self.crew.start("worker", self.model_of, self.where, self.settings, self.seed * 1000 + self.started))
        leaving = [self.crew.release("worker") for _ in range(len(self.crew.members["worker"]) - count)]
        self.newcomers -= set(leaving)
        for worker in leaving:
            worker.connection.send(("end",))
        for worker in leaving:
            worker.join()

    def reconfigure(self, **settings):
        """Other numbers of servers, workers or threads; training goes on with those that stay."""
        before, self.settings = self.settings, {**self.settings, **settings}
        if self.settings["ps"] != before["ps"]:
            self._set_servers(self.settings["ps"])
        if self.settings["threads"] != before["threads"]:
            for worker in self.crew.members["worker"]:
                worker.connection.send(("threads", self.settings["threads"]))
        if self.settings["workers"] != before["workers"]:
            self._set_workers(self.settings["workers"])
        self._hear_all()

    def _hear_all(self):
        """What those that stay have done meanwhile counts for the settings before."""
        for worker in set(self.crew.members["worker"]) - self.newcomers:
            while worker.connection.poll():
                self._hear(worker)

    def _hear(self, worker):
        word, *args = worker.connection.recv()
        if word == "step":
            self.step += 1
            job.report(self.step, *args, worker=worker.task)
            self.newcomers.discard(worker)
        return word

    def parameters(self):
        """All parts, with what belongs to them."""
        held = {}
        for server in self.crew.members["ps"]:
            held.update(self._request(server, "dump"))
        return held

    def save(self, path):
        held = self.parameters()
        with open(path + ".new", "wb") as file:
            np.savez(file, step=self.step, **{f"{what}|{name}|{i}": held[name, i][what] for name, i in held for what in (0, 1)})
        os.replace(path + ".new", path)

    def load(self, path):
        with np.load(path) as file:
            self.step = int(file["step"])
            names = [name.split("|") for name in file.files if "|" in name]
            parts = {what: {(name, int(i)): file[f"{what}|{name}|{i}"] for w, name, i in names if w == what} for what in "01"}
        self.parts, self.slots = parts["0"], parts["1"]

    def run(self, steps, options):
        """Until a number of steps, or until somebody says stop. A checkpoint in the job's directory is gone on with."""
        checkpoint = os.path.join(job.directory, "checkpoint.npz") if job.directory else None
        if checkpoint and os.path.exists(checkpoint):
            self.load(checkpoint)
        settings = {name: getattr(options, name) for name in self.KNOBS}
        job.changed(is_settled=False)
        while True:
            self.reconfigure(**{name: job.knob(name, settings[name], *self.KNOBS[name][1:]) for name in settings})
            while not job.changed(is_settled=False):
                workers = {worker.connection: worker for worker in self.crew.members["worker"]}
                for ready in wait(list(workers), timeout=0.2):
                    self._hear(workers[ready])
                if not self.newcomers:
                    job.settle()  # all take part: what is reported from now on is of the new settings
                if self.step >= steps or job.should_stop():
                    if checkpoint:
                        self.save(checkpoint)
                    self._set_workers(0)
                    return


def options_of(description, **more):
    """The command line that the jobs share; `more` adds options by name and default."""
    parser = argparse.ArgumentParser(description=description)
    for name, (default, *_) in Chief.KNOBS.items():
        parser.add_argument("--" + name, type=int, default=default)
    for name, default in more.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    return parser.parse_args()
