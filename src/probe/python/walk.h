/*
 * walk: the Python frames of a thread, read from outside while it runs.
 *
 * The thread may run on while we read. A walk that finds an invalid frame is aborted
 * and retried once; the result is a chain that existed, innermost first.
 */
#ifndef SONDE_PROBE_PYTHON_WALK_H
#define SONDE_PROBE_PYTHON_WALK_H

#include "base/err.h"
#include "base/map.h"
#include "probe/perf/addrspace.h"
#include "probe/python/layout.h"

/*
 * Code objects of a process, as functions with a file, a name and lines.
 *
 * A function is stored once in the run: a module of kind python for its file, and in it a
 * range of PYTHON_LINES addresses that is a row of the table symbol. The address of a
 * frame is the start of the function's range plus the current line.
 */
#define PYTHON_LINES (1u << 24)

struct python_functions {
	struct modules *modules;
	/* private */
	struct map numbers; /* file, name, first line -> number */
};

struct python_code {
	const struct module *module;
	uint64_t base; /* of its lines */
	/* private: fields that identify it, and the lines */
	int64_t checked_ns;
	uint64_t filename, qualname, linetable;
	int32_t first_line;
	uint8_t *table;
	size_t table_bytes;
	uint64_t last_instruction;
	uint32_t last_line;
};

struct python_codes {
	struct python_functions *functions;
	/* private */
	struct map by_address; /* -> struct python_code * */
};

void python_functions_release(struct python_functions *f);

#define PYTHON_FRAMES_MAX 4096

struct python_frame {
	const struct module *module;
	uint64_t address; /* see above */
	bool is_entry;    /* a new call of the interpreter's eval function started this frame */
};

struct python_stack {
	struct python_frame *frames; /* innermost first */
	size_t count, cap;
	bool is_cut; /* truncated: there are more callers */
};

enum python_state { PYTHON_UNSEEN, PYTHON_NONE, PYTHON_READY, PYTHON_REFUSED };

struct python_process {
	pid_t pid;
	enum python_state state;
	uint64_t space_version; /* version of the mappings that `state` was found in */
	const struct python_image *image;
	uint64_t bias;
	struct python_layout layout;
	struct python_codes codes;
	struct map threads; /* tid -> struct python_thread * */
};

/* Finds the interpreter in its mappings, again when they have changed. *err: why it was rejected. */
void python_process_inspect(struct python_process *p, const struct space *space, struct memory *memory,
		struct sonde_err *err);
void python_process_free(struct python_process *p); /* NULL is fine */

/* Returns 0; -ESRCH if it is not a Python thread; else -errno. */
int python_walk(struct python_process *p, int32_t tid, struct memory *memory, struct python_stack *out);
void python_stack_release(struct python_stack *s);

#endif
