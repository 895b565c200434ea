/* Request arguments, range-checked, and helpers that responses share. */
#include "serve/run-api-private.h"

#include "model/dimensions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static int add_lanes(struct run_api_lanes *lanes, unsigned long first, unsigned long last, size_t all,
		struct sonde_err *err)
{
	if (first > last || last >= all)
		return err_set(err, EINVAL, "there are lanes 0 to %zu, not %lu to %lu", all ? all - 1 : 0, first, last);
	for (unsigned long n = first; n <= last; n++) {
		if (lanes->count == VIEW_LANES_MAX)
			return err_set(err, EINVAL, "too many lanes (maximum %d)", VIEW_LANES_MAX);
		lanes->numbers[lanes->count++] = (uint32_t)n;
	}
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
		int rc;

		if (end != at && *end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
		}
		if (end == at || (*end && *end != ','))
			return err_set(err, EINVAL, "'lanes' must be numbers and ranges, such as 1,2,5-9");
		rc = add_lanes(lanes, first, last, all, err);
		if (rc < 0)
			return rc;
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
