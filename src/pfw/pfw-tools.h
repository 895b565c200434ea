/*
 * pfw-tools: what can be done with DFTracer traces as they are, without making a run of them.
 *
 * All read line by line, one file after the other, in memory that does not grow
 * with them; lines that are no records are counted and told, and left out of
 * what is written. What is written is a valid trace: compressed when its name
 * ends in .gz, in members of 16 MiB of text, so that it can be read by several
 * threads.
 */
#ifndef SONDE_PFW_PFW_TOOLS_H
#define SONDE_PFW_PFW_TOOLS_H

#include "base/err.h"
#include "base/map.h"
#include "pfw/import-input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is in a trace file, or in all of them. */
struct pfw_facts {
	uint64_t bytes, text_bytes, members;
	uint64_t lines; /* but for blank ones */
	uint64_t events, metadata, counters, other, brackets, invalid, too_long;
	int64_t first, last; /* times as they are written, STORE_NULL: none; last is when an event ends */
	unsigned forms;      /* enum pfw_forms: its generation */
	struct map pids, tids, hosts, categories; /* how often each was met */
	char trouble[160];                        /* what is wrong with the file as a whole, "" for nothing */
};

void pfw_facts_init(struct pfw_facts *f);
void pfw_facts_release(struct pfw_facts *f);
/* Add what is known of one to the sum of others; trouble is not. */
void pfw_facts_add(struct pfw_facts *sum, const struct pfw_facts *one);

/* Who is told of lines that are no records. */
typedef void pfw_tell_fn(void *arg, const char *path, uint64_t line, const char *reason, size_t where);

struct pfw_tools {
	pfw_tell_fn *tell; /* NULL: nobody */
	void *arg;
};

/* Look at one file. The input is as pfw_inputs_add made it. 0 or -errno: it cannot be read at all. */
int pfw_tool_look(const struct pfw_tools *tools, struct pfw_input *in, struct pfw_facts *facts, struct sonde_err *err);
/* All records of all inputs in one trace. */
int pfw_tool_merge(const struct pfw_tools *tools, struct pfw_inputs *in, const char *path, struct pfw_facts *facts,
		struct sonde_err *err);
/* The same in files dir/name-1.pfw.gz and on, of at most `bytes` of text each; *count gets how many. */
int pfw_tool_split(const struct pfw_tools *tools, struct pfw_inputs *in, const char *dir, const char *name,
		uint64_t bytes, struct pfw_facts *facts, uint64_t *count, struct sonde_err *err);
/* Each input with names replaced, in dir, under the name it has. */
int pfw_tool_anonymize(const struct pfw_tools *tools, struct pfw_inputs *in, const char *dir, struct pfw_facts *facts,
		struct sonde_err *err);

/* A record without the names of hosts, files, users and commands: hashes, numbers and the names of events stay. */
void pfw_anonymize(struct buf *out, const struct pfw_line *line, const char *text, size_t n);

#endif
