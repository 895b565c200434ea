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

struct view {
	char *name;
	const struct view *other; /* NULL: none */
	const char *groups;       /* NULL: none */
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
	struct view_sql *sql; /* NULL: none was asked yet */
};

void view_sql_free(struct view_sql *s); /* NULL is fine */

/* [from, to) of the question on the run's clock; the whole run without. */
struct view_window {
	int64_t from_ns, to_ns;
};

int view_query_window(const struct view *v, const struct view_query *q, struct view_window *w, struct sonde_err *err);

/* from, to and bin of a question about lanes; the bin a multiple of 8 ns, so that its eighths are whole. */
int view_query_bins(const struct view *v, const struct view_query *q, struct view_window *w, int64_t *bin_ns,
		struct sonde_err *err);

struct view_lanes {
	uint32_t numbers[VIEW_LANES_MAX];
	size_t count;
};

/* `lanes=1,2,5-9`; lanes that there are. */
int view_query_lanes(const struct view *v, const struct view_query *q, struct view_lanes *lanes, struct sonde_err *err);

/* A time of the run's clock since its start; unknown: null. */
void view_json_time(struct json *j, const struct view *v, const char *key, int64_t ts_ns);
void view_json_text(struct json *j, const char *key, const struct store_text *text);
/* The text of a slice's name; the model's lock is held. */
const struct store_text *view_name(const struct view *v, uint32_t name);

/* Has the lane events that are searched and added up by name: spans, calls, marks, commands of devices? */
static inline bool view_has_names(const struct pyramid_key *key)
{
	return key->what == MODEL_LANE_THREAD || key->what == MODEL_LANE_MARKS || key->what == MODEL_LANE_GPU;
}

/* run-api-slices.c: lanes as /api/slices has them, whatever the number of bins; -EBADMSG. */
int view_write_slices(const struct view *v, const struct view_window *w, int64_t bin_ns, const uint32_t *lanes,
		size_t count, struct buf *out);
/* run-api-tracks.c: the keys of a map of names as /api/names has them. */
void view_write_names(struct view *v, const struct map *names, struct buf *out);

typedef int view_answer_fn(struct view *v, const struct view_query *q, struct buf *out, struct sonde_err *err);
view_answer_fn view_answer_run, view_answer_tracks, view_answer_slices, view_answer_counters, view_answer_event,
		view_answer_names, view_answer_search, view_answer_stats, view_answer_flame, view_answer_io,
		view_answer_steps, view_answer_summary, view_answer_flows, view_answer_network;

/* Names of functions are numbers from here on: they are in no string table. */
#define VIEW_FUNCTION_NAMES 0x80000000u
/* run-api-samples.c: the flame graph of samples (cpu) or waits (offcpu) in the window, written to out. */
int view_flame_of_samples(struct view *v, const struct view_query *q, bool is_waits, struct buf *out,
		struct sonde_err *err);
/* The stack as an array of texts, innermost first. The model's lock is held. */
void view_json_stack(struct view *v, struct json *j, int64_t stack);

#endif
