/*
 * foreign-stacks: stacks that a trace has by the names of their functions.
 *
 * Each becomes a chain of the table `stack`, once; a function is a symbol of
 * its module at an address that is only a number. Memory is bounded: a frame
 * that finds no room is left out, and counted.
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
	const char *module; /* NULL: unknown */
	size_t module_bytes;
	bool is_kernel;
};

void foreign_stacks_init(struct foreign_stacks *s, struct pfw_dims *dims);
void foreign_stacks_release(struct foreign_stacks *s);
/* The chain of this frame, called by those of `parent` (STORE_NULL: by nobody). */
int64_t foreign_stack(struct foreign_stacks *s, int64_t parent, const struct foreign_frame *frame);

#endif
