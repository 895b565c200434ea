/*
 * merge: one chain of a sample's native frames and its thread's Python frames.
 *
 * Every call of the interpreter's eval function runs one segment of Python frames, from an entry frame inwards; in the
 * chain the segment replaces that call. The two were read at slightly different times: if their counts differ, calls
 * and segments are matched from the outermost one, and for a truncated chain from the innermost, so that the Python
 * frames complete it.
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
	MERGE_NATIVE,  /* no call of the interpreter: nothing to merge */
	MERGE_JOINED,  /* each call got its segment */
	MERGE_PARTLY,  /* the counts differed */
	MERGE_MISSING, /* calls of the interpreter, but the Python frames are unknown */
};

/* Adds the chain and sets *stack to its number. python NULL: unknown. */
enum merge_result merge_add(struct stacks *s, const struct merge_native *native, const struct python_stack *python,
		int64_t *stack);

#endif
