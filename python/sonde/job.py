"""For programs that a fleet runs: say how far the training is, and learn when it is good enough.

    from sonde import job

    for step in range(steps):
        loss = train(step)
        job.report(step, loss)
        if job.should_stop():
            break

Outside a fleet nothing happens: report does nothing and should_stop is False.
"""
import os
import socket
import threading

__all__ = ["id", "report", "should_stop"]

id = os.environ.get("SONDE_JOB_ID")  # the job's id; None outside a fleet

_lock = threading.Lock()
_heard = b""
_is_stopped = False


def _connect():
    try:
        return socket.socket(fileno=os.dup(int(os.environ["SONDE_JOB_FD"])))
    except (KeyError, ValueError, OSError):
        return None


_agent = _connect()


def report(step, loss):
    """The loss after a step: an integer and a number. NaN is told as it is."""
    line = f"report {int(step)} {float(loss)!r}\n".encode()
    if _agent is None:
        return
    with _lock:
        try:
            _agent.sendall(line)
        except OSError:
            pass  # the agent is gone; it is not the program's business


def should_stop():
    """Has the fleet asked the job to end? It is ended ten seconds after that."""
    global _heard, _is_stopped
    if _agent is None or _is_stopped:
        return _is_stopped
    with _lock:
        try:
            _heard = (_heard + _agent.recv(256, socket.MSG_DONTWAIT))[-256:]
        except OSError:
            return _is_stopped
        _is_stopped = b"stop\n" in _heard
    return _is_stopped
