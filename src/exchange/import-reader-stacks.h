/*
 * import-reader-stacks: the stacks of a trace that has only function names.
 *
 * Each distinct stack becomes a chain in the table `stack`. A function becomes a symbol of its module, with a number as
 * its address. Memory is bounded: a frame that does not fit is dropped and counted.
 */
#ifndef SONDE_EXCHANGE_IMPORT_READER_STACKS_H
#define SONDE_EXCHANGE_IMPORT_READER_STACKS_H

#include "base/map.h"
#include "pfw/name-tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct foreign_stacks {
	uint64_t refused;
	/* private */
	struct pfw_dims *dims;
	struct map modules;   /* name and kind -> number */
	struct map functions; /* module and name -> address */
	struct map chains;    /* parent, module, address -> number */
};

struct foreign_frame {
	const char *function;
	size_t function_bytes;
	const char *module; /* NULL if unknown */
	size_t module_bytes;
	bool is_kernel;
};

void foreign_stacks_init(struct foreign_stacks *s, struct pfw_dims *dims);
void foreign_stacks_release(struct foreign_stacks *s);
/* The chain of this frame, called by the chain `parent` (STORE_NULL: outermost frame). */
int64_t foreign_stack(struct foreign_stacks *s, int64_t parent, const struct foreign_frame *frame);

#endif
