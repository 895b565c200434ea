"""The processes of a job's other roles: parameter servers, workers. They come and go while the job runs."""
import multiprocessing
import os
import signal


def _run(role, task, target, connection, args):
    from . import job

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the chief ends us
    job._become(role, task)
    try:
        target(task, connection, *args)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the chief is gone


class Member:
    """One process: its role, its number among those that have it, and our end of the connection to it."""

    def __init__(self, role, task, process, connection):
        self.role, self.task, self.process, self.connection = role, task, process, connection

    def join(self, patience=10):
        """It was told to end: wait for that, and end it if it does not."""
        self.connection.close()
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Crew:
    """Starts members of roles; `roles` says what each does: {"worker": function}.

    The function gets the member's number, its connection to the chief and the arguments given to `start`. It must be one
    that can be imported. Processes are forked from a small server that has imported `preload`, so that a member is there in
    milliseconds whatever it needs to import.
    """

    def __init__(self, roles, preload=()):
        self._roles = roles
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["sonde.job", *preload])
        self.members = {role: [] for role in roles}

    def start(self, role, *args):
        """One more of the role; it has the next number."""
        ours, theirs = self._context.Pipe()
        task = len(self.members[role])
        process = self._context.Process(target=_run, args=(role, task, self._roles[role], theirs, args), daemon=True)
        hidden = {name: os.environ.pop(name) for name in ("SONDE_JOB_FD", "SONDE_JOB_CONFIG") if name in os.environ}
        try:
            process.start()
        finally:
            os.environ.update(hidden)
        theirs.close()
        self.members[role].append(Member(role, task, process, ours))
        return self.members[role][-1]

    def release(self, role):
        """The last of the role, which the caller then tells to end and joins."""
        return self.members[role].pop()
