/*
 * proc-metrics: metrics of the machine, of cgroups and of processes, from /proc and cgroups by probe/proc/series.def.
 *
 * A value that the kernel does not report has no sample. The files of a cgroup are opened once and kept open, because a
 * path lookup costs more than a read.
 */
#ifndef SONDE_LIVE_PROC_METRICS_H
#define SONDE_LIVE_PROC_METRICS_H

#include "launch/cgroup.h"
#include "live/exposition.h"
#include "probe/proc/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The container and cgroup of a process, from /proc. */

/*
 * The id that engines put into the cgroup path (64 digits), and the container's name. podman stores the name inside
 * privileged containers and passes it to conmon, its per-container monitor; docker stores it in a file.
 */
void live_container_of(pid_t pid, char *id, size_t id_size, char *name, size_t name_size);
/* The id, from the text of /proc/PID/cgroup. */
void live_container_id(const char *cgroups, char *id, size_t size);
/* words: NUL-terminated arguments of a command. Returns the name if they are conmon's for that container. */
bool live_container_conmon(const char *words, size_t bytes, const char *id, char *name, size_t size);
/* Reads the name from docker's file, below its root directory. */
bool live_container_docker(const char *root, const char *id, char *name, size_t size);
/*
 * Reads the name from podman's file, below the container's root. The container may have replaced it by a link, a
 * pipe or anything: links are resolved within the root, and only a regular file is read.
 */
bool live_container_env(int root, char *name, size_t size);

/* The directories of a cgroup: v2's, and v1's by controller, which may be v2's too. "": the same cgroup as ours. */
struct live_cgroup {
	char dir[CGROUP_CONTROLLERS][256];
};

void live_container_cgroup(pid_t pid, struct live_cgroup *group);

struct live_process {
	char name[32];
	double cpu_seconds; /* includes waited-for children */
	uint64_t resident_bytes, virtual_bytes;
	double start_seconds; /* since boot */
};

/* -ESRCH: it has exited, or the pid was reused by a process started after begun_mono_ns (INT64_MAX: accept any). */
int live_process_read(struct live_process *p, pid_t pid, int64_t begun_mono_ns);
/* The same for an open /proc/PID/stat. */
int live_process_poll(struct live_process *p, int fd, int64_t begun_mono_ns);

#define LIVE_PRESSURES 3

struct live_group_files {      /* of a cgroup; private; all zeroes: none was opened yet */
	int fds[SERIES_FILES]; /* 0: not opened yet; -1: missing */
	uint32_t reads[SERIES_FILES];
	struct { /* last value, and 1 + the machine's own value at that time; 0: never read */
		double ns, node_at;
	} pressure[LIVE_PRESSURES];
};

void live_group_close(struct live_group_files *f);

/* A cgroup that is exported even if its processes have no boards. */
struct live_group {
	const char *app, *dir;
};

#define LIVE_GROUPS_MAX 256

struct live_named_groups { /* with their open files */
	const struct live_group *groups;
	size_t count;
	/* private */
	struct live_cgroup *dirs;
	struct live_group_files *files;
	int node_fds[LIVE_PRESSURES]; /* pressure files of the machine; 0: not opened yet; -1: missing */
};

/* If out of memory, the list is empty. */
void live_named_groups_init(struct live_named_groups *n, const struct live_group *groups, size_t count);
void live_named_groups_release(struct live_named_groups *n);

struct live_scan;
/* CPU time, memory and pressure of the machine; of the cgroups of applications, and of the named ones. */
void live_node(struct exposition *x);
void live_groups(struct exposition *x, const struct live_scan *s, struct live_named_groups *named);

#endif
