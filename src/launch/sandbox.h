/*
 * sandbox: namespaces of its own and an overlay over a root, entered by a job's
 * keeper, which is then process 1 there.
 *
 * The command sees the file systems below `root` as they are and may write
 * anywhere: what it writes goes to memory and vanishes with it. /proc is its own,
 * /dev and /sys are the machine's, /dev/shm is fresh. A mount of the job goes through:
 * what is written there stays. Nothing is left on the machine but memory given back.
 *
 * Without CAP_SYS_ADMIN a user namespace gives the rights for it, where the system
 * lets ordinary users have one. There the root is put together of parts (sandbox-parts.c),
 * and what belongs to other users or groups cannot be changed, even where it could be outside.
 */
#ifndef SONDE_LAUNCH_SANDBOX_H
#define SONDE_LAUNCH_SANDBOX_H

#include "launch/job.h"

struct sandbox; /* a handle: all that is needed after the fork, made before it */

int sandbox_new(struct sandbox **out, const struct job_isolation *place, struct sonde_err *err);
void sandbox_free(struct sandbox *s);
uint64_t sandbox_namespaces(const struct sandbox *s); /* CLONE_NEW* */
/* In the keeper. 0, or -errno and which stage failed. Allocates nothing. */
int sandbox_enter(struct sandbox *s, int *stage);
const char *sandbox_stage_words(int stage);

#endif
