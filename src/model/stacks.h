/*
 * stacks: what the table stack refers to: chains of frames with the names of functions.
 *
 * A stack is a node of a tree: its own place in the code and, by its parent, the
 * chain of its callers. Places are named when they are asked for: code in files by the
 * file's symbols and, where there is debugging information, its inlined functions
 * (elfnames.h); the kernel, the
 * vdso and code made at run time by what the recording machine wrote down. A file
 * that is not the one that was recorded (its build id differs) names nothing.
 * Found names are kept in the user's cache by build id.
 *
 * A handle of its own, because only those who look at stacks need libdw.
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
	const char *function; /* demangled where that is possible; NULL: not known */
	const char *module;   /* path of the file, "[kernel]", "[vdso]", "[memory]"; NULL: in none */
	const char *source;   /* file of the source; NULL: not known */
	int64_t line;         /* in it; 0: not known */
	uint64_t address;     /* in its module; 0: not known, or code that has none */
	bool is_inlined;      /* into the next frame */
	bool is_kernel;
};

int model_stacks_open(struct model_stacks **out, struct model_run *run, struct sonde_err *err);
void model_stacks_free(struct model_stacks *s); /* NULL is fine */

size_t model_stacks_count(const struct model_stacks *s); /* ids are 1 .. count */
/* The chain of its callers; STORE_NULL: it has none. Always smaller than its own id. */
int64_t model_stack_parent(const struct model_stacks *s, int64_t stack);
/* The frames of this one place, innermost first: one, and more where functions were inlined. They live as long as s. */
size_t model_stack_place(struct model_stacks *s, int64_t stack, const struct model_frame **frames);
/* The address of its place in the module; 0: unknown. */
uint64_t model_stack_address(const struct model_stacks *s, int64_t stack);

/* For a line of text: the function, else "[file]", else "[unknown]". Valid until the next call. */
const char *model_frame_label(const struct model_frame *f);

#endif
