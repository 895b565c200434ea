/* Jobs: signals, the escalation to SIGKILL, and cleanup. */
#include "base/clock.h"
#include "launch/job-private.h"
#include "launch/process-tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_LIMIT_NS 60000000000 /* for a killed tree to exit: a process may hang in the kernel */
#define STUCK_LIMIT_NS 1000000000 /* for the rest of the tree, if we may not kill one of the processes */

int job_signal(struct job *j, int signal, struct sonde_err *err)
{
	job_read_messages(j);
	if (j->is_gone)
		return 0;
	if (j->is_lost)
		return job_lost(j, err);
	return j->ops->signal ? j->ops->signal(j, signal, err) : tree_signal(j->supervisor, false, signal, err);
}

/* Waits until no process of the tree is left. */
static bool wait_gone(struct job *j, int64_t until_ns)
{
	for (;;) {
		job_read_messages(j);
		if (j->is_gone || j->is_lost || j->stuck)
			return j->is_gone || j->is_lost;
		if (!job_await(j, -1, until_ns))
			return false;
	}
}

static int request_end(struct job *j, const struct job_ladder *ladder, struct sonde_err *err)
{
	const struct {
		int signal;
		int64_t wait_ns;
	} rungs[] = { { SIGINT, ladder->interrupt_ns }, { SIGTERM, ladder->terminate_ns } };
	for (size_t i = 0; i < sizeof(rungs) / sizeof(*rungs); i++) {
		if (!rungs[i].wait_ns)
			continue;
		int rc = job_signal(j, rungs[i].signal, err);
		if (rc && rc != -EPERM)
			return rc;
		if (wait_gone(j, clock_mono_ns() + rungs[i].wait_ns))
			return 0;
	}
	return 0;
}

static int kill_all(struct job *j, struct sonde_err *err)
{
	job_read_messages(j);
	if (j->is_gone)
		return 0;
	if (j->ops->kill)
		j->ops->kill(j);
	if (j->is_lost) { /* the command at least can still be killed by its pidfd */
		syscall(SYS_pidfd_send_signal, j->pidfd, SIGKILL, NULL, 0);
		return job_lost(j, err);
	}
	supervisor_send_kill(j->sock);
	if (wait_gone(j, clock_mono_ns() + KILL_LIMIT_NS))
		return j->is_lost ? job_lost(j, err) : 0;
	pid_t stuck = j->stuck;
	j->stuck = 0;
	if (stuck && wait_gone(j, clock_mono_ns() + STUCK_LIMIT_NS))
		return 0;
	if (stuck)
		return err_set(err, EPERM, "process %d of '%s' runs as another user and cannot be ended", (int)stuck,
				j->program);
	tree_count(j->supervisor, &stuck);
	return err_set(err, ETIMEDOUT, "process %d of '%s' does not end: it hangs in the kernel", (int)stuck,
			j->program);
}

/* No process is left: release the supervisor and the isolation. */
static int put_away(struct job *j, struct sonde_err *err)
{
	siginfo_t info;
	while (j->supervisor_pidfd >= 0 && waitid(P_PIDFD, (id_t)j->supervisor_pidfd, &info, WEXITED | __WALL) &&
			errno == EINTR)
		;
	if (j->supervisor_pidfd >= 0)
		close(j->supervisor_pidfd);
	j->supervisor_pidfd = -1;
	if (j->ops->usage && j->place)
		j->ops->usage(j, &j->usage);
	int rc = j->ops->release ? j->ops->release(j, err) : 0;
	j->ops = &isolation_process;
	return rc;
}

int job_end(struct job *j, const struct job_ladder *ladder, struct sonde_err *err)
{
	int rc = request_end(j, ladder, err);
	if (!rc)
		rc = kill_all(j, err);
	if (j->is_gone || j->is_lost) {
		int failed = put_away(j, rc ? NULL : err);
		rc = rc ? rc : failed;
	}
	return rc;
}

static void release(struct job *j)
{
	if (j->sock >= 0)
		close(j->sock); /* a supervisor that still has processes to kill continues without us */
	if (j->supervisor_pidfd >= 0)
		close(j->supervisor_pidfd);
	if (j->pidfd >= 0)
		close(j->pidfd);
	free(j->envp);
	free(j->program);
	free(j);
}

void job_abandon(struct job *j)
{
	if (j && !j->is_bound && j->ops == &isolation_process)
		release(j);
	else
		job_free(j);
}

void job_free(struct job *j)
{
	static const struct job_ladder at_once = JOB_LADDER_KILL;
	if (!j)
		return;
	if (j->pidfd >= 0)
		job_end(j, &at_once, NULL);
	else if (j->sock >= 0)
		supervisor_send_kill(j->sock);
	if (j->pidfd < 0)
		put_away(j, NULL);
	release(j);
}
