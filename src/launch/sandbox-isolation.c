/* A job in a sandbox, and in a cgroup if available. */
#include "launch/cgroup.h"
#include "launch/job-private.h"
#include "launch/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct sandboxed {
	struct sandbox *sandbox;
	struct cgroup_leaf leaf;
	bool has_leaf;
	char cwd[PATH_MAX];
};

static int cannot(int errnum, struct sonde_err *err)
{
	int rc = err_sys(err, errnum, "cannot create namespaces for a sandbox");
	if (errnum == ENOSPC)
		err_hint(err, "raise user.max_user_namespaces with sysctl");
	else
		err_hint(err,
				"run as root, or let ordinary users have user namespaces: sysctl "
				"kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0");
	return rc == -EACCES ? -EPERM : rc;
}

/* Availability of namespaces can be checked only by creating them. */
static int try_namespaces(const struct sandbox *s, struct sonde_err *err)
{
	int pidfd = -1;
	siginfo_t info;
	pid_t pid = supervisor_fork(sandbox_namespaces(s), 0, -1, &pidfd);
	if (!pid)
		_exit(0);
	if (pid < 0)
		return cannot(-pid, err);
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) && errno == EINTR)
		;
	close(pidfd);
	return 0;
}

static int check(const struct job_isolation *place, struct sonde_err *err)
{
	struct sandbox *s = NULL;
	struct cgroup_map map;
	int rc = sandbox_new(&s, place, err);
	if (!rc)
		rc = try_namespaces(s, err);
	sandbox_free(s);
	if (!rc && job_has_limits(&place->limits))
		rc = cgroup_map_find(&map, &place->limits, err);
	return rc;
}

static int prepare_group(struct sandboxed *p, const struct job_limits *limits, struct supervisor_plan *plan,
		struct sonde_err *err)
{
	int rc = cgroup_leaf_make(&p->leaf, limits, err);
	if (rc)
		return job_has_limits(limits) ? rc : 0;
	p->has_leaf = true;
	plan->cgroup_fd = p->leaf.v2_fd;
	plan->join_fds = p->leaf.join_fds;
	plan->join_count = p->leaf.join_count;
	return 0;
}

static int prepare(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	struct sandboxed *p = calloc(1, sizeof(*p));
	if (!p)
		return err_sys(err, ENOMEM, "cannot prepare a sandbox");
	j->place = p;
	int rc = sandbox_new(&p->sandbox, spec->place, err);
	if (!rc)
		rc = prepare_group(p, &spec->place->limits, plan, err);
	plan->sandbox = p->sandbox;
	if (!plan->cwd)
		plan->cwd = spec->place->root || !getcwd(p->cwd, sizeof(p->cwd)) ? "/" : p->cwd;
	return rc;
}

static void kill_leaf(struct job *j)
{
	const struct sandboxed *p = j->place;
	if (p->has_leaf)
		cgroup_leaf_kill(&p->leaf);
}

static void usage(const struct job *j, struct job_usage *u)
{
	const struct sandboxed *p = j->place;
	if (p->has_leaf)
		cgroup_leaf_usage(&p->leaf, u);
}

static int release(struct job *j, struct sonde_err *err)
{
	struct sandboxed *p = j->place;
	int rc = p && p->has_leaf ? cgroup_leaf_remove(&p->leaf, err) : 0;
	if (p)
		sandbox_free(p->sandbox);
	free(p);
	j->place = NULL;
	return rc;
}

const struct isolation_ops isolation_sandbox = {
	.check = check,
	.prepare = prepare,
	.kill = kill_leaf,
	.usage = usage,
	.release = release,
};
