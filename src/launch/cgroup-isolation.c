#include "launch/cgroup.h"
#include "launch/job-private.h"

#include <errno.h>
#include <stdlib.h>

static int check(const struct job_isolation *place, struct sonde_err *err)
{
	struct cgroup_map map;
	return cgroup_map_find(&map, &place->limits, err);
}

static int prepare(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	struct cgroup_leaf *leaf = calloc(1, sizeof(*leaf));
	if (!leaf)
		return err_sys(err, ENOMEM, "cannot create a cgroup");
	int rc = cgroup_leaf_make(leaf, &spec->place->limits, err);
	if (rc) {
		free(leaf);
		return rc;
	}
	j->place = leaf;
	plan->cgroup_fd = leaf->v2_fd;
	plan->join_fds = leaf->join_fds;
	plan->join_count = leaf->join_count;
	return 0;
}

static void kill_leaf(struct job *j)
{
	cgroup_leaf_kill(j->place);
}

static void usage(const struct job *j, struct job_usage *u)
{
	cgroup_leaf_usage(j->place, u);
}

static int set_limits(struct job *j, const struct job_limits *limits, struct sonde_err *err)
{
	struct cgroup_map map;
	int rc = cgroup_map_find(&map, limits, err);
	return rc ? rc : cgroup_leaf_limit(j->place, limits, err);
}

static const char *dir(const struct job *j)
{
	return cgroup_leaf_dir(j->place);
}

static int release(struct job *j, struct sonde_err *err)
{
	int rc = j->place ? cgroup_leaf_remove(j->place, err) : 0;
	free(j->place);
	j->place = NULL;
	return rc;
}

const struct isolation_ops isolation_cgroup = {
	.check = check,
	.prepare = prepare,
	.kill = kill_leaf,
	.usage = usage,
	.set_limits = set_limits,
	.cgroup = dir,
	.release = release,
};
