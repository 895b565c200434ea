/*
 * part: the share of the work of this process.
 *
 * Part k of n, k from 0, processes every n-th block of each table. Given by the user as "k/n", or as "auto": from the
 * environment of srun, mpirun or a job array.
 */
#ifndef SONDE_ENGINE_PART_H
#define SONDE_ENGINE_PART_H

#include "base/err.h"

#include <stdbool.h>

#define ENGINE_PARTS_MAX 65536u

struct engine_part {
	unsigned number; /* 0 .. count-1 */
	unsigned count;  /* 0 or 1: everything */
};

/* "2/8" or "auto". */
int engine_part_parse(const char *text, struct engine_part *part, struct sonde_err *err);
/* Read the environment of a launcher; false if it is not set. */
bool engine_part_of_environment(struct engine_part *part);

#endif
