/*
 * cgroup: a fresh cgroup leaf with limits.
 *
 * There may be one hierarchy (v2), several (v1), or both (hybrid: v1 has the controllers, v2 the core files). A leaf
 * is one directory in each hierarchy that is needed, below our own cgroup. v2 forbids a cgroup to have both
 * processes and controllers enabled for children; there the leaf is created below the nearest ancestor that allows
 * it. A leaf is never reused: a process that is cloned into a v2 cgroup after a write to its cgroup.kill is killed
 * at once.
 *
 * Leaves are named sonde-PID-N. If the creator dies, its leaf remains until the next leaf is created there, which
 * removes old empty leaves.
 */
#ifndef SONDE_LAUNCH_CGROUP_H
#define SONDE_LAUNCH_CGROUP_H

#include "launch/job.h"

#define CGROUP_PARTS_MAX 7

enum cgroup_controller {
	CGROUP_CPU,
	CGROUP_CPUACCT,
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_IO,
	CGROUP_FREEZER,
	CGROUP_CORE,
	CGROUP_CONTROLLERS
};

struct cgroup_map { /* for each controller the parent directory of new leaves; "" if none */
	char base[CGROUP_CONTROLLERS][512];
	bool is_v2[CGROUP_CONTROLLERS];
};

struct cgroup_leaf {
	char *dir[CGROUP_CONTROLLERS]; /* NULL if missing; controllers may share a directory */
	bool is_v2[CGROUP_CONTROLLERS];
	int v2_fd; /* for CLONE_INTO_CGROUP; -1 if none */
	int join_fds[CGROUP_PARTS_MAX];
	size_t join_count;
};

/* Parses the text of /proc/self/mountinfo and /proc/self/cgroup: the v1 controllers, and our own cgroup in v2. */
void cgroup_map_parse(struct cgroup_map *m, const char *mountinfo, const char *own);
/* Finds where a leaf with these limits can be created. On failure err names what is missing and how to enable it. */
int cgroup_map_find(struct cgroup_map *m, const struct job_limits *limits, struct sonde_err *err);
/* Like cgroup_map_find, for a map that is already parsed. */
int cgroup_map_choose(struct cgroup_map *m, const struct job_limits *limits, struct sonde_err *err);

int cgroup_leaf_make(struct cgroup_leaf *leaf, const struct job_limits *limits, struct sonde_err *err);
int cgroup_leaf_limit(const struct cgroup_leaf *leaf, const struct job_limits *limits, struct sonde_err *err);
void cgroup_leaf_usage(const struct cgroup_leaf *leaf, struct job_usage *usage); /* only the fields it reports */
/* Number of OOM kills in our own cgroup since its creation; -1 if the kernel does not count them. */
int64_t cgroup_own_oom_kills(void);
int cgroup_leaf_kill(const struct cgroup_leaf *leaf); /* -ENOTSUP if the kernel has no cgroup.kill */
/* Removes the leaf and all cgroups created below it. They must not contain processes. */
int cgroup_leaf_remove(struct cgroup_leaf *leaf, struct sonde_err *err);

#endif
