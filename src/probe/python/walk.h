/*
 * walk: the Python frames of a thread, read from outside while it runs.
 *
 * A thread may move on while we read. A walk that meets what is no frame is given up
 * and tried once more; what comes out is a chain that was there, innermost first.
 */
#ifndef SONDE_PROBE_PYTHON_WALK_H
#define SONDE_PROBE_PYTHON_WALK_H

#include "base/err.h"
#include "probe/python/code.h"
#include "probe/python/layout.h"
#include "probe/python/process-memory.h"

#define PYTHON_FRAMES_MAX 4096

struct python_frame {
	const struct module *module;
	uint64_t address; /* code.h */
	bool is_entry;    /* the interpreter's own function was called anew for this frame */
};

struct python_stack {
	struct python_frame *frames; /* innermost first */
	size_t count, cap;
	bool is_cut; /* there are more callers */
};

enum python_state { PYTHON_UNSEEN, PYTHON_NONE, PYTHON_READY, PYTHON_REFUSED };

struct python_process {
	pid_t pid;
	enum python_state state;
	uint64_t space_version; /* of the mappings that `state` was found by */
	const struct python_image *image;
	uint64_t bias;
	struct python_layout layout;
	struct python_codes codes;
	struct map threads; /* tid -> struct python_thread * */
};

/* What its mappings say, looked for again when they have changed. *err: why it was refused. */
void python_process_look(struct python_process *p, const struct space *space, struct memory *memory,
		struct sonde_err *err);
void python_process_free(struct python_process *p); /* NULL is fine */

/* 0; -ESRCH: it is no thread of Python's; else -errno. */
int python_walk(struct python_process *p, int32_t tid, struct memory *memory, struct python_stack *out);
void python_stack_release(struct python_stack *s);

#endif
