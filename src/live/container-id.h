/* container-id: the container and cgroup of a process, from /proc. */
#ifndef SONDE_LIVE_CONTAINER_ID_H
#define SONDE_LIVE_CONTAINER_ID_H

#include "launch/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

#endif
