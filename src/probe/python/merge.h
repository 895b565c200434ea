/*
 * merge: one chain of a sample's native frames and its thread's Python frames.
 *
 * Every call of the interpreter's function runs one stretch of Python frames, from an entry
 * frame inwards; in the chain the stretch stands in the place of that call. The two were read
 * a moment apart: where their numbers differ, callers that both have are joined from the
 * outermost one, and of a cut chain from the innermost, so that Python's frames make it whole.
 */
#ifndef SONDE_PROBE_PYTHON_MERGE_H
#define SONDE_PROBE_PYTHON_MERGE_H

#include "probe/perf/stack-table.h"
#include "probe/perf/unwind.h"
#include "probe/python/walk.h"

struct merge_native {
	const struct frame *frames; /* innermost first */
	size_t count;
	bool is_cut;
};

enum merge_result {
	MERGE_NATIVE,  /* no call of the interpreter in it: nothing to join */
	MERGE_JOINED,  /* each call got its stretch */
	MERGE_PARTLY,  /* the numbers differed */
	MERGE_MISSING, /* calls of the interpreter, and no Python frames known */
};

/* Add the chain; *stack is its number then. python NULL: it is not known. */
enum merge_result merge_add(struct stacks *s, const struct merge_native *native, const struct python_stack *python,
		int64_t *stack);

#endif
