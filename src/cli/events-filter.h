/*
 * events-filter: which rows `sonde events` shows.
 *
 * Names and patterns become sets of string ids once; paths are compared once
 * each. What a filter looks at is a column of the store; a table without it
 * refuses the filter.
 */
#ifndef SONDE_CLI_EVENTS_FILTER_H
#define SONDE_CLI_EVENTS_FILTER_H

#include "cli/cli.h"
#include "cli/events.h"

/* As given; zero and empty: not wanted. */
struct event_wants {
	int64_t pid, tid;
	struct cli_list calls;
	const char *path;
	const char *name;
	bool is_failed_only;
	int64_t min_dur_ns;
	int64_t from_ns, to_ns; /* since the start of the run */
};

struct event_filter {
	struct model_run *run;
	const struct event_wants *wants;
	/* private */
	int pid, tid, call, name, file, file2, errnum, dur; /* columns to look at, -1: do not */
	bool *is_call, *is_name;                            /* by string id */
	size_t name_count;
	const char *path;
	bool is_glob;
	char *paths; /* by number of the path: 0 not compared yet, 'y', 'n' */
	size_t path_count;
};

/* Dimensions of the run are loaded. -EINVAL, as a usage error, when the table has no such column. */
int event_filter_init(struct event_filter *f, struct cli_context *ctx, struct model_run *run,
		const struct event_table *table, const struct event_wants *wants);
void event_filter_release(struct event_filter *f);
/* Fill in what the reader of rows has to know. */
void event_filter_apply(struct event_filter *f, struct model_rows_opts *opts);

#endif
