/*
 * The summary of a run, as printed by `sonde summary --json` but with more of the detected iterations; computed once
 * per generation.
 *
 * It uses a separate handle of the run, so that other requests do not wait for it.
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "analyze/analyze.h"

#define ROWS 100        /* per list */
#define ITERATIONS 4000 /* that the page draws */

static int sum_up(struct model_run *run, struct buf *out, struct sonde_err *err)
{
	struct analyze_opts opts = { .top = ROWS, .iterations = ITERATIONS };
	const struct analyze_result *result;
	struct analyze *a = NULL;
	struct json j;
	int rc = analyze_new(&a, run, &opts, err);

	if (rc == 0)
		rc = analyze_scan(a, err);
	if (rc == 0)
		rc = analyze_finish(a, &result, err);
	if (rc == 0) {
		json_init(&j, out, false);
		json_object(&j);
		analyze_write_json(result, &j);
		json_end(&j);
	}
	analyze_free(a);
	return rc;
}

static int make(struct run_api *v, struct sonde_err *err)
{
	struct model_run *run;
	int rc = model_run_open(&run, v->name, err);

	if (rc < 0)
		return rc;
	buf_reset(&v->summary);
	rc = sum_up(run, &v->summary, err);
	model_run_free(run);
	if (rc == 0)
		v->summed = v->generation;
	return rc;
}

int run_api_answer_summary(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&v->summing);
	if (v->summed != v->generation)
		rc = make(v, err);
	if (rc == 0)
		buf_add(out, v->summary.data, v->summary.len);
	pthread_mutex_unlock(&v->summing);
	return rc;
}
