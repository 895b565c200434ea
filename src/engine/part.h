/*
 * part: which share of the work is this process's.
 *
 * Part k of n, k from 0, takes every n-th block of each table. Said by the
 * user as "k/n", or "auto": by the environment of srun, mpirun or a job array.
 */
#ifndef SONDE_ENGINE_PART_H
#define SONDE_ENGINE_PART_H

#include "base/err.h"

#include <stdbool.h>

#define ENGINE_PARTS_MAX 65536u

struct engine_part {
	unsigned number; /* 0 .. count-1 */
	unsigned count;  /* 0 and 1: the whole */
};

/* "2/8" or "auto". */
int engine_part_parse(const char *text, struct engine_part *part, struct sonde_err *err);
/* What a launcher's environment says; false when there is none. */
bool engine_part_of_environment(struct engine_part *part);

#endif
