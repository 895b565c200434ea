/*
 * run-api-private: shared by run-api*.c only.
 */
#ifndef SONDE_SERVE_RUN_API_PRIVATE_H
#define SONDE_SERVE_RUN_API_PRIVATE_H

#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "model/lanes.h"
#include "model/stacks.h"
#include "serve/run-api.h"

#include <pthread.h>

struct run_api {
	char *name;
	const struct run_api *other; /* NULL: none */
	const char *groups;          /* NULL: none */
	struct model_run *run;
	struct pyramid *pyramid;
	int64_t start_ns; /* start of the run, on its clock */
	int64_t duration_ns;
	bool is_growing;
	uint64_t seen;         /* fingerprint of the files when they were opened */
	pthread_rwlock_t swap; /* read-locked while a response is built */
	pthread_mutex_t model; /* a run is used by one thread at a time; the pyramid is thread-safe */
	unsigned generation;
	/* protected by `model` */
	struct model_stacks *stacks; /* NULL: not opened yet */
	struct map functions;        /* text -> number of a function name in flame graphs of samples, from 1 */
	/* the summary, computed once per generation */
	pthread_mutex_t summing;
	struct buf summary;
	unsigned summed;
	/* SQL queries, one at a time */
	pthread_mutex_t asking;
	struct run_api_sql *sql; /* NULL: no query yet */
};

void run_api_sql_free(struct run_api_sql *s); /* accepts NULL */

/* [from, to) of a request, on the run's clock; default: the whole run. */
struct run_api_window {
	int64_t from_ns, to_ns;
};

int run_api_query_window(const struct run_api *v, const struct run_api_query *q, struct run_api_window *w,
		struct sonde_err *err);

/* Reads from, to and bin of a request for lanes; bin is a multiple of 8 ns, so that an eighth of it is whole. */
int run_api_query_bins(const struct run_api *v, const struct run_api_query *q, struct run_api_window *w,
		int64_t *bin_ns, struct sonde_err *err);

struct run_api_lanes {
	uint32_t numbers[VIEW_LANES_MAX];
	size_t count;
};

/* Parses `lanes=1,2,5-9`; the lanes must exist. */
int run_api_query_lanes(const struct run_api *v, const struct run_api_query *q, struct run_api_lanes *lanes,
		struct sonde_err *err);

/* Writes a time of the run's clock relative to its start; null if unknown. */
void run_api_json_time(struct json *j, const struct run_api *v, const char *key, int64_t ts_ns);
void run_api_json_text(struct json *j, const char *key, const struct store_text *text);
/* Returns the text of a slice's name; the caller holds `model`. */
const struct store_text *run_api_name(const struct run_api *v, uint32_t name);

/* Whether the lane has events that are searched and summed by name: spans, calls, marks, device commands. */
static inline bool run_api_has_names(const struct pyramid_key *key)
{
	return key->what == MODEL_LANE_THREAD || key->what == MODEL_LANE_MARKS || key->what == MODEL_LANE_GPU;
}

/* run-api-slices.c: lanes in the format of /api/slices, with any number of bins; -EBADMSG. */
int run_api_write_slices(const struct run_api *v, const struct run_api_window *w, int64_t bin_ns, const uint32_t *lanes,
		size_t count, struct buf *out);
/* run-api-tracks.c: the keys of a map of names in the format of /api/names. */
void run_api_write_names(struct run_api *v, const struct map *names, struct buf *out);

typedef int run_api_answer_fn(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err);
run_api_answer_fn run_api_answer_run, run_api_answer_tracks, run_api_answer_slices, run_api_answer_counters,
		run_api_answer_event, run_api_answer_names, run_api_answer_search, run_api_answer_stats,
		run_api_answer_flame, run_api_answer_io, run_api_answer_steps, run_api_answer_summary,
		run_api_answer_flows, run_api_answer_network;

/* Function names are numbered from here on: they are not in a string table. */
#define VIEW_FUNCTION_NAMES 0x80000000u
/* run-api-samples.c: writes the flame graph of samples (cpu) or waits (offcpu) in the window to out. */
int run_api_flame_of_samples(struct run_api *v, const struct run_api_query *q, bool is_waits, struct buf *out,
		struct sonde_err *err);
/* Writes the stack as an array of strings, innermost first. The caller holds `model`. */
void run_api_json_stack(struct run_api *v, struct json *j, int64_t stack);

/*
 * Paths of names with their time, as a tree. Private to serve/run-api*.c.
 */

#define FLAME_NODES_MAX 200000u

struct flame_node {
	uint32_t name, parent, first, next; /* 0: none; the root is 0 */
	uint64_t count;
	int64_t total_ns;
};

struct flame {
	struct flame_node *nodes;
	size_t count;
	/* private */
	size_t cap;
	struct map children; /* parent << 32 | name -> node */
};

int flame_init(struct flame *f);
void flame_release(struct flame *f);
/* Returns the child of a node; the node itself if the tree is full. */
uint32_t flame_child(struct flame *f, uint32_t parent, uint32_t name);
/*
 * Writes the members "unit" and "nodes" of an object: [parent, name, count, total] per node, parents first. The
 * narrowest nodes are omitted.
 */
void flame_write(const struct flame *f, struct json *j);

#endif
