/*
 * run-api: one run as the page shows it, and the responses to the page's requests.
 *
 * Times in responses are nanoseconds since the start of the run. The run may still be growing: run_api_refresh then
 * reopens it and increments the generation. Responses depend on the run alone, so the server and the offline report
 * give the same ones. Several threads may send requests concurrently.
 *
 * A response is a row of run_api_answers: a name, and a function that reads its arguments from a `struct
 * run_api_query`. One more row makes an endpoint of another part of sonde (a summary, SQL).
 */
#ifndef SONDE_SERVE_RUN_API_H
#define SONDE_SERVE_RUN_API_H

#include "base/buf.h"
#include "base/err.h"
#include "model/run-model.h"
#include "store/pyramid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_LANES_MAX 1024  /* per request */
#define VIEW_BINS_MAX 16384  /* per request */
#define VIEW_LIMIT_MAX 10000 /* results per request */

struct run_api;

/* Opens the run and its pyramid. name NULL: the latest run. */
int run_api_open(struct run_api **out, const char *name, struct sonde_err *err);
void run_api_free(struct run_api *v); /* accepts NULL */
/*
 * Adds to /api/run: a run to compare with, and groups of names to color ("read:orange,dgemm:#3a7"). Either may be
 * NULL; both must outlive v.
 */
void run_api_set_peer(struct run_api *v, const struct run_api *other, const char *groups);
const char *run_api_path(const struct run_api *v);
int64_t run_api_duration_ns(const struct run_api *v); /* from the start to the last known instant */
/* Reopens the run if it has grown or ended since it was opened; sets *is_new then. */
int run_api_refresh(struct run_api *v, bool *is_new, struct sonde_err *err);
bool run_api_is_growing(const struct run_api *v); /* whether it is still being recorded */
unsigned run_api_generation(const struct run_api *v);

/* The arguments of a request; get returns NULL if an argument is absent. */
struct run_api_query {
	const char *(*get)(const void *arg, const char *name);
	const void *arg;
};

/* Reads an integer argument within [min, max]; *value is unchanged if it is absent. -EINVAL with a message. */
int run_api_query_int(const struct run_api_query *q, const char *name, int64_t min, int64_t max, int64_t *value,
		struct sonde_err *err);

struct run_api_answer {
	const char *name; /* "tracks": the endpoint /api/tracks */
	const char *type; /* NULL: application/json */
	int (*answer)(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err);
};

extern const struct run_api_answer run_api_answers[]; /* ends with name NULL */

const struct run_api_answer *run_api_answer_find(const char *name);
/* Calls the function of row a, on a run that does not change meanwhile. */
int run_api_respond(struct run_api *v, const struct run_api_answer *a, const struct run_api_query *q, struct buf *out,
		struct sonde_err *err);

/*
 * Runs one read-only SQL statement (query/query.h) and writes {"columns", "rows", "is_all", "notes"}. Time, memory,
 * rows and the size of the response are limited; -EINVAL or -E2BIG with a message.
 */
int run_api_sql(struct run_api *v, const char *sql, int64_t rows, struct buf *out, struct sonde_err *err);

#endif
