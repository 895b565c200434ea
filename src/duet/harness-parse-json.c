/* harness-parse-json: results of harnesses that write JSON. */
#include <jansson.h>

#include "base/cleanup.h"
#include "duet/harness-parse.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static json_t *load(const struct duet_parse *p, const char *text, size_t bytes)
{
	json_error_t error;
	json_t *root = json_loadb(text, bytes, 0, &error);

	if (!root)
		duet_parse_wrong(p, "is not whole JSON: %s in line %d", error.text, error.line);
	return root;
}

/* Returns the number at a path of keys; NaN if missing. */
static double number_at(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static int renaissance_benchmark(const struct duet_parse *p, const char *name, json_t *benchmark, double start_ms)
{
	json_t *results = json_object_get(benchmark, "results"), *result;
	size_t i;

	if (!json_is_array(results))
		return duet_parse_wrong(p, "has no list 'data.%s.results'", name);
	json_array_foreach(results, i, result) {
		double duration = number_at(result, "duration_ns"), uptime = number_at(result, "uptime_ns");
		struct duet_row *row;

		if (!isfinite(duration) || !(fabs(uptime) < 1e17))
			return duet_parse_wrong(p, "lacks duration_ns or uptime_ns of iteration %zu", i);
		row = duet_parse_row(p, (int64_t)i, NAN, duration);
		if (!row)
			return -ENOMEM;
		/* integers throughout: a double of nanoseconds since 1970 is accurate only to 256 ns */
		row->start_ns = (int64_t)start_ms * 1000000 + (int64_t)uptime;
		duet_parse_end(row);
		row->benchmark = arena_strdup(&p->table->arena, name);
		if (duet_table_putf(p->table, row, "epoch_start_ms", "%" PRId64, (int64_t)start_ms) ||
				duet_table_putf(p->table, row, "uptime_ns", "%" PRId64, (int64_t)uptime))
			return -ENOMEM;
	}
	return 0;
}

int duet_parse_renaissance(const struct duet_parse *p, char *text, size_t bytes)
{
	json_t *root = load(p, text, bytes), *benchmark;
	json_t *data = json_object_get(root, "data");
	double start_ms = number_at(json_object_get(json_object_get(root, "environment"), "vm"), "start_unix_ms");
	const char *name;
	int rc = root ? 0 : -EBADMSG;

	if (!rc && (!isfinite(start_ms) || fabs(start_ms) > 9e12 || !json_is_object(data)))
		rc = duet_parse_wrong(p, "has no 'environment.vm.start_unix_ms' or no 'data'");
	if (!rc)
		json_object_foreach(data, name, benchmark) {
			if (!rc)
				rc = renaissance_benchmark(p, name, benchmark, start_ms);
		}
	json_decref(root);
	return rc;
}

static int hyperfine_result(const struct duet_parse *p, json_t *result)
{
	json_t *times = json_object_get(result, "times"), *time;
	const char *command = json_string_value(json_object_get(result, "command"));
	size_t i;

	if (!json_is_array(times))
		return duet_parse_wrong(p, "has a result without its times");
	json_array_foreach(times, i, time) {
		struct duet_row *row;

		if (!json_is_number(time))
			return duet_parse_wrong(p, "has a time that is not a number");
		row = duet_parse_row(p, (int64_t)i, NAN, json_number_value(time) * 1e9);
		if (!row || (command && duet_table_put(p->table, row, "command", command)))
			return -ENOMEM;
		row->is_repetition = true;
		row->benchmark = command ? arena_strdup(&p->table->arena, command) : NULL;
	}
	return 0;
}

/* The common form of the others: a list of objects, one function for each. */
static int each(const struct duet_parse *p, json_t *root, json_t *list, const char *what,
		int (*take)(const struct duet_parse *p, json_t *item))
{
	json_t *item;
	size_t i;
	int rc = 0;

	if (!root)
		return -EBADMSG;
	if (!json_is_array(list))
		rc = duet_parse_wrong(p, "has no list %s", what);
	else
		json_array_foreach(list, i, item)
			if (!rc)
				rc = take(p, item);
	json_decref(root);
	return rc;
}

int duet_parse_hyperfine(const struct duet_parse *p, char *text, size_t bytes)
{
	json_t *root = load(p, text, bytes);

	return each(p, root, json_object_get(root, "results"), "'results'", hyperfine_result);
}

/* Returns the ns of a unit by name; NaN if unknown. */
static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "min", 60e9 } };

	for (size_t i = 0; unit && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].name, unit))
			return units[i].ns;
	return NAN;
}

static int google_benchmark(const struct duet_parse *p, json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	const char *kind = json_string_value(json_object_get(item, "run_type"));
	const char *why = json_string_value(json_object_get(item, "error_message"));
	double unit = unit_ns(json_string_value(json_object_get(item, "time_unit")));
	double repetition = number_at(item, "repetition_index");
	struct duet_row *row;

	if (kind && !strcmp(kind, "aggregate"))
		return 0;
	if (json_is_true(json_object_get(item, "error_occurred")))
		return duet_parse_wrong(p, "reports that '%s' failed: %s", name ? name : "a benchmark",
				why ? why : "?");
	if (!name || !isfinite(unit) || !isfinite(number_at(item, "real_time")))
		return duet_parse_wrong(p, "has a benchmark without name, real_time or time_unit");
	row = duet_parse_row(p, isfinite(repetition) ? (int64_t)repetition : 0, NAN,
			number_at(item, "real_time") * unit);
	if (!row)
		return -ENOMEM;
	row->is_repetition = isfinite(repetition);
	row->cpu_ns = number_at(item, "cpu_time") * unit;
	row->benchmark = arena_strdup(&p->table->arena, name);
	return isfinite(row->cpu_ns) ? duet_table_putf(p->table, row, "cpu_time_ns", DUET_NS_FORMAT, row->cpu_ns) : 0;
}

int duet_parse_google(const struct duet_parse *p, char *text, size_t bytes)
{
	json_t *root = load(p, text, bytes);

	return each(p, root, json_object_get(root, "benchmarks"), "'benchmarks'", google_benchmark);
}

/* "ns/op": time of an operation. "ops/s": its inverse. */
static double jmh_time(const char *unit, double score)
{
	char first[16] = "";
	const char *slash = unit ? strchr(unit, '/') : NULL;

	if (!slash || (size_t)(slash - unit) >= sizeof(first))
		return NAN;
	memcpy(first, unit, (size_t)(slash - unit));
	if (!strcmp(slash, "/op"))
		return unit_ns(first) * score;
	return !strcmp(first, "ops") && score > 0 ? unit_ns(slash + 1) / score : NAN;
}

/* One benchmark may have many parameter sets: "a.B.c (size=10, kind=x) avgt". */
static const char *jmh_name(const struct duet_parse *p, json_t *item)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *name = json_string_value(json_object_get(item, "benchmark")), *key;
	const char *mode = json_string_value(json_object_get(item, "mode"));
	json_t *value;

	if (!name)
		return NULL;
	json_object_foreach(json_object_get(item, "params"), key, value)
		buf_addf(&out, "%s%s=%s", out.len ? ", " : "", key,
				json_is_string(value) ? json_string_value(value) : "?");
	return arena_printf(&p->table->arena, "%s%s%s%s%s%s", name, out.len ? " (" : "", out.len ? out.data : "",
			out.len ? ")" : "", mode ? " " : "", mode ? mode : "");
}

static int jmh_benchmark(const struct duet_parse *p, json_t *item)
{
	const char *name = jmh_name(p, item);
	json_t *metric = json_object_get(item, "primaryMetric"), *fork, *score;
	const char *unit = json_string_value(json_object_get(metric, "scoreUnit"));
	json_t *raw = json_object_get(metric, "rawData");
	size_t f, i;
	int64_t iteration = 0;

	if (name && json_object_get(metric, "rawDataHistogram")) {
		duet_parse_wrong(p, "has a histogram of '%s' in place of its times", name);
		err_hint(p->err, "jmh -bm avgt and -bm ss write them");
		return -EBADMSG;
	}
	if (!name || !json_is_array(raw))
		return duet_parse_wrong(p, "has a benchmark without primaryMetric.rawData");
	json_array_foreach(raw, f, fork)
		json_array_foreach(fork, i, score) {
			double ns = jmh_time(unit, json_number_value(score));
			struct duet_row *row;

			if (!json_is_number(score) || !isfinite(ns))
				return duet_parse_wrong(p, "has a score of '%s' that is not a time in '%s'", name,
						unit ? unit : "(no unit)");
			row = duet_parse_row(p, iteration++, NAN, ns);
			if (!row || duet_table_putf(p->table, row, "fork", "%zu", f))
				return -ENOMEM;
			row->benchmark = name;
		}
	return 0;
}

int duet_parse_jmh(const struct duet_parse *p, char *text, size_t bytes)
{
	json_t *root = load(p, text, bytes);

	return each(p, root, root, "of benchmarks", jmh_benchmark);
}

static int pytest_benchmark(const struct duet_parse *p, json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "fullname"));
	json_t *stats = json_object_get(item, "stats"), *data = json_object_get(stats, "data"), *time;
	size_t i;

	if (!name)
		name = json_string_value(json_object_get(item, "name"));
	if (!name || !json_is_array(data)) {
		duet_parse_wrong(p, "has no times of single rounds");
		err_hint(p->err, "pytest --benchmark-save-data writes them");
		return -EBADMSG;
	}
	json_array_foreach(data, i, time) {
		struct duet_row *row;

		if (!json_is_number(time))
			return duet_parse_wrong(p, "has a time that is not a number");
		row = duet_parse_row(p, (int64_t)i, NAN, json_number_value(time) * 1e9);
		if (!row)
			return -ENOMEM;
		row->benchmark = arena_strdup(&p->table->arena, name);
	}
	return 0;
}

int duet_parse_pytest(const struct duet_parse *p, char *text, size_t bytes)
{
	json_t *root = load(p, text, bytes);

	return each(p, root, json_object_get(root, "benchmarks"), "'benchmarks'", pytest_benchmark);
}
