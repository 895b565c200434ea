"""For training programs: say how far the training is, take up other settings while it runs, learn when it is good enough.

    from sonde import job

    for step in range(steps):
        if job.changed():
            torch.set_num_threads(job.knob("threads", 1))
        loss = train(step)
        job.report(step, loss)
        if job.should_stop():
            save(job.directory)
            break

`sonde train` listens and decides; under a fleet without it, the agent does. Elsewhere nothing happens: report does nothing,
should_stop is False, and knobs have their defaults. `Crew` keeps the processes of the other roles: parameter servers, workers.
"""
import json
import os
import socket
import threading

from ._crew import Crew, Member
from ._knob import knob as _board_knob

__all__ = ["Crew", "Member", "changed", "directory", "id", "knob", "knobs", "report", "role", "settle", "should_stop",
           "task"]

id = os.environ.get("SONDE_JOB_ID")  # the job's id; None when nobody listens
directory = os.environ.get("SONDE_JOB_DIR")  # where a checkpoint is found again; None when nobody restarts the job
role, task = "chief", 0  # in a Crew's process: its role, and its number among those that have it

_lock = threading.Lock()
_heard = b""
_is_stopped = False
_is_changed = False
_settings = {}  # name: value, as asked for
_index = None  # of the configuration that reports count for; None: nobody gave one
_next_index = None  # of the one that was asked for
_is_read = False  # a knob was looked at since then
_has_own_say = False  # the program calls changed() or settle(): it knows when settings are in force


def _connect():
    try:
        return socket.socket(fileno=os.dup(int(os.environ["SONDE_JOB_FD"])))
    except (KeyError, ValueError, OSError):
        return None


def _take_config(index, text):
    global _next_index, _is_changed, _is_read
    settings = json.loads(text)
    if isinstance(settings, dict):
        _settings.update(settings)
        _next_index, _is_changed, _is_read = int(index), True, False


def _take_line(line):
    """stop | config INDEX {"name": value, ...} | knob NAME VALUE. What is none of them is left alone."""
    global _is_stopped, _is_changed
    word, _, rest = line.partition(" ")
    name, _, value = rest.partition(" ")
    try:
        if word == "stop":
            _is_stopped = True
        elif word == "config":
            _take_config(name, value)
        elif word == "knob":
            _settings[name] = json.loads(value)
            _is_changed = True
    except ValueError:
        pass


def _listen():
    """Take in what was said; never waits."""
    global _heard
    if _agent is None:
        return
    with _lock:
        try:
            while more := _agent.recv(4096, socket.MSG_DONTWAIT):
                *lines, _heard = (_heard + more).split(b"\n")
                _heard = _heard[-65536:]
                for line in lines:
                    _take_line(line.decode(errors="replace"))
        except OSError:
            pass  # nothing more for now


_agent = _connect()
if "SONDE_JOB_CONFIG" in os.environ:
    _take_line("config " + os.environ["SONDE_JOB_CONFIG"])


def report(step, loss, worker=None):
    """The loss after a step: an integer and a number. NaN is told as it is. worker: the number of who made the step.

    In a program that never calls changed() it counts for new settings once it has looked at one of them by knob().
    """
    global _index
    line = f"report {int(step)} {float(loss)!r}"
    if _index is None or (_is_read and not _has_own_say):
        _index = _next_index
    if worker is not None or _index is not None:
        line += f" {int(worker or 0)}"
    if _index is not None:
        line += f" {_index}"
    if _agent is None:
        return
    with _lock:
        try:
            _agent.sendall(line.encode() + b"\n")
        except OSError:
            pass  # whoever listened is gone; it is not the program's business


def should_stop():
    """Has the job been asked to end? Save what a restart needs, and end: it is ended ten seconds after that."""
    _listen()
    return _is_stopped


def changed(is_settled=True):
    """Are there other settings than at the last call? True at the first one, when settings were given.

    The next report counts for the new ones: take them up before. A program that takes a while to change and trains on
    meanwhile says is_settled=False, and calls settle() when the change is complete.
    """
    global _is_changed, _has_own_say
    _listen()
    was, _is_changed, _has_own_say = _is_changed, False, True
    if is_settled:
        settle()
    return was


def settle():
    """All that was asked for is in force: reports count for it from now on."""
    global _index, _has_own_say
    _index, _has_own_say = _next_index, True


def knob(name, default, low=None, high=None, choices=None):
    """The value asked for, by who tunes the job, else as sonde.knob: of the default's kind, within low and high or among
    the choices."""
    global _is_read
    _listen()
    _is_read = True
    value = _settings.get(name)
    if value is None:
        return _board_knob(name, default, low, high, choices)
    if choices is not None:
        return value if value in choices else default
    try:
        value = type(default)(value)
        value = value if low is None else max(low, value)
        return value if high is None else min(high, value)
    except (TypeError, ValueError):
        return default


def knobs():
    """All settings that were asked for."""
    global _is_read
    _listen()
    _is_read = True
    return dict(_settings)


def _become(new_role, new_task):
    """In a Crew's process: it is not the chief, and nobody listens to it."""
    global role, task, _agent
    role, task, _agent = new_role, new_task, None
