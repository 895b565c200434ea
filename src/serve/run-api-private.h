/*
 * What the answers of a view share. Private to serve/view*.c.
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
	int64_t start_ns; /* of the run, on its clock */
	int64_t duration_ns;
	bool is_growing;
	uint64_t seen;         /* what the files looked like when they were opened */
	pthread_rwlock_t swap; /* held to read while an answer is made */
	pthread_mutex_t model; /* a run is for one thread at a time; the pyramid is for all */
	unsigned generation;
	/* under the model's lock */
	struct model_stacks *stacks; /* NULL: not opened yet */
	struct map functions;        /* text -> number of a name of the flame graphs of samples, from 1 */
	/* the summary of a generation, made once */
	pthread_mutex_t summing;
	struct buf summary;
	unsigned summed;
	/* questions in SQL, one at a time */
	pthread_mutex_t asking;
	struct run_api_sql *sql; /* NULL: none was asked yet */
};

void run_api_sql_free(struct run_api_sql *s); /* NULL is fine */

/* [from, to) of the question on the run's clock; the whole run without. */
struct run_api_window {
	int64_t from_ns, to_ns;
};

int run_api_query_window(const struct run_api *v, const struct run_api_query *q, struct run_api_window *w,
		struct sonde_err *err);

/* from, to and bin of a question about lanes; the bin a multiple of 8 ns, so that its eighths are whole. */
int run_api_query_bins(const struct run_api *v, const struct run_api_query *q, struct run_api_window *w,
		int64_t *bin_ns, struct sonde_err *err);

struct run_api_lanes {
	uint32_t numbers[VIEW_LANES_MAX];
	size_t count;
};

/* `lanes=1,2,5-9`; lanes that there are. */
int run_api_query_lanes(const struct run_api *v, const struct run_api_query *q, struct run_api_lanes *lanes,
		struct sonde_err *err);

/* A time of the run's clock since its start; unknown: null. */
void run_api_json_time(struct json *j, const struct run_api *v, const char *key, int64_t ts_ns);
void run_api_json_text(struct json *j, const char *key, const struct store_text *text);
/* The text of a slice's name; the model's lock is held. */
const struct store_text *run_api_name(const struct run_api *v, uint32_t name);

/* Has the lane events that are searched and added up by name: spans, calls, marks, commands of devices? */
static inline bool run_api_has_names(const struct pyramid_key *key)
{
	return key->what == MODEL_LANE_THREAD || key->what == MODEL_LANE_MARKS || key->what == MODEL_LANE_GPU;
}

/* run-api-slices.c: lanes as /api/slices has them, whatever the number of bins; -EBADMSG. */
int run_api_write_slices(const struct run_api *v, const struct run_api_window *w, int64_t bin_ns, const uint32_t *lanes,
		size_t count, struct buf *out);
/* run-api-tracks.c: the keys of a map of names as /api/names has them. */
void run_api_write_names(struct run_api *v, const struct map *names, struct buf *out);

typedef int run_api_answer_fn(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err);
run_api_answer_fn run_api_answer_run, run_api_answer_tracks, run_api_answer_slices, run_api_answer_counters,
		run_api_answer_event, run_api_answer_names, run_api_answer_search, run_api_answer_stats,
		run_api_answer_flame, run_api_answer_io, run_api_answer_steps, run_api_answer_summary,
		run_api_answer_flows, run_api_answer_network;

/* Names of functions are numbers from here on: they are in no string table. */
#define VIEW_FUNCTION_NAMES 0x80000000u
/* run-api-samples.c: the flame graph of samples (cpu) or waits (offcpu) in the window, written to out. */
int run_api_flame_of_samples(struct run_api *v, const struct run_api_query *q, bool is_waits, struct buf *out,
		struct sonde_err *err);
/* The stack as an array of texts, innermost first. The model's lock is held. */
void run_api_json_stack(struct run_api *v, struct json *j, int64_t stack);

#endif
