#include "analyze/time-windows.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS 100000000
#define WINDOWS_MAX 100000

/* A monotonic counter. */
struct windows_reading {
	double value; /* last value */
	double sum;   /* within the window */
	size_t window;
	int8_t what; /* -1: ignored */
	bool is_known;
};

/* Prefix and suffix of counter names, with a number or any text between them. */
static const struct {
	const char *begin, *end;
	bool is_number;
	int8_t what;
} names[] = {
	{ "cpu.", ".user_ns", true, WINDOWS_USR },
	{ "cpu.", ".system_ns", true, WINDOWS_SYS },
	{ "cpu.", ".iowait_ns", true, WINDOWS_IOW },
	{ "net.lo.", "", false, -1 },
	{ "net.", ".tx_bytes", false, WINDOWS_SENT },
	{ "net.", ".rx_bytes", false, WINDOWS_RECEIVED },
	{ "disk.", ".read_bytes", false, WINDOWS_DISK },
	{ "disk.", ".write_bytes", false, WINDOWS_DISK },
};

static int8_t what_of(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t begin = strlen(names[i].begin), end = strlen(names[i].end);

		if (n <= begin + end || strncmp(name, names[i].begin, begin) != 0 ||
				strcmp(name + n - end, names[i].end) != 0)
			continue;
		if (!names[i].is_number || strspn(name + begin, "0123456789") == n - begin - end)
			return names[i].what;
	}
	return -1;
}

static void close_window(struct windows *w, const struct windows_reading *r)
{
	float *value = &w->values[r->window][r->what];

	if (r->what >= WINDOWS_SENT)
		*value += (float)r->sum;
	else if ((float)r->sum > *value)
		*value = (float)r->sum;
}

static int take(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct windows *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int64_t name = b->columns[STORE_COUNTER_name].ints[i], ts_ns = b->columns[STORE_COUNTER_ts_ns].ints[i];
		double value = b->columns[STORE_COUNTER_value].reals[i];
		struct windows_reading *r = (uint64_t)name < w->reading_count ? &w->readings[name] : NULL;
		size_t window;

		if (!r || r->what < 0 || isnan(value) || ts_ns < w->a->start_ns || ts_ns >= w->a->end_ns)
			continue;
		window = (size_t)((ts_ns - w->a->start_ns) / w->width_ns);
		if (r->is_known && window != r->window) {
			close_window(w, r);
			r->sum = 0;
		}
		r->sum += r->is_known && value > r->value ? value - r->value : 0;
		r->value = value;
		r->window = window < w->count ? window : w->count - 1;
		r->is_known = true;
		w->is_known[r->what] = true;
	}
	return 0;
}

/* Devices: the part of each window that commands cover. The table is small compared to the others. */
static int take_gpu(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct windows *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int64_t from = b->columns[STORE_GPU_ts_ns].ints[i] - w->a->start_ns;
		int64_t to = from + b->columns[STORE_GPU_dur_ns].ints[i];

		if (b->columns[STORE_GPU_ts_ns].ints[i] == STORE_NULL || b->columns[STORE_GPU_dur_ns].ints[i] < 0)
			continue;
		w->is_known[WINDOWS_GPU] = true;
		from = from < 0 ? 0 : from;
		for (size_t k = (size_t)(from / w->width_ns); k < w->count && (int64_t)k * w->width_ns < to; k++) {
			int64_t lo = (int64_t)k * w->width_ns, hi = lo + w->width_ns;
			float ns = w->values[k][WINDOWS_GPU] + (float)((to < hi ? to : hi) - (from > lo ? from : lo));

			w->values[k][WINDOWS_GPU] = ns < (float)w->width_ns ? ns : (float)w->width_ns;
		}
	}
	return 0;
}

static int make(struct windows *w, struct analyze *a)
{
	int64_t wall_ns = a->end_ns - a->start_ns;

	w->a = a;
	w->width_ns = wall_ns / WINDOWS_MAX > WINDOW_NS ? wall_ns / WINDOWS_MAX : WINDOW_NS;
	w->count = (size_t)(wall_ns / w->width_ns) + 1;
	w->reading_count = model_name_count(a->run);
	w->values = calloc(w->count, sizeof(*w->values));
	w->readings = calloc(w->reading_count + 1, sizeof(*w->readings));
	if (!w->values || !w->readings)
		return -ENOMEM;
	for (size_t i = 0; i < w->reading_count; i++)
		w->readings[i].what = what_of(model_cname(a->run, (int64_t)i));
	return 0;
}

int windows_read(struct windows *w, struct analyze *a, struct sonde_err *err)
{
	int cols[] = { STORE_COUNTER_ts_ns, STORE_COUNTER_name, STORE_COUNTER_value };
	int gpu_cols[] = { STORE_GPU_ts_ns, STORE_GPU_dur_ns };
	struct store_scan_opts opts = { .cols = cols, .ncols = 3, .threads = 1 };
	struct store_scan_opts gpu_opts = { .cols = gpu_cols, .ncols = 2, .threads = 1 };
	struct store_table *counters = model_table(a->run, STORE_TABLE_COUNTER);
	struct store_table *gpu = model_table(a->run, STORE_TABLE_GPU);
	int rc = make(w, a);

	if (rc < 0)
		return err_sys(err, ENOMEM, "cannot sum up the features");
	if (counters)
		rc = store_scan(counters, &opts, take, w, err);
	for (size_t i = 0; i < w->reading_count && rc == 0; i++)
		if (w->readings[i].is_known)
			close_window(w, &w->readings[i]);
	return rc == 0 && gpu ? store_scan(gpu, &gpu_opts, take_gpu, w, err) : rc;
}

void windows_release(struct windows *w)
{
	free(w->values);
	free(w->readings);
	*w = (struct windows)WINDOWS_INIT;
}

double windows_correlation(const struct windows *w, enum windows_what x, enum windows_what y)
{
	double n = (double)w->count, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, spread;

	for (size_t i = 0; i < w->count; i++) {
		double a = (double)w->values[i][x] / 1e9, b = (double)w->values[i][y] / 1e9;

		sx += a;
		sy += b;
		sxx += a * a;
		syy += b * b;
		sxy += a * b;
	}
	spread = sqrt((sxx - sx * sx / n) * (syy - sy * sy / n));
	return spread > 0 ? (sxy - sx * sy / n) / spread : NAN;
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

double windows_quantile(const struct windows *w, enum windows_what what, double p)
{
	CLEANUP(cleanup_free) float *sorted = w->is_known[what] ? calloc(w->count, sizeof(*sorted)) : NULL;

	if (!sorted)
		return NAN;
	for (size_t i = 0; i < w->count; i++)
		sorted[i] = w->values[i][what];
	qsort(sorted, w->count, sizeof(*sorted), by_size);
	return (double)sorted[(size_t)(p * (double)(w->count - 1))] * 1e9 / (double)w->width_ns;
}
