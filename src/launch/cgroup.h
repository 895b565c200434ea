/*
 * cgroup: a fresh leaf in the control groups of this machine, with limits.
 *
 * There may be one hierarchy (v2), several (v1), or both at once (hybrid: v1 has
 * the controllers, v2 the core files). A leaf is one directory in each hierarchy
 * that is of use, below the group that we are in, or, where v2 lets no group have
 * both processes and controllers for others, below the nearest that may. It is
 * never used twice: what is cloned into a v2 group after a write to its cgroup.kill
 * is killed at birth.
 *
 * Leaves are named sonde-PID-N. One whose maker died stays until the next leaf is
 * made there, which removes what is old and empty.
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

struct cgroup_map { /* for each controller the directory below which a leaf goes; "" when there is none */
	char base[CGROUP_CONTROLLERS][512];
	bool is_v2[CGROUP_CONTROLLERS];
};

struct cgroup_leaf {
	char *dir[CGROUP_CONTROLLERS]; /* NULL: not there; the same directory may serve several */
	bool is_v2[CGROUP_CONTROLLERS];
	int v2_fd; /* to be born in, -1: none */
	int join_fds[CGROUP_PARTS_MAX];
	size_t join_count;
};

/* From the text of /proc/self/mountinfo and /proc/self/cgroup: what v1 offers, and our own group in v2. */
void cgroup_map_parse(struct cgroup_map *m, const char *mountinfo, const char *own);
/* What can be had here for these limits; else what is missing, and how to get it. */
int cgroup_map_find(struct cgroup_map *m, const struct job_limits *limits, struct sonde_err *err);
/* The same of a map that was parsed. */
int cgroup_map_choose(struct cgroup_map *m, const struct job_limits *limits, struct sonde_err *err);

int cgroup_leaf_make(struct cgroup_leaf *leaf, const struct job_limits *limits, struct sonde_err *err);
int cgroup_leaf_limit(const struct cgroup_leaf *leaf, const struct job_limits *limits, struct sonde_err *err);
void cgroup_leaf_usage(const struct cgroup_leaf *leaf, struct job_usage *usage); /* only what the group can tell */
/* How many processes of our own group were ever killed for want of memory; -1: nobody counts them here. */
int64_t cgroup_own_oom_kills(void);
int cgroup_leaf_kill(const struct cgroup_leaf *leaf); /* -ENOTSUP where the kernel has no such word */
const char *cgroup_leaf_dir(const struct cgroup_leaf *leaf);
/* Removed with all groups that were made within; nothing may live in them. */
int cgroup_leaf_remove(struct cgroup_leaf *leaf, struct sonde_err *err);

#endif
