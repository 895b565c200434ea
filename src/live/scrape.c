#include "live/scrape.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "live/exposition.h"
#include "live/proc-metrics.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_AGE_NS 450000000 /* maximum age of process lists, CPU time and memory in samples */

struct shown {
	char name[128]; /* "": omitted */
};

static void add_histogram(struct exposition *x, const struct live_scan *scan, const struct live_series *s)
{
	const struct exposition_label label = { "app", scan->apps[s->app].name };
	const struct live_histogram *h = s->histogram ? &scan->histograms[s->histogram - 1] : NULL;
	char pid[16];

	if (!h)
		return;
	snprintf(pid, sizeof(pid), "%d", (int)h->greatest_pid);
	exposition_histogram(x, &(struct exposition_histogram){ h->buckets, h->count, h->sum, h->greatest, "pid", pid },
			&label, 1);
}

static void add_plain(struct exposition *x, const struct live_scan *scan, const struct live_series *s)
{
	if (!isnan(s->value))
		exposition_sample(x, s->value, "app", scan->apps[s->app].name, NULL);
}

static const struct {
	enum exposition_type type;
	const char *help;
	void (*add)(struct exposition *x, const struct live_scan *scan, const struct live_series *s);
} kinds[] = {
	[SONDE_METRIC_COUNTER] = { EXPOSITION_COUNTER, "A counter of the application.", add_plain },
	[SONDE_METRIC_GAUGE] = { EXPOSITION_GAUGE, "A gauge of the application.", add_plain },
	[SONDE_METRIC_HISTOGRAM] = { EXPOSITION_HISTOGRAM, "A histogram of the application.", add_histogram },
	[SONDE_METRIC_RATE] = { EXPOSITION_GAUGE, "A rate of the application, over the last ten seconds.", add_plain },
};

/* All applications' series of one name. Names that collide after the conversion, or differ in kind, are omitted. */
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
		kinds[kind].add(x, s, one);
	}
	return dropped;
}

static int by_app(const void *a, const void *b)
{
	const struct live_series *one = a, *other = b;

	return one->app != other->app ? (one->app < other->app ? -1 : 1) : strcmp(one->name, other->name);
}

/* Groups the series by application; they are in order already unless it has several processes. */
static void sort_series(struct live_scan *s)
{
	for (size_t i = 1; i < s->series_count; i++)
		if (s->series[i].app < s->series[i - 1].app) {
			qsort(s->series, s->series_count, sizeof(*s->series), by_app);
			return;
		}
}

static int add_metrics(struct exposition *x, struct live_scan *s, struct sonde_err *err)
{
	CLEANUP(cleanup_free) struct shown *names = calloc(s->series_count + 1, sizeof(*names));

	if (!names)
		return err_sys(err, ENOMEM, "cannot format the metrics");
	sort_series(s);
	for (size_t i = 0; i < s->series_count; i++)
		if (s->series[i].kind != SONDE_METRIC_STEP) {
			size_t n;

			exposition_name(names[i].name, sizeof(names[i].name), "sonde_app_", s->series[i].name);
			n = strlen(names[i].name);
			if (s->series[i].kind == SONDE_METRIC_COUNTER && n > 6 &&
					strcmp(names[i].name + n - 6, "_total") == 0)
				names[i].name[n - 6] = '\0';
		}
	for (size_t i = 0; i < s->series_count; i++)
		if (names[i].name[0])
			s->dropped += add_family(x, s, names, i);
	return 0;
}

static void step_count(struct exposition *x, const struct live_scan *scan, const struct live_series *s)
{
	exposition_sample(x, (double)s->count, "app", scan->apps[s->app].name, "step", s->name, NULL);
}

static void step_interval(struct exposition *x, const struct live_scan *scan, const struct live_series *s)
{
	const struct exposition_label labels[] = { { "app", scan->apps[s->app].name }, { "step", s->name } };

	exposition_summary(x, s->sum, s->intervals, labels, 2);
}

static void step_value(struct exposition *x, const struct live_scan *scan, const struct live_series *s)
{
	if (!isnan(s->value))
		exposition_sample(x, s->value, "app", scan->apps[s->app].name, "step", s->name, NULL);
}

static void add_steps(struct exposition *x, const struct live_scan *s)
{
	static const struct {
		const char *name;
		enum exposition_type type;
		const char *help;
		void (*add)(struct exposition *x, const struct live_scan *scan, const struct live_series *s);
	} rows[] = {
		{ "sonde_steps", EXPOSITION_COUNTER, "Steps announced by the application.", step_count },
		{ "sonde_step_interval_seconds", EXPOSITION_SUMMARY, "Time between two steps.", step_interval },
		{ "sonde_step_value", EXPOSITION_GAUGE, "Value of the last step.", step_value },
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		exposition_family(x, rows[k].name, rows[k].type, rows[k].help);
		for (size_t i = 0; i < s->series_count; i++)
			if (s->series[i].kind == SONDE_METRIC_STEP)
				rows[k].add(x, s, &s->series[i]);
	}
}

static void add_apps(struct exposition *x, const struct live_scan *s)
{
	exposition_family(x, "sonde_processes", EXPOSITION_GAUGE, "Processes of the application.");
	for (size_t i = 0; i < s->app_count; i++)
		if (s->apps[i].first)
			exposition_sample(x, (double)s->apps[i].processes, "app", s->apps[i].name, NULL);
	exposition_family(x, "sonde_cpu_seconds", EXPOSITION_COUNTER, "CPU time of the application's processes.");
	for (size_t i = 0; i < s->app_count; i++)
		if (s->apps[i].first)
			exposition_sample(x, s->apps[i].cpu_seconds, "app", s->apps[i].name, NULL);
	exposition_family(x, "sonde_resident_memory_bytes", EXPOSITION_GAUGE,
			"Resident memory of the application's processes.");
	for (size_t i = 0; i < s->app_count; i++)
		if (s->apps[i].first)
			exposition_sample(x, (double)s->apps[i].resident_bytes, "app", s->apps[i].name, NULL);
	exposition_family(x, "sonde_rejected_updates", EXPOSITION_COUNTER,
			"Rejected metric updates: not finite, or of another kind.");
	for (size_t i = 0; i < s->app_count; i++)
		exposition_sample(x, (double)s->apps[i].rejected, "app", s->apps[i].name, NULL);
}

static void add_one(struct exposition *x, const char *name, enum exposition_type type, const char *help, double value)
{
	exposition_family(x, name, type, help);
	exposition_sample(x, value, NULL);
}

/* Newer kernels report the number of descriptors without listing them. */
static double open_fds(void)
{
	struct stat st;
	DIR *dir;
	double n = 0;

	if (stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
		return (double)st.st_size;
	dir = opendir("/proc/self/fd");
	if (!dir)
		return NAN;
	for (struct dirent *d; (d = readdir(dir));)
		n += d->d_name[0] != '.';
	closedir(dir);
	return n - 1; /* minus the descriptor of this directory */
}

static void add_ourselves(struct exposition *x, const struct live_exporter *e)
{
	struct live_process p;
	struct rlimit limit;
	struct timespec boot;

	exposition_family(x, "sonde_build", EXPOSITION_INFO, "Version of sonde.");
	exposition_sample(x, 1, "version", e->version, NULL);
	if (live_process_read(&p, getpid(), INT64_MAX) < 0)
		return;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	add_one(x, "process_cpu_seconds", EXPOSITION_COUNTER, "CPU time of sonde live.", (double)clock_cpu_ns() / 1e9);
	add_one(x, "process_resident_memory_bytes", EXPOSITION_GAUGE, "Resident memory of sonde live.",
			(double)p.resident_bytes);
	add_one(x, "process_virtual_memory_bytes", EXPOSITION_GAUGE, "Virtual memory of sonde live.",
			(double)p.virtual_bytes);
	add_one(x, "process_start_time_seconds", EXPOSITION_GAUGE, "Start time of sonde live since the Unix epoch.",
			(double)clock_real_ns() / 1e9 -
					((double)boot.tv_sec + (double)boot.tv_nsec / 1e9 - p.start_seconds));
	add_one(x, "process_open_fds", EXPOSITION_GAUGE, "Open file descriptors of sonde live.", open_fds());
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		add_one(x, "process_max_fds", EXPOSITION_GAUGE, "Maximum number of open file descriptors.",
				(double)limit.rlim_cur);
}

static void add_containers(struct exposition *x, const struct live_scan *s)
{
	bool has_family = false;

	for (size_t i = 0; i < s->app_count; i++) {
		const struct live_entry *e = s->apps[i].first;

		if (!e || !*e->container_id)
			continue;
		if (!has_family)
			exposition_family(x, "sonde_container", EXPOSITION_INFO, "Container of the application.");
		has_family = true;
		exposition_sample(x, 1, "app", s->apps[i].name, "container_id", e->container_id, "container",
				*e->container ? e->container : NULL, NULL);
	}
}

void live_exporter_init(struct live_exporter *e, const struct live_options *options, const char *version)
{
	*e = (struct live_exporter){ .options = *options, .version = version, .lock = PTHREAD_MUTEX_INITIALIZER };
	live_watch_init(&e->watch, options->rings);
	live_named_groups_init(&e->named, options->groups, options->group_count);
}

void live_exporter_release(struct live_exporter *e)
{
	live_devices_free(e->devices);
	live_watch_release(&e->watch);
	live_named_groups_release(&e->named);
	pthread_mutex_destroy(&e->lock);
}

static int show(struct live_exporter *e, struct exposition *x, unsigned parts, int64_t age_ns, struct sonde_err *err)
{
	struct live_scan scan = { .apps = NULL };
	int rc = live_watch_refresh(&e->watch, age_ns, err);

	if (rc == 0)
		rc = live_scan(&scan, &e->watch, parts, e->options.series_max, age_ns, err);
	if (rc == 0 && live_pushed_add(e->pushed, &scan, e->options.series_max) < 0)
		rc = err_sys(err, ENOMEM, "cannot format pushed metrics");
	if (rc == 0) {
		add_apps(x, &scan);
		add_containers(x, &scan);
		add_steps(x, &scan);
		rc = add_metrics(x, &scan, err);
	}
	if (rc == 0) {
		e->dropped += scan.dropped;
		if (parts & LIVE_GROUPS)
			live_groups(x, &scan, &e->named);
		if (parts & LIVE_NODE)
			live_node(x);
		if (parts & LIVE_DEVICES) {
			if (!e->devices)
				e->devices = live_devices_open(e->options.powercap);
			if (e->devices)
				live_devices_show(e->devices, x);
		}
		add_one(x, "sonde_live_scrapes", EXPOSITION_COUNTER, "Number of scrapes.", (double)e->scrapes);
		add_one(x, "sonde_live_dropped_series", EXPOSITION_COUNTER,
				"Series left out of scrapes: over the limit, or a duplicate name.", (double)e->dropped);
		add_one(x, "sonde_live_undelivered", EXPOSITION_COUNTER,
				"Failed writes to the text file or Pushgateway.",
				(double)__atomic_load_n(&e->undelivered, __ATOMIC_RELAXED));
		if (parts & LIVE_OURSELVES)
			add_ourselves(x, e);
		if (e->more)
			e->more(e->more_arg, x);
		exposition_end(x);
	}
	live_scan_release(&scan);
	return rc;
}

int live_metrics(struct live_exporter *e, enum exposition_format format, struct buf *out, struct sonde_err *err)
{
	struct exposition x = { .out = out, .format = format };
	int rc;

	pthread_mutex_lock(&e->lock);
	e->scrapes++;
	buf_reserve(out, e->page_bytes); /* the size of the last page */
	rc = show(e, &x, LIVE_ALL, 0, err);
	e->page_bytes = out->len + out->len / 16;
	pthread_mutex_unlock(&e->lock);
	return rc;
}

int live_samples(struct live_exporter *e, const struct live_taker *taker, struct sonde_err *err)
{
	struct exposition x = { .sink = taker->sink, .wants = taker->wants, .sink_arg = taker->arg };
	int rc;

	pthread_mutex_lock(&e->lock);
	rc = show(e, &x, taker->parts, SAMPLE_AGE_NS, err);
	pthread_mutex_unlock(&e->lock);
	return rc;
}

void live_each_process(struct live_exporter *e, const char *app,
		void (*take)(void *arg, const struct live_ring *ring, const struct live_entry *entry), void *arg)
{
	pthread_mutex_lock(&e->lock);
	if (live_watch_refresh(&e->watch, 0, NULL) == 0)
		for (size_t i = 0; i < e->watch.ring_count; i++)
			for (size_t k = 0; k < e->watch.rings[i].entry_count; k++) {
				const struct live_ring *r = &e->watch.rings[i];

				if (strcmp(r->entries[k].app, app) == 0 && r->entries[k].stat_fd >= 0)
					take(arg, r, &r->entries[k]);
			}
	pthread_mutex_unlock(&e->lock);
}
