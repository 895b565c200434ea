"""Ask and tell: tune anything that Python can measure.

    from sonde import tune

    with tune.Study({"params": [{"name": "x", "type": "float", "low": 0, "high": 1},
                                {"name": "mode", "type": "categorical", "choices": ["a", "b"]}],
                     "objective": {"name": "value", "goal": "minimize"}}, seed=1) as study:
        for trial in study.trials(30):
            trial.tell(measure(**trial.params))
        print(study.best())

A study is the path of a study file or the same as a dict. `sonde tune serve` does the thinking, in a process of its own.
"""
import json
import math
import os
import shutil
import subprocess
import tempfile

__all__ = ["Best", "Study", "Trial", "TuneError"]


class TuneError(Exception):
    """What `sonde tune serve` refused, in its words."""


class Best:
    """What to take: params, the expected value and its 95 % interval; params is None while no trial has worked."""

    def __init__(self, answer):
        self.params = answer["params"]
        self.value, self.lo, self.hi = answer["value"], answer["lo"], answer["hi"]

    def __repr__(self):
        return f"Best(params={self.params!r}, value={self.value!r}, lo={self.lo!r}, hi={self.hi!r})"


class Trial:
    """A configuration to measure; tell its value once."""

    def __init__(self, study, answer):
        self._study = study
        self.id, self.params = answer["id"], answer["params"]

    def tell(self, *values, limits=None, repeats=1, cut=False, wall_s=None):
        """One number, or one for each objective. A value that is not finite is a failure."""
        if not all(math.isfinite(value) for value in values):
            return self.fail()
        request = {"tell": self.id, "repeats": repeats}
        request.update({"value": values[0]} if len(values) == 1 else {"values": list(values)})
        if wall_s:
            request["wall_s"] = wall_s
        if limits:
            request["limits"] = limits
        if cut:
            request["cut"] = True
        self._study._tell(request)
        return None

    def fail(self):
        """The configuration does not work."""
        self._study._tell({"tell": self.id, "failed": True})

    def __repr__(self):
        return f"Trial(id={self.id}, params={self.params!r})"


def _find_sonde():
    """The installation this package belongs to (PREFIX/lib/sonde/python), else PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    near = os.path.normpath(os.path.join(here, "..", "..", "..", "..", "bin", "sonde"))
    found = near if os.access(near, os.X_OK) else shutil.which("sonde")
    if not found:
        raise TuneError("there is no sonde in this installation nor in PATH")
    return found


class Study:
    """A conversation with `sonde tune serve`. With `keep`, a directory, everything is in a journal there and goes on."""

    def __init__(self, study, seed=None, sonde=None, keep=None):
        self._file = None
        path = study
        if isinstance(study, dict):
            self._file = tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8")  # JSON is YAML
            json.dump(study, self._file)
            self._file.flush()
            path = self._file.name
        command = [sonde or _find_sonde(), "tune", "serve", os.fspath(path)]
        if seed is not None:
            command += ["--seed", str(seed)]
        if keep is not None:
            command += ["-o", os.fspath(keep)]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, encoding="utf-8", bufsize=1)

    def _request(self, request):
        try:
            self._server.stdin.write(json.dumps(request) + "\n")
            line = self._server.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise TuneError(self._server.stderr.read().strip() or "sonde tune serve has ended")
        answer = json.loads(line)
        if "error" in answer:
            hint = answer.get("hint")
            raise TuneError(answer["error"] + (f" (hint: {hint})" if hint else ""))
        return answer

    def _tell(self, request):
        self._request({**request, "answer": True})

    def ask(self):
        """The next trial; several may be open at once."""
        return Trial(self, self._request({"ask": 1}))

    def add(self, **params):
        """A trial of one's own; parameters not named have their defaults."""
        return Trial(self, self._request({"add": params}))

    def open(self):
        """Trials that were asked for and not told: of an earlier conversation, when the journal goes on."""
        answer, found = self._request({"open": True}), []
        while "end" not in answer:
            found.append(Trial(self, answer))
            answer = json.loads(self._server.stdout.readline())
        return found

    def trials(self, count):
        """count trials, one after the other."""
        for _ in range(count):
            yield self.ask()

    def best(self):
        """What is expected to be best, of what was tried."""
        return Best(self._request({"best": True}))

    def close(self):
        """End the conversation."""
        for stream in (self._server.stdin, self._server.stdout, self._server.stderr):
            stream.close()
        self._server.wait()
        if self._file:
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
