/*
 * view: one run as the page looks at it, and the answers to what the page asks.
 *
 * Times in answers are nanoseconds since the start of the run. The run may
 * still be growing: run_api_refresh then opens it anew and counts a generation.
 * Answers are functions of the view alone, so the server and the offline
 * report give the same ones. Several threads may ask at once.
 *
 * An answer is a row of run_api_answers: a name, and a function that reads its
 * arguments from a `struct run_api_query`. What another part of sonde knows of a
 * run (a summary, SQL) becomes an endpoint by one more row.
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

#define VIEW_LANES_MAX 1024  /* of one question */
#define VIEW_BINS_MAX 16384  /* of one question */
#define VIEW_LIMIT_MAX 10000 /* results of one question */

struct run_api;

/* Opens the run and its pyramid. name NULL: the latest. */
int run_api_open(struct run_api **out, const char *name, struct sonde_err *err);
void run_api_free(struct run_api *v); /* NULL is fine */
/*
 * What /api/run says beside: a run to compare with, and groups of names to colour ("read:orange,dgemm:#3a7"). Either
 * may be NULL; both live as long as the view.
 */
void run_api_set_peer(struct run_api *v, const struct run_api *other, const char *groups);
const char *run_api_path(const struct run_api *v);
int64_t run_api_duration_ns(const struct run_api *v); /* from the start to the last that is known */
/* Has the run grown or ended since it was opened? Then open it anew; *is_new says so. */
int run_api_refresh(struct run_api *v, bool *is_new, struct sonde_err *err);
bool run_api_is_growing(const struct run_api *v); /* is it still being recorded? */
unsigned run_api_generation(const struct run_api *v);

/* The arguments of a question; text NULL when it has none of that name. */
struct run_api_query {
	const char *(*get)(const void *arg, const char *name);
	const void *arg;
};

/* A whole number of a question within [min, max]; absent: *value stays. -EINVAL with words. */
int run_api_query_int(const struct run_api_query *q, const char *name, int64_t min, int64_t max, int64_t *value,
		struct sonde_err *err);

struct run_api_answer {
	const char *name; /* "tracks": the endpoint /api/tracks */
	const char *type; /* NULL: application/json */
	int (*answer)(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err);
};

extern const struct run_api_answer run_api_answers[]; /* ends with name NULL */

const struct run_api_answer *run_api_answer_find(const char *name);
/* As the row says, on a run that does not change meanwhile. */
int run_api_respond(struct run_api *v, const struct run_api_answer *a, const struct run_api_query *q, struct buf *out,
		struct sonde_err *err);

/*
 * The answer to one statement of SQL that only reads (query/query.h): {"columns", "rows", "is_all", "notes"}. Time,
 * memory, rows and the answer's length have limits; -EINVAL or -E2BIG with words otherwise.
 */
int run_api_sql(struct run_api *v, const char *sql, int64_t rows, struct buf *out, struct sonde_err *err);

#endif
