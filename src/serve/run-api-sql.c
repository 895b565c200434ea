/*
 * SQL queries on a run, with limits.
 *
 * They use a separate handle of the run, so that other requests do not wait for them; one query runs at a time. Times
 * in rows are on the run's clock, as in `sonde query`.
 */
#include <jansson.h>

#include "model/dimensions.h"
#include "query/query.h"
#include "serve/run-api-private.h"

#include <errno.h>
#include <inttypes.h>
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

	json_karray(&a->j, "columns");
	for (size_t i = 0; i < count; i++)
		json_str(&a->j, names[i]);
	json_end(&a->j);
	json_karray(&a->j, "rows");
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

/* Request arguments, range-checked, and helpers that responses share. */

int run_api_query_int(const struct run_api_query *q, const char *name, int64_t min, int64_t max, int64_t *value,
		struct sonde_err *err)
{
	const char *text = q->get(q->arg, name);
	char *end;
	long long v;

	if (!text)
		return 0;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || end == text || *end || v < min || v > max)
		return err_set(err, EINVAL, "'%s' must be a whole number from %" PRId64 " to %" PRId64, name, min, max);
	*value = v;
	return 0;
}

int run_api_query_window(const struct run_api *v, const struct run_api_query *q, struct run_api_window *w,
		struct sonde_err *err)
{
	int64_t from = 0, to = v->duration_ns == INT64_MAX ? INT64_MAX : v->duration_ns + 1;
	int rc = run_api_query_int(q, "from", INT64_MIN / 4, INT64_MAX / 4, &from, err);

	if (rc == 0)
		rc = run_api_query_int(q, "to", INT64_MIN / 4, INT64_MAX / 4, &to, err);
	if (rc < 0)
		return rc;
	if (to <= from)
		return err_set(err, EINVAL, "'to' must be after 'from'");
	if (__builtin_add_overflow(v->start_ns, from, &w->from_ns) ||
			__builtin_add_overflow(v->start_ns, to, &w->to_ns))
		return err_set(err, EINVAL, "this window is beyond all time");
	return 0;
}

int run_api_query_lanes(const struct run_api *v, const struct run_api_query *q, struct run_api_lanes *lanes,
		struct sonde_err *err)
{
	const char *at = q->get(q->arg, "lanes");
	size_t all;

	pyramid_lanes(v->pyramid, &all);
	lanes->count = 0;
	while (at && *at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end != at && *end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
		}
		if (end == at || (*end && *end != ','))
			return err_set(err, EINVAL, "'lanes' must be numbers and ranges, such as 1,2,5-9");
		if (first > last || last >= all)
			return err_set(err, EINVAL, "there are lanes 0 to %zu, not %lu to %lu", all ? all - 1 : 0,
					first, last);
		for (unsigned long n = first; n <= last; n++) {
			if (lanes->count == VIEW_LANES_MAX)
				return err_set(err, EINVAL, "too many lanes (maximum %d)", VIEW_LANES_MAX);
			lanes->numbers[lanes->count++] = (uint32_t)n;
		}
		at = *end ? end + 1 : end;
	}
	return 0;
}

void run_api_json_time(struct json *j, const struct run_api *v, const char *key, int64_t ts_ns)
{
	int64_t since_ns;

	json_key(j, key);
	if (ts_ns == STORE_NULL || __builtin_sub_overflow(ts_ns, v->start_ns, &since_ns))
		json_null(j);
	else
		json_int(j, since_ns);
}

void run_api_json_text(struct json *j, const char *key, const struct store_text *text)
{
	json_key(j, key);
	if (text && text->data)
		json_strn(j, text->data, text->bytes);
	else
		json_null(j);
}

const struct store_text *run_api_name(const struct run_api *v, uint32_t name)
{
	return model_name(v->run, model_lane_string(name));
}
