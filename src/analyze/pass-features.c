/*
 * SOFA's concurrency breakdown and performance features.
 *
 * The run is cut into windows of a tenth of a second. In each the largest of
 * user, system and I/O wait time of any CPU, and of the time that a device was
 * busy, has the whole window, or nobody when it is less than a tenth of it. The
 * machine's counters tell, so other programs count too: the states of threads
 * are the better answer, this one is for comparison with SOFA. A feature that
 * was not recorded is not in the list.
 */
#include "analyze/counters.h"
#include "analyze/finding.h"
#include "analyze/pass.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS 100000000
#define WINDOWS_MAX 100000
#define IDLE_SHARE 0.1

enum who { USR, SYS, IOW, GPU, IDL, WHO };
static const char *const words[WHO] = { "usr", "sys", "iow", "gpu", "idl" };

struct windows {
	struct analyze *a;
	size_t count;
	int64_t width_ns;
	float (*busy)[4]; /* of each window: the largest of any CPU or device, in nanoseconds */
	struct reading {
		double value; /* the last */
		double sum;   /* in the window */
		size_t window;
		int8_t who; /* -1: no counter of a CPU */
		bool is_known;
	} * readings; /* by string id */
	size_t reading_count;
};

/* "cpu.3.user_ns" is USR; -1: something else. */
static int8_t who_of(const char *name)
{
	static const struct {
		const char *ending;
		int8_t who;
	} endings[] = { { ".user_ns", USR }, { ".system_ns", SYS }, { ".iowait_ns", IOW } };
	size_t digits;

	if (!name || strncmp(name, "cpu.", 4) != 0)
		return -1;
	digits = strspn(name + 4, "0123456789");
	for (size_t i = 0; digits && i < sizeof(endings) / sizeof(*endings); i++)
		if (strcmp(name + 4 + digits, endings[i].ending) == 0)
			return endings[i].who;
	return -1;
}

static void close_window(struct windows *w, const struct reading *r)
{
	float *most = &w->busy[r->window][r->who];

	*most = (float)r->sum > *most ? (float)r->sum : *most;
}

static int take(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct windows *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int64_t name = b->columns[STORE_COUNTER_name].ints[i], ts_ns = b->columns[STORE_COUNTER_ts_ns].ints[i];
		double value = b->columns[STORE_COUNTER_value].reals[i];
		struct reading *r = (uint64_t)name < w->reading_count ? &w->readings[name] : NULL;
		size_t window;

		if (!r || r->who < 0 || isnan(value) || ts_ns < w->a->start_ns || ts_ns >= w->a->end_ns)
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
	}
	return 0;
}

/* Devices: what of each window commands cover; the table is small beside others. */
static int take_gpu(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct windows *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int64_t from = b->columns[STORE_GPU_ts_ns].ints[i] - w->a->start_ns;
		int64_t to = from + b->columns[STORE_GPU_dur_ns].ints[i];

		if (b->columns[STORE_GPU_ts_ns].ints[i] == STORE_NULL || b->columns[STORE_GPU_dur_ns].ints[i] < 0)
			continue;
		from = from < 0 ? 0 : from;
		for (size_t k = (size_t)(from / w->width_ns); k < w->count && (int64_t)k * w->width_ns < to; k++) {
			int64_t lo = (int64_t)k * w->width_ns, hi = lo + w->width_ns;
			float ns = w->busy[k][GPU] + (float)((to < hi ? to : hi) - (from > lo ? from : lo));

			w->busy[k][GPU] = ns < (float)w->width_ns ? ns : (float)w->width_ns;
		}
	}
	return 0;
}

static int read_windows(struct windows *w, struct sonde_err *err)
{
	int cols[] = { STORE_COUNTER_ts_ns, STORE_COUNTER_name, STORE_COUNTER_value };
	int gpu_cols[] = { STORE_GPU_ts_ns, STORE_GPU_dur_ns };
	struct store_scan_opts opts = { .cols = cols, .ncols = 3, .threads = 1 };
	struct store_scan_opts gpu_opts = { .cols = gpu_cols, .ncols = 2, .threads = 1 };
	struct store_table *gpu = model_table(w->a->run, STORE_TABLE_GPU);
	int rc = store_scan(model_table(w->a->run, STORE_TABLE_COUNTER), &opts, take, w, err);

	for (size_t i = 0; i < w->reading_count && rc == 0; i++)
		if (w->readings[i].is_known)
			close_window(w, &w->readings[i]);
	return rc == 0 && gpu ? store_scan(gpu, &gpu_opts, take_gpu, w, err) : rc;
}

static int make_windows(struct windows *w, struct analyze *a)
{
	int64_t wall_ns = a->end_ns - a->start_ns;

	w->a = a;
	w->width_ns = wall_ns / WINDOWS_MAX > WINDOW_NS ? wall_ns / WINDOWS_MAX : WINDOW_NS;
	w->count = (size_t)(wall_ns / w->width_ns) + 1;
	w->reading_count = model_name_count(a->run);
	w->busy = calloc(w->count, sizeof(*w->busy));
	w->readings = calloc(w->reading_count + 1, sizeof(*w->readings));
	if (!w->busy || !w->readings)
		return -ENOMEM;
	for (size_t i = 0; i < w->reading_count; i++)
		w->readings[i].who = who_of(model_cname(a->run, (int64_t)i));
	return 0;
}

/* Whose window it is. */
static void share_out(const struct windows *w, size_t wins[WHO])
{
	for (size_t i = 0; i < w->count; i++) {
		int best = USR;

		for (int k = SYS; k <= GPU; k++)
			best = w->busy[i][k] > w->busy[i][best] ? k : best;
		wins[(double)w->busy[i][best] < IDLE_SHARE * (double)w->width_ns ? IDL : best]++;
	}
}

/* Pearson's, over the windows. */
static double correlation(const struct windows *w, int x, int y)
{
	double n = (double)w->count, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, spread;

	for (size_t i = 0; i < w->count; i++) {
		double a = (double)w->busy[i][x] / 1e9, b = (double)w->busy[i][y] / 1e9;

		sx += a;
		sy += b;
		sxx += a * a;
		syy += b * b;
		sxy += a * b;
	}
	spread = sqrt((sxx - sx * sx / n) * (syy - sy * sy / n));
	return spread > 0 ? (sxy - sx * sy / n) / spread : NAN;
}

static const struct analyze_column columns[] = {
	{ "name", "FEATURE", ANALYZE_TEXT },
	{ "value", "VALUE", ANALYZE_REAL },
};

static void feature(struct analyze_table *t, const char *name, double value)
{
	if (!t || isnan(value))
		return;
	analyze_cell_text(t, name);
	analyze_cell_real(t, value);
	t->all_rows++;
}

static double seconds(int64_t ns)
{
	return ns == STORE_NULL ? NAN : (double)ns / 1e9;
}

static void add_correlations(struct analyze_table *t, const struct windows *w)
{
	feature(t, "corr_usr_sys", correlation(w, USR, SYS));
	feature(t, "corr_usr_iow", correlation(w, USR, IOW));
	feature(t, "corr_sys_iow", correlation(w, SYS, IOW));
	feature(t, "corr_gpu_usr", correlation(w, GPU, USR));
	feature(t, "corr_gpu_sys", correlation(w, GPU, SYS));
	feature(t, "corr_gpu_iow", correlation(w, GPU, IOW));
}

static double busy_share(const struct analyze *a, double wall, double cpus)
{
	double busy = counters_most(a, "cpu.all.user_ns") + counters_most(a, "cpu.all.nice_ns") +
			counters_most(a, "cpu.all.system_ns");

	return wall > 0 && cpus > 0 ? busy / 1e9 / (wall * cpus) : NAN;
}

static void add_features(struct analyze *a, struct analyze_section *s, const struct windows *w, const size_t wins[WHO])
{
	struct analyze_table *t = analyze_table(s, "vector", "Performance features", columns, 2, ANALYZE_DETAIL);
	double wall = seconds(finding_wall_ns(a)), cpus = (double)model_run_int(a->run, "host.cpus");

	feature(t, "elapsed_time", wall);
	feature(t, "num_cores", cpus > 0 ? cpus : NAN);
	feature(t, "cpu_util", busy_share(a, wall, cpus));
	feature(t, "cpu_time", seconds(finding_int(a, "cpu", "cpu_ns")));
	for (int k = 0; k < WHO; k++) {
		char name[64];

		snprintf(name, sizeof(name), "elapsed_%s_time_ratio", words[k]);
		feature(t, name, (double)wins[k] / (double)w->count);
	}
	feature(t, "vm_bi", counters_most(a, "vm.page_in_bytes") / 1024 / wall);
	feature(t, "vm_bo", counters_most(a, "vm.page_out_bytes") / 1024 / wall);
	feature(t, "vm_cs", counters_most(a, "sched.switches") / wall);
	feature(t, "io_time", seconds(finding_int(a, "io", "total_ns")));
	feature(t, "net_time", seconds(finding_int(a, "network", "total_ns")));
	feature(t, "gpu_time", seconds(finding_int(a, "gpu", "busy_ns")));
	feature(t, "kernel_time", seconds(finding_int(a, "gpu", "kernel_ns")));
	feature(t, "copy_time", seconds(finding_int(a, "gpu", "copy_ns")));
	feature(t, "num_gpus",
			finding_int(a, "gpu", "devices") == STORE_NULL ? 0 : (double)finding_int(a, "gpu", "devices"));
	add_correlations(t, w);
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct windows w = { .count = 0 };
	size_t wins[WHO] = { 0 };
	int rc;

	(void)state;
	if (isnan(counters_most(a, "cpu.all.user_ns")) || a->start_ns == STORE_NULL || a->end_ns <= a->start_ns) {
		analyze_absent(s, "the machine's counters were not recorded (the probe system)");
		return 0;
	}
	rc = make_windows(&w, a);
	if (rc == 0)
		rc = read_windows(&w, err);
	if (rc == 0) {
		share_out(&w, wins);
		for (int k = 0; k < WHO; k++)
			analyze_real(s, words[k], NULL, ANALYZE_RATIO, (double)wins[k] / (double)w.count);
		analyze_int(s, "windows", NULL, ANALYZE_COUNT, (int64_t)w.count);
		analyze_int(s, "window_ns", NULL, ANALYZE_NS, w.width_ns);
		add_features(a, s, &w, wins);
	}
	free(w.busy);
	free(w.readings);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot sum up the features") : rc;
}

const struct analyze_pass analyze_pass_features = { .key = "features", .title = "Features", .finish = finish };
