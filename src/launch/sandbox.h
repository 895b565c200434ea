/*
 * sandbox: private namespaces and an overlay over a root. A job's supervisor enters it and is process 1 there.
 *
 * The command sees the file systems below `root` unchanged and may write anywhere: its writes go to memory and are
 * discarded at its end. /proc is private, /dev and /sys are the machine's, /dev/shm is empty. Mounts of the job are
 * not overlaid: writes there persist. The sandbox leaves nothing behind on the machine.
 *
 * Without CAP_SYS_ADMIN it uses a user namespace, where the system permits one. There the root is assembled from
 * parts (sandbox-parts.c), and files of other users or groups cannot be changed, even if they could be outside.
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

#endif
