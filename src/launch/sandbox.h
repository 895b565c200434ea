/*
 * sandbox: namespaces of its own and an overlay over a root, entered by a job's
 * keeper, which is then process 1 there.
 */
#ifndef SONDE_LAUNCH_SANDBOX_H
#define SONDE_LAUNCH_SANDBOX_H

#include "base/err.h"
#include "launch/job.h"

struct sandbox; /* a handle: all that is needed after the fork, made before it */

int sandbox_new(struct sandbox **out, const struct job_place *place, struct sonde_err *err);
void sandbox_free(struct sandbox *s);
uint64_t sandbox_namespaces(const struct sandbox *s); /* CLONE_NEW* */
/* In the keeper. 0, or -errno and which stage failed. Allocates nothing. */
int sandbox_enter(const struct sandbox *s, int *stage);
const char *sandbox_stage_words(int stage);
int sandbox_check(const struct job_place *place, struct sonde_err *err);

#endif
