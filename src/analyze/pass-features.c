/*
 * SOFA's concurrency breakdown and performance features.
 *
 * Each window is assigned to the largest of user, system and I/O wait time of any CPU and the busy
 * time of a device, or to idle if that is less than a tenth of the window. The values come from system counters, so
 * other programs count too: thread states are more accurate, this is for comparison with SOFA. Names are SOFA's;
 * times are in seconds, rates per second. Features that were not recorded are omitted.
 */
#include "analyze/finding.h"
#include "analyze/pass-results.h"
#include "analyze/pass.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Windows: the run divided into windows of 0.1 s, as in SOFA, and the activity of the machine in each: load of
 * the busiest CPU and device, and bytes transferred over the network and by disks.
 */
/* The first four are in ns, the maximum over CPUs or devices; the others are in bytes, the total. */
enum windows_what {
	WINDOWS_USR,
	WINDOWS_SYS,
	WINDOWS_IOW,
	WINDOWS_GPU,
	WINDOWS_SENT, /* by network devices other than the loopback */
	WINDOWS_RECEIVED,
	WINDOWS_DISK,
	WINDOWS_WHAT
};

struct windows {
	size_t count;
	int64_t width_ns;
	bool is_known[WINDOWS_WHAT]; /* it was recorded */
	float (*values)[WINDOWS_WHAT];
	/* private */
	struct analyze *a;
	struct windows_reading *readings; /* by string id */
	size_t reading_count;
};

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

/* Prefix and suffix of counter counter_names, with a number or any text between them. */
static const struct {
	const char *begin, *end;
	bool is_number;
	int8_t what;
} counter_names[] = {
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

	for (size_t i = 0; i < sizeof(counter_names) / sizeof(*counter_names); i++) {
		size_t begin = strlen(counter_names[i].begin), end = strlen(counter_names[i].end);

		if (n <= begin + end || strncmp(name, counter_names[i].begin, begin) != 0 ||
				strcmp(name + n - end, counter_names[i].end) != 0)
			continue;
		if (!counter_names[i].is_number || strspn(name + begin, "0123456789") == n - begin - end)
			return counter_names[i].what;
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

static int add_counters(void *arg, unsigned worker, size_t block, const struct store_batch *b)
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
static int add_gpu(void *arg, unsigned worker, size_t block, const struct store_batch *b)
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

static int init_windows(struct windows *w, struct analyze *a)
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

/* Reads the windows of the analyzed range, which must not be empty. Release it in any case. */
static int windows_read(struct windows *w, struct analyze *a, struct sonde_err *err)
{
	int cols[] = { STORE_COUNTER_ts_ns, STORE_COUNTER_name, STORE_COUNTER_value };
	int gpu_cols[] = { STORE_GPU_ts_ns, STORE_GPU_dur_ns };
	struct store_scan_opts opts = { .cols = cols, .ncols = 3, .threads = 1 };
	struct store_scan_opts gpu_opts = { .cols = gpu_cols, .ncols = 2, .threads = 1 };
	struct store_table *counters = model_table(a->run, STORE_TABLE_COUNTER);
	struct store_table *gpu = model_table(a->run, STORE_TABLE_GPU);
	int rc = init_windows(w, a);

	if (rc < 0)
		return err_sys(err, ENOMEM, "cannot compute the features");
	if (counters)
		rc = store_scan(counters, &opts, add_counters, w, err);
	for (size_t i = 0; i < w->reading_count && rc == 0; i++)
		if (w->readings[i].is_known)
			close_window(w, &w->readings[i]);
	return rc == 0 && gpu ? store_scan(gpu, &gpu_opts, add_gpu, w, err) : rc;
}

static void windows_release(struct windows *w)
{
	free(w->values);
	free(w->readings);
	*w = (struct windows){ .count = 0 };
}

/* Pearson's; NaN if either is constant. */
static double windows_correlation(const struct windows *w, enum windows_what x, enum windows_what y)
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

/* A quantile over the windows, per second; NaN if not recorded or out of memory. */
static double windows_quantile(const struct windows *w, enum windows_what what, double p)
{
	CLEANUP(cleanup_free) float *sorted = w->is_known[what] ? calloc(w->count, sizeof(*sorted)) : NULL;

	if (!sorted)
		return NAN;
	for (size_t i = 0; i < w->count; i++)
		sorted[i] = w->values[i][what];
	qsort(sorted, w->count, sizeof(*sorted), by_size);
	return (double)sorted[(size_t)(p * (double)(w->count - 1))] * 1e9 / (double)w->width_ns;
}

/* Features. */

#define IDLE_SHARE 0.1

enum who { USR = WINDOWS_USR, SYS = WINDOWS_SYS, IOW = WINDOWS_IOW, GPU = WINDOWS_GPU, IDL, WHO };
static const char *const words[WHO] = { "usr", "sys", "iow", "gpu", "idl" };

struct features {
	int requests; /* to block devices */
};

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct engine_query requests = { "requests to disks", 0, { 0 }, ENGINE_NONE, 1,
		{ { ENGINE_QUANTILES, STORE_BLOCK_dur_ns } } };

	(void)err;
	((struct features *)state)->requests = analyze_query(a, STORE_TABLE_BLOCK, &requests);
	return 0;
}

static const struct analyze_column columns[] = {
	{ "name", "FEATURE", ANALYZE_TEXT },
	{ "value", "VALUE", ANALYZE_REAL },
};

static void feature(struct analyze_table *t, const char *name, double value)
{
	if (isnan(value))
		return;
	analyze_cell_text(t, name);
	analyze_cell_real(t, value);
}

static double seconds(int64_t ns)
{
	return ns == STORE_NULL ? NAN : (double)ns / 1e9;
}

/* Quartiles and correlations over the windows. */
static void add_windows(struct analyze_table *t, const struct windows *w, const size_t wins[WHO])
{
	static const struct {
		const char *name;
		enum windows_what what;
		double p;
	} quantiles[] = {
		{ "bw_tx_q2", WINDOWS_SENT, 0.5 },
		{ "bw_tx_q3", WINDOWS_SENT, 0.75 },
		{ "bw_rx_q2", WINDOWS_RECEIVED, 0.5 },
		{ "bw_rx_q3", WINDOWS_RECEIVED, 0.75 },
		{ "diskstat_q1", WINDOWS_DISK, 0.25 },
		{ "diskstat_q2", WINDOWS_DISK, 0.5 },
		{ "diskstat_q3", WINDOWS_DISK, 0.75 },
	};
	static const struct {
		const char *name;
		enum windows_what x, y;
	} correlations[] = {
		{ "corr_usr_sys", WINDOWS_USR, WINDOWS_SYS },
		{ "corr_usr_iow", WINDOWS_USR, WINDOWS_IOW },
		{ "corr_sys_iow", WINDOWS_SYS, WINDOWS_IOW },
		{ "corr_gpu_usr", WINDOWS_GPU, WINDOWS_USR },
		{ "corr_gpu_sys", WINDOWS_GPU, WINDOWS_SYS },
		{ "corr_gpu_iow", WINDOWS_GPU, WINDOWS_IOW },
		{ "corr_gpu_ntx", WINDOWS_GPU, WINDOWS_SENT },
		{ "corr_gpu_nrx", WINDOWS_GPU, WINDOWS_RECEIVED },
	};

	for (int k = 0; k < WHO; k++) {
		char name[64];

		snprintf(name, sizeof(name), "elapsed_%s_time_ratio", words[k]);
		feature(t, name, (double)wins[k] / (double)w->count);
	}
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		feature(t, quantiles[i].name, windows_quantile(w, quantiles[i].what, quantiles[i].p));
	for (size_t i = 0; i < sizeof(correlations) / sizeof(*correlations); i++)
		feature(t, correlations[i].name, windows_correlation(w, correlations[i].x, correlations[i].y));
}

/* Announced or detected iterations of the first kind. */
static double iterations_of(const struct analyze *a)
{
	const struct analyze_section *s = analyze_find(&a->result, "iterations");
	const struct analyze_table *t = s ? s->tables : NULL;

	for (size_t c = 0; t && t->rows && c < t->column_count; c++)
		if (strcmp(t->columns[c].key, "count") == 0 && t->values[c].integer > 0)
			return (double)t->values[c].integer;
	return NAN;
}

static void add_copies(struct analyze *a, struct analyze_table *t)
{
	static const struct {
		const char *word, *direction;
	} ways[] = { { "h2d", "host-to-device" }, { "d2h", "device-to-host" }, { "d2d", "device-to-device" },
		{ "p2p", "peer-to-peer" } };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		int64_t ns, bytes;
		char name[64];

		if (!gpu_copies(a, ways[i].direction, &ns, &bytes))
			continue;
		snprintf(name, sizeof(name), "%s_payload", ways[i].word);
		feature(t, name, (double)bytes);
		snprintf(name, sizeof(name), "%s_time", ways[i].word);
		feature(t, name, seconds(ns));
		snprintf(name, sizeof(name), "%s_bandwidth", ways[i].word);
		feature(t, name, ns > 0 ? (double)bytes * 1e9 / (double)ns : NAN);
	}
}

static void add_devices(struct analyze *a, struct analyze_table *t)
{
	int64_t devices = finding_int(a, "gpu", "devices"), copy_ns = finding_int(a, "gpu", "copy_ns"), from, to;
	double iterations = iterations_of(a);

	feature(t, "num_gpus", devices == STORE_NULL ? 0 : (double)devices);
	feature(t, "gpu_time", seconds(finding_int(a, "gpu", "busy_ns")));
	feature(t, "kernel_time", seconds(finding_int(a, "gpu", "kernel_ns")));
	feature(t, "nccl_time", seconds(gpu_kernels_ns(a, "nccl")));
	feature(t, "copy_time", seconds(copy_ns));
	add_copies(a, t);
	feature(t, "iter_fw_time", seconds(gpu_kernels_ns(a, "_fw_")) / iterations);
	feature(t, "iter_bw_time", seconds(gpu_kernels_ns(a, "_bw_")) / iterations);
	feature(t, "iter_copy_time", seconds(copy_ns) / iterations);
	feature(t, "gpu_sm_util", counters_mean(a, "gpu.0.util_percent"));
	feature(t, "gpu_sm_util_q2", counters_quantile(a, "gpu.0.util_percent", 0.5));
	feature(t, "gpu_sm_util_q3", counters_quantile(a, "gpu.0.util_percent", 0.75));
	feature(t, "gpu_mem_util", counters_mean(a, "gpu.0.memory_util_percent"));
	feature(t, "gpu_mem_util_q2", counters_quantile(a, "gpu.0.memory_util_percent", 0.5));
	feature(t, "gpu_mem_util_q3", counters_quantile(a, "gpu.0.memory_util_percent", 0.75));
	if (!isnan(counters_mean(a, "gpu.0.util_percent")) &&
			analyze_spotlight(a->run, "gpu.0.util_percent", &from, &to, NULL) == 0)
		feature(t, "elapsed_hotspot_time", seconds(to - from));
}

static double busy_share(const struct analyze *a, double wall, double cpus)
{
	double busy = counters_most(a, "cpu.all.user_ns") + counters_most(a, "cpu.all.nice_ns") +
			counters_most(a, "cpu.all.system_ns");

	return wall > 0 && cpus > 0 ? busy / 1e9 / (wall * cpus) : NAN;
}

static void add_machine(struct analyze *a, struct analyze_table *t)
{
	double wall = seconds(finding_wall_ns(a)), cpus = (double)model_run_int(a->run, "host.cpus");

	feature(t, "elapsed_time", wall);
	feature(t, "num_cores", cpus > 0 ? cpus : NAN);
	feature(t, "cpu_util", busy_share(a, wall, cpus));
	feature(t, "cpu_time", seconds(finding_int(a, "cpu", "cpu_ns")));
	feature(t, "vm_bi", counters_most(a, "vm.page_in_bytes") / 1024 / wall);
	feature(t, "vm_bo", counters_most(a, "vm.page_out_bytes") / 1024 / wall);
	feature(t, "vm_cs", counters_most(a, "sched.switches") / wall);
	feature(t, "vm_in", counters_most(a, "sched.interrupts") / wall);
	feature(t, "io_time", seconds(finding_int(a, "io", "total_ns")));
	feature(t, "net_time", seconds(finding_int(a, "network", "total_ns")));
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct windows w = { .count = 0 };
	size_t wins[WHO] = { 0 };
	int rc;

	if (isnan(counters_most(a, "cpu.all.user_ns")) || a->start_ns == STORE_NULL || a->end_ns <= a->start_ns) {
		analyze_absent(s, "the machine's counters were not recorded (the probe system)");
		return 0;
	}
	rc = windows_read(&w, a, err);
	if (rc == 0) {
		struct analyze_table *t = analyze_table(s, "vector", "Performance features", columns, 2,
				ANALYZE_DETAIL);
		const struct features *f = state;
		const struct engine_groups *g = analyze_groups(a, STORE_TABLE_BLOCK, f->requests);

		/* Counts the windows of each class. */
		for (size_t i = 0; i < w.count; i++) {
			int best = USR;

			for (int k = SYS; k <= GPU; k++)
				best = w.values[i][k] > w.values[i][best] ? k : best;
			wins[(double)w.values[i][best] < IDLE_SHARE * (double)w.width_ns ? IDL : best]++;
		}
		for (int k = 0; k < WHO; k++)
			analyze_real(s, words[k], NULL, ANALYZE_RATIO, (double)wins[k] / (double)w.count);
		analyze_int(s, "windows", NULL, ANALYZE_COUNT, (int64_t)w.count);
		analyze_int(s, "window_ns", NULL, ANALYZE_NS, w.width_ns);
		add_machine(a, t);
		add_windows(t, &w, wins);
		if (g->count && !g->has_no_quantiles) {
			feature(t, "blktrace_latency_q1", engine_quantile(g, 0, 0, 0.25) / 1e9);
			feature(t, "blktrace_latency_q2", engine_quantile(g, 0, 0, 0.5) / 1e9);
			feature(t, "blktrace_latency_q3", engine_quantile(g, 0, 0, 0.75) / 1e9);
		}
		add_devices(a, t);
	}
	windows_release(&w);
	return rc;
}

const struct analyze_pass analyze_pass_features = { .key = "features",
	.title = "Features",
	.state_bytes = sizeof(struct features),
	.plan = plan,
	.finish = finish };
