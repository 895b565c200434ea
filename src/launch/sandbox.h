/*
 * sandbox: private namespaces and an overlay over a root. A job's supervisor enters it and is process 1 there.
 *
 * The command sees the file systems below `root` unchanged and may write anywhere: its writes go to memory and are
 * discarded at its end. /proc is private, /dev and /sys are the machine's, /dev/shm is empty. Mounts of the job are
 * not overlaid: writes there persist. The sandbox leaves nothing behind on the machine.
 *
 * Without CAP_SYS_ADMIN it uses a user namespace, where the system permits one. There the root is assembled from
 * parts, and files of other users or groups cannot be changed, even if they could be outside.
 */
#ifndef SONDE_LAUNCH_SANDBOX_H
#define SONDE_LAUNCH_SANDBOX_H

#include "launch/job.h"

struct sandbox; /* opaque: all state that is needed after the fork, prepared before it */

int sandbox_new(struct sandbox **out, const struct job_isolation *place, struct sonde_err *err);
void sandbox_free(struct sandbox *s);
uint64_t sandbox_namespaces(const struct sandbox *s); /* CLONE_NEW* */
/* Called in the supervisor. 0, or -errno and the stage that failed. Allocates nothing. */
int sandbox_enter(struct sandbox *s, int *stage);
const char *sandbox_stage_words(int stage);

/* Private: state that is prepared before the fork and used after it. */

/*
 * tmpfs for written files, mounted where it hides nothing that is needed: the sandbox mounts a new /proc. The new
 * root is assembled below it.
 */
#define SANDBOX_SCRATCH "/proc"
#define SANDBOX_ROOT SANDBOX_SCRATCH "/root"

/* An overlay (options), a bind mount (source), a symbolic link (link), or a copy of a directory (only lower). */
struct sandbox_layer {
	char *source, *target, *link;
	char *options, *lower, *upper, *work;
	bool is_file, is_read_only;
	const struct job_mount *mount; /* resolved by descriptor; NULL: by path */
	int tree;                      /* and the resulting detached mount, after the fork */
};

struct sandbox {
	struct sandbox_layer *layers; /* in the order of mounting */
	size_t layer_count;
	bool is_ordinary; /* uses a user namespace */
	bool is_parted;   /* assembled from parts */
	bool has_own_network;
	char uid_map[64], gid_map[64];
};

struct sandbox_mounts { /* mount points in /proc/self/mountinfo */
	char **at;
	size_t count;
};

#endif
