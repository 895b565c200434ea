/* container: which container and control group a process is in, as /proc tells. */
#ifndef SONDE_LIVE_CONTAINER_ID_H
#define SONDE_LIVE_CONTAINER_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The id that engines put into the path of a control group (64 digits), and the name that the engine gave it: podman
 * leaves it inside of privileged ones and tells it to conmon, which watches over each; docker keeps it in a file. */
void live_container_of(pid_t pid, char *id, size_t id_size, char *name, size_t name_size);
/* The same from the text of /proc/PID/cgroup. */
void live_container_id(const char *cgroups, char *id, size_t size);
/* The words of a command, each with its NUL: the name, if they are conmon's for that container. */
bool live_container_conmon(const char *words, size_t bytes, const char *id, char *name, size_t size);
/* What docker keeps of a container below its directory. */
bool live_container_docker(const char *root, const char *id, char *name, size_t size);
/*
 * What podman puts into a container, below its root. The container may have made it a link, a pipe or anything:
 * links are resolved inside of the root, and it is read only if it is a file.
 */
bool live_container_env(int root, char *name, size_t size);

enum live_place { LIVE_CORE, LIVE_CPU, LIVE_CPUACCT, LIVE_MEMORY, LIVE_PLACES };

/* The directories of a control group: v2's, and v1's by controller, which may be v2's too. "": it has none but ours. */
struct live_cgroup {
	char dir[LIVE_PLACES][256];
};

void live_container_cgroup(pid_t pid, struct live_cgroup *group);

#endif
