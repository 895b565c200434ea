/*
 * pfw-tools: operations on DFTracer traces that do not create a run.
 *
 * All read line by line, one file after the other, in memory that does not grow with them. Lines that are not records
 * are counted, reported and not written. The output is a valid trace: compressed if its name ends in .gz, in members of
 * 16 MiB of text, so that several threads can read it.
 */
#ifndef SONDE_PFW_PFW_TOOLS_H
#define SONDE_PFW_PFW_TOOLS_H

#include "base/err.h"
#include "base/map.h"
#include "pfw/import-part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The contents of a trace file, or the total of several. */
struct pfw_facts {
	uint64_t bytes, text_bytes, members;
	uint64_t lines; /* without blank lines */
	uint64_t events, metadata, counters, other, brackets, invalid, too_long;
	int64_t first, last; /* times as written, STORE_NULL if none; last is the end of an event */
	unsigned forms;      /* enum pfw_forms: its generation */
	struct map pids, tids, hosts, categories; /* key -> count */
	char trouble[160];                        /* what is wrong with the file as a whole, or "" */
};

void pfw_facts_init(struct pfw_facts *f);
void pfw_facts_release(struct pfw_facts *f);
/* Adds one to a total, except `trouble`. */
void pfw_facts_add(struct pfw_facts *sum, const struct pfw_facts *one);

/* Reports a line that is not a record. */
typedef void pfw_tell_fn(void *arg, const char *path, uint64_t line, const char *reason, size_t where);

struct pfw_tools {
	pfw_tell_fn *tell; /* may be NULL */
	void *arg;
};

/* Counts the contents of one file. pfw_inputs_add filled the input. 0, or -errno if the file cannot be read at all. */
int pfw_tool_inspect(const struct pfw_tools *tools, struct pfw_input *in, struct pfw_facts *facts,
		struct sonde_err *err);
/* Writes all records of all inputs to one trace. */
int pfw_tool_merge(const struct pfw_tools *tools, struct pfw_inputs *in, const char *path, struct pfw_facts *facts,
		struct sonde_err *err);
/* The same to files dir/name-1.pfw.gz and so on, of at most `bytes` of text each; *count is set to their number. */
int pfw_tool_split(const struct pfw_tools *tools, struct pfw_inputs *in, const char *dir, const char *name,
		uint64_t bytes, struct pfw_facts *facts, uint64_t *count, struct sonde_err *err);
/* Writes each input to dir with names replaced, under its own file name. */
int pfw_tool_anonymize(const struct pfw_tools *tools, struct pfw_inputs *in, const char *dir, struct pfw_facts *facts,
		struct sonde_err *err);

/* Writes a record without the names of hosts, files, users and commands; hashes, numbers and event names stay. */
void pfw_anonymize(struct buf *out, const struct pfw_line *line, const char *text, size_t n);

#endif
