/*
 * events-filter: which rows `sonde events` prints.
 *
 * Names and patterns are converted to sets of string ids once; each path is compared once. A filter tests a column of
 * the store; a table without that column rejects the filter.
 */
#ifndef SONDE_CLI_EVENTS_FILTER_H
#define SONDE_CLI_EVENTS_FILTER_H

#include "cli/cli.h"
#include "cli/events.h"

/* The filter options; zero and empty: not set. */
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
	int pid, tid, call, name, file, file2, errnum, dur; /* column indexes, -1: not used */
	bool *is_call, *is_name;                            /* indexed by string id */
	size_t name_count;
	const char *path;
	bool is_glob;
	char *paths; /* indexed by path number: 0 not compared yet, 'y', 'n' */
	size_t path_count;
};

/* The caller has loaded the dimensions of the run. -EINVAL, as a usage error, if the table has no such column. */
int event_filter_init(struct event_filter *f, struct cli_context *ctx, struct model_run *run,
		const struct event_table *table, const struct event_wants *wants);
void event_filter_release(struct event_filter *f);
/* Sets the options of the row reader that implement parts of the filter. */
void event_filter_apply(struct event_filter *f, struct model_rows_opts *opts);

#endif
