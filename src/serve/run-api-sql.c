/*
 * SQL queries on a run, with limits.
 *
 * They use a separate handle of the run, so that other requests do not wait for them; one query runs at a time. Times
 * in rows are on the run's clock, as in `sonde query`.
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "model/dimensions.h"
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>

#define TIME_NS_MAX 10000000000
#define MEMORY_BYTES_MAX ((uint64_t)256 << 20)
#define ANSWER_BYTES_MAX ((size_t)16 << 20)

struct run_api_sql {
	struct model_run *run;
	struct query *query;
	unsigned generation;
};

struct answering {
	struct json j;
	struct buf *out;
};

static int write_columns(void *arg, const char *const *names, size_t count)
{
	struct answering *a = arg;

	json_key(&a->j, "columns");
	json_array(&a->j);
	for (size_t i = 0; i < count; i++)
		json_str(&a->j, names[i]);
	json_end(&a->j);
	json_key(&a->j, "rows");
	json_array(&a->j);
	return 0;
}

static void write_value(struct json *j, const struct query_value *v)
{
	switch (v->kind) {
	case QUERY_INT:
		json_int(j, v->integer);
		break;
	case QUERY_REAL:
		json_real(j, v->real);
		break;
	case QUERY_TEXT:
		json_strn(j, v->text.data, v->text.bytes);
		break;
	case QUERY_BLOB:
		json_str(j, "(bytes)");
		break;
	case QUERY_NULL:
		json_null(j);
		break;
	}
}

static int write_row(void *arg, const struct query_value *values, size_t count)
{
	struct answering *a = arg;

	json_array(&a->j);
	for (size_t i = 0; i < count; i++)
		write_value(&a->j, &values[i]);
	json_end(&a->j);
	return a->out->len > ANSWER_BYTES_MAX ? -E2BIG : 0;
}

void run_api_sql_free(struct run_api_sql *s)
{
	if (!s)
		return;
	query_free(s->query);
	model_run_free(s->run);
	free(s);
}

static int open_sql(struct run_api *v, struct run_api_sql **out, struct sonde_err *err)
{
	struct run_api_sql *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_sys(err, ENOMEM, "cannot open the run");
	rc = model_run_open(&s->run, v->name, err);
	if (rc == 0)
		rc = model_load(s->run, MODEL_ALL, err);
	if (rc == 0)
		rc = query_open(&s->query, s->run, err);
	if (rc < 0) {
		run_api_sql_free(s);
		return rc;
	}
	s->generation = v->generation;
	*out = s;
	return 0;
}

static int run_sql(struct run_api_sql *s, const char *sql, int64_t rows, struct buf *out, struct sonde_err *err)
{
	struct answering a = { .out = out };
	struct query_limits limits = { .rows = (uint64_t)rows,
		.time_ns = TIME_NS_MAX,
		.memory_bytes = MEMORY_BYTES_MAX };
	struct query_sink sink = { .columns = write_columns, .row = write_row, .arg = &a };
	struct query_end end = { .rows = 0 };
	int rc;

	json_init(&a.j, out, false);
	json_object(&a.j);
	rc = query_run(s->query, sql, &limits, &sink, &end, err);
	if (rc == -E2BIG)
		return err_set(err, E2BIG, "the result exceeds %zu MiB", ANSWER_BYTES_MAX >> 20);
	if (rc < 0) /* any failure is reported as an error of the statement */
		return -EINVAL;
	json_end(&a.j);
	json_kbool(&a.j, "is_all", !end.is_cut);
	json_kstr(&a.j, "notes", end.notes);
	json_end(&a.j);
	return 0;
}

int run_api_sql(struct run_api *v, const char *sql, int64_t rows, struct buf *out, struct sonde_err *err)
{
	int rc = 0;

	pthread_rwlock_rdlock(&v->swap);
	pthread_mutex_lock(&v->asking);
	if (v->sql && v->sql->generation != v->generation) {
		run_api_sql_free(v->sql);
		v->sql = NULL;
	}
	if (!v->sql)
		rc = open_sql(v, &v->sql, err);
	if (rc == 0)
		rc = run_sql(v->sql, sql, rows, out, err);
	pthread_mutex_unlock(&v->asking);
	pthread_rwlock_unlock(&v->swap);
	return rc;
}
