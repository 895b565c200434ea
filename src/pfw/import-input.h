/* import-input: the files of an import, and what is known about them before they are read. */
#ifndef SONDE_PFW_IMPORT_INPUT_H
#define SONDE_PFW_IMPORT_INPUT_H

#include "base/err.h"
#include "pfw/event-parse.h"

struct pfw_input {
	char *path;
	uint64_t bytes;
	bool is_gzip;
	bool is_unsplit; /* its members must be read sequentially */
	struct pfw_context ctx;
	int64_t first_pid; /* pid of its first record; STORE_NULL if unknown */
	uint64_t *starts;  /* offsets of the parts */
	size_t part_count;
	size_t first_part; /* index among all parts of the import */
	int error;         /* errno if it cannot be read */
};

struct pfw_inputs {
	struct pfw_input *items;
	size_t count;
	/* private */
	size_t cap;
};

#define PFW_INPUTS_INIT { .items = NULL }

void pfw_inputs_release(struct pfw_inputs *in);
/* Adds a file, or all *.pfw and *.pfw.gz below a directory, sorted; -ENOENT if there are none. */
int pfw_inputs_add(struct pfw_inputs *in, const char *path, struct sonde_err *err);

struct pfw_look {
	int64_t unit_ns; /* 0: detect */
	uint64_t text_part_bytes, gzip_part_bytes;
};

/*
 * Finds the starts of its parts, the default host (dims NULL: not its name) and the time unit. Errors are in in->error.
 */
void pfw_input_look(struct pfw_input *in, struct pfw_dims *dims, const struct pfw_look *look_for);
int pfw_input_open(const struct pfw_input *in); /* file descriptor, or -errno */
bool pfw_is_trace_name(const char *name);       /* *.pfw, *.pfw.gz */

#endif
