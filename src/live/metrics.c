/* See metrics.h. */
#include "live/metrics.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "live/exposition.h"
#include "live/process.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Bounds of exported histograms: 2^LOW to 2^HIGH. Values on a bound count above it. */
#define OCTAVE_LOW (-14)
#define OCTAVE_HIGH 14
#define OCTAVE_FIRST (-30) /* of the board */

struct shown {
	char name[128]; /* "": it is left out */
};

static void name_series(const struct live_series *s, struct shown *to)
{
	size_t n;

	exposition_name(to->name, sizeof(to->name), "sonde_app_", s->name);
	n = strlen(to->name);
	if (s->kind == SONDE_METRIC_COUNTER && n > 6 && strcmp(to->name + n - 6, "_total") == 0)
		to->name[n - 6] = '\0';
}

static void add_histogram(struct exposition *x, const char *app, const struct live_series *s)
{
	uint64_t below = 0;
	size_t bucket = 0;

	for (int octave = OCTAVE_LOW; octave <= OCTAVE_HIGH; octave++) {
		size_t end = 1 + 4 * (size_t)(octave - OCTAVE_FIRST);
		char bound[32];

		for (; bucket < end; bucket++)
			below += s->buckets[bucket];
		snprintf(bound, sizeof(bound), octave < 0 ? "%.17g" : "%.1f", exp2(octave));
		exposition_sample(x, "_bucket", (double)below, "app", app, "le", bound, NULL);
	}
	exposition_sample(x, "_bucket", (double)s->intervals, "app", app, "le", "+Inf", NULL);
	exposition_sample(x, "_sum", s->sum, "app", app, NULL);
	exposition_sample(x, "_count", (double)s->intervals, "app", app, NULL);
}

static void add_plain(struct exposition *x, const char *app, const struct live_series *s)
{
	if (!isnan(s->value))
		exposition_sample(x, "", s->value, "app", app, NULL);
}

static const struct {
	enum exposition_type type;
	const char *help;
	void (*add)(struct exposition *x, const char *app, const struct live_series *s);
} kinds[] = {
	[SONDE_METRIC_COUNTER] = { EXPOSITION_COUNTER, "A counter of the application.", add_plain },
	[SONDE_METRIC_GAUGE] = { EXPOSITION_GAUGE, "A gauge of the application.", add_plain },
	[SONDE_METRIC_HISTOGRAM] = { EXPOSITION_HISTOGRAM, "A histogram of the application.", add_histogram },
};

/* All applications' series of one name. Names that became the same by another spelling or kind are left out. */
static uint64_t add_family(struct exposition *x, const struct live_scan *s, struct shown *names, size_t first)
{
	uint32_t kind = s->series[first].kind;
	size_t last_app = SIZE_MAX;
	uint64_t dropped = 0;
	char name[sizeof(names->name)];

	memcpy(name, names[first].name, sizeof(name));
	exposition_family(x, name, kinds[kind].type, kinds[kind].help);
	for (size_t i = first; i < s->series_count; i++) {
		const struct live_series *one = &s->series[i];

		if (strcmp(names[i].name, name) != 0)
			continue;
		names[i].name[0] = '\0';
		if (one->kind != kind || one->app == last_app) {
			dropped++;
			continue;
		}
		last_app = one->app;
		kinds[kind].add(x, s->apps[one->app].name, one);
	}
	return dropped;
}

static int by_app(const void *a, const void *b)
{
	const struct live_series *one = a, *other = b;

	return one->app != other->app ? (one->app < other->app ? -1 : 1) : strcmp(one->name, other->name);
}

static int add_metrics(struct exposition *x, struct live_scan *s, struct sonde_err *err)
{
	CLEANUP(cleanup_free) struct shown *names = calloc(s->series_count + 1, sizeof(*names));

	if (!names)
		return err_sys(err, ENOMEM, "cannot show the metrics");
	if (s->series_count)
		qsort(s->series, s->series_count, sizeof(*s->series), by_app); /* an application's stand together */
	for (size_t i = 0; i < s->series_count; i++)
		if (s->series[i].kind != SONDE_METRIC_STEP)
			name_series(&s->series[i], &names[i]);
	for (size_t i = 0; i < s->series_count; i++)
		if (names[i].name[0])
			s->dropped += add_family(x, s, names, i);
	return 0;
}

static void step_count(struct exposition *x, const char *app, const struct live_series *s)
{
	exposition_sample(x, "", (double)s->count, "app", app, "step", s->name, NULL);
}

static void step_interval(struct exposition *x, const char *app, const struct live_series *s)
{
	exposition_sample(x, "_sum", s->sum, "app", app, "step", s->name, NULL);
	exposition_sample(x, "_count", (double)s->intervals, "app", app, "step", s->name, NULL);
}

static void step_value(struct exposition *x, const char *app, const struct live_series *s)
{
	if (!isnan(s->value))
		exposition_sample(x, "", s->value, "app", app, "step", s->name, NULL);
}

static void add_steps(struct exposition *x, const struct live_scan *s)
{
	static const struct {
		const char *name;
		enum exposition_type type;
		const char *help;
		void (*add)(struct exposition *x, const char *app, const struct live_series *s);
	} rows[] = {
		{ "sonde_steps", EXPOSITION_COUNTER, "Steps that the application announced.", step_count },
		{ "sonde_step_interval_seconds", EXPOSITION_SUMMARY, "Time between two steps.", step_interval },
		{ "sonde_step_value", EXPOSITION_GAUGE, "What was said with the last step.", step_value },
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		exposition_family(x, rows[k].name, rows[k].type, rows[k].help);
		for (size_t i = 0; i < s->series_count; i++)
			if (s->series[i].kind == SONDE_METRIC_STEP)
				rows[k].add(x, s->apps[s->series[i].app].name, &s->series[i]);
	}
}

static void add_apps(struct exposition *x, const struct live_scan *s)
{
	exposition_family(x, "sonde_processes", EXPOSITION_GAUGE, "Processes of the application that have metrics.");
	for (size_t i = 0; i < s->app_count; i++)
		exposition_sample(x, "", (double)s->apps[i].processes, "app", s->apps[i].name, NULL);
	exposition_family(x, "sonde_cpu_seconds", EXPOSITION_COUNTER, "Processor time of these processes.");
	for (size_t i = 0; i < s->app_count; i++)
		exposition_sample(x, "", s->apps[i].cpu_seconds, "app", s->apps[i].name, NULL);
	exposition_family(x, "sonde_resident_memory_bytes", EXPOSITION_GAUGE, "Memory of these processes.");
	for (size_t i = 0; i < s->app_count; i++)
		exposition_sample(x, "", (double)s->apps[i].resident_bytes, "app", s->apps[i].name, NULL);
	exposition_family(x, "sonde_rejected_updates", EXPOSITION_COUNTER,
			"Updates of metrics that were no finite numbers, or of another kind.");
	for (size_t i = 0; i < s->app_count; i++)
		exposition_sample(x, "", (double)s->apps[i].rejected, "app", s->apps[i].name, NULL);
}

static void add_one(struct exposition *x, const char *name, enum exposition_type type, const char *help, double value)
{
	exposition_family(x, name, type, help);
	exposition_sample(x, "", value, NULL);
}

static double open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double n = 0;

	if (!dir)
		return NAN;
	for (struct dirent *d; (d = readdir(dir));)
		n += d->d_name[0] != '.';
	closedir(dir);
	return n - 1; /* this one */
}

static void add_ourselves(struct exposition *x, const struct live_exporter *e)
{
	struct live_process p;
	struct rlimit limit;
	struct timespec boot;

	exposition_family(x, "sonde_build", EXPOSITION_INFO, "The version of sonde.");
	exposition_sample(x, "", 1, "version", e->version, NULL);
	if (live_process_read(&p, getpid(), INT64_MAX) < 0)
		return;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	add_one(x, "process_cpu_seconds", EXPOSITION_COUNTER, "Processor time of sonde live.",
			(double)clock_cpu_ns() / 1e9);
	add_one(x, "process_resident_memory_bytes", EXPOSITION_GAUGE, "Its memory.", (double)p.resident_bytes);
	add_one(x, "process_virtual_memory_bytes", EXPOSITION_GAUGE, "Its address space.", (double)p.virtual_bytes);
	add_one(x, "process_start_time_seconds", EXPOSITION_GAUGE, "Its start, since the epoch.",
			(double)clock_real_ns() / 1e9 -
					((double)boot.tv_sec + (double)boot.tv_nsec / 1e9 - p.start_seconds));
	add_one(x, "process_open_fds", EXPOSITION_GAUGE, "Its open files.", open_fds());
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		add_one(x, "process_max_fds", EXPOSITION_GAUGE, "How many it may open.", (double)limit.rlim_cur);
}

int live_metrics(struct live_exporter *e, bool is_openmetrics, struct buf *out, struct sonde_err *err)
{
	struct exposition x = { .out = out, .is_openmetrics = is_openmetrics };
	struct live_scan scan;
	int rc = live_scan(&scan, &e->options, err);

	if (rc == 0) {
		add_apps(&x, &scan);
		add_steps(&x, &scan);
		rc = add_metrics(&x, &scan, err);
	}
	if (rc == 0) {
		uint64_t dropped = __atomic_add_fetch(&e->dropped, scan.dropped, __ATOMIC_RELAXED);
		uint64_t scrapes = __atomic_add_fetch(&e->scrapes, 1, __ATOMIC_RELAXED);

		live_node(&x);
		add_one(&x, "sonde_live_scrapes", EXPOSITION_COUNTER, "Times that this was asked.", (double)scrapes);
		add_one(&x, "sonde_live_dropped_series", EXPOSITION_COUNTER,
				"Series that were left out of answers: too many, or of a name that was taken.",
				(double)dropped);
		add_ourselves(&x, e);
		exposition_end(&x);
	}
	live_scan_release(&scan);
	return rc;
}
