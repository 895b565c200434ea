/*
 * stacks: the call chains of the table `stack`, with the names of functions.
 *
 * A stack is a node of a tree: its address and, through its parent, the chain of its callers. Addresses are
 * symbolized on request: code in files by the file's symbols and, if there is debugging information, inlined
 * functions (elfnames.h); the kernel, the vdso and code generated at run time by the symbols saved on the recording
 * machine. A file that differs from the recorded one (by build id) is not used. Names are cached by build id in the
 * user's cache.
 *
 * Separate from the run, because only users of stacks need libdw.
 */
#ifndef SONDE_MODEL_STACKS_H
#define SONDE_MODEL_STACKS_H

#include "base/err.h"
#include "model/run-model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_stacks;

struct model_frame {
	const char *function; /* demangled if possible; NULL: unknown */
	const char *module;   /* path of the file, "[kernel]", "[vdso]", "[memory]"; NULL: none */
	const char *source;   /* source file; NULL: unknown */
	int64_t line;         /* in it; 0: unknown */
	uint64_t address;     /* in its module; 0: unknown or none */
	bool is_inlined;      /* into the next frame */
	bool is_kernel;
};

int model_stacks_open(struct model_stacks **out, struct model_run *run, struct sonde_err *err);
void model_stacks_free(struct model_stacks *s); /* NULL is allowed */

size_t model_stacks_count(const struct model_stacks *s); /* ids are 1 .. count */
/* The chain of its callers; STORE_NULL if it has none. Always smaller than the id of the stack. */
int64_t model_stack_parent(const struct model_stacks *s, int64_t stack);
/* The frames of this address, innermost first: more than one if functions were inlined. Valid as long as s. */
size_t model_stack_place(struct model_stacks *s, int64_t stack, const struct model_frame **frames);
/* Its address in the module; 0: unknown. */
uint64_t model_stack_address(const struct model_stacks *s, int64_t stack);

/* For a line of text: the function, else "[file]", else "[unknown]". Valid until the next call. */
const char *model_frame_label(const struct model_frame *f);

#endif
