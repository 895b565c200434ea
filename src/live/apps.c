/* Finding boards and adding them up; see apps.h. */
#include "live/apps.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "live/board.h"
#include "live/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TICK_UNIT 1073741824.0 /* a step's histogram counts in units of 2^30 ticks */

/* Seconds a tick in a ring directory; NaN when its control page tells nothing. */
static double tick_seconds(int dirfd)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, "control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct sonde_control c;
	int64_t now_ns = clock_mono_ns();

	if (fd < 0 || pread(fd, &c, sizeof(c), 0) != (ssize_t)sizeof(c) || c.magic != SONDE_CONTROL_MAGIC)
		return NAN;
	if (c.clock == SONDE_CLOCK_MONOTONIC)
		return 1e-9;
	return (double)(now_ns - c.start_mono_ns) / 1e9 / (double)(clock_ticks() - c.start_ticks);
}

/* Room for one more; false when there is no memory. */
static bool grow(void **items, size_t count, size_t *cap, size_t size)
{
	size_t more = *cap ? 2 * *cap : 16;
	void *bigger;

	if (count < *cap)
		return true;
	bigger = realloc(*items, more * size);
	if (bigger) {
		*items = bigger;
		*cap = more;
	}
	return bigger != NULL;
}

static int app_of(struct live_scan *s, const char *name, size_t *index)
{
	uint64_t *at = map_get(&s->app_index, name, strlen(name));

	if (at) {
		*index = *at;
		return 0;
	}
	if (s->app_count == LIVE_APPS_MAX) {
		s->dropped++;
		return -ENOSPC;
	}
	at = grow((void **)&s->apps, s->app_count, &s->app_cap, sizeof(*s->apps))
			? map_put(&s->app_index, name, strlen(name), NULL)
			: NULL;
	if (!at)
		return -ENOMEM;
	*index = *at = s->app_count++;
	s->apps[*index] = (struct live_app){ .processes = 0 };
	snprintf(s->apps[*index].name, sizeof(s->apps[*index].name), "%s", name);
	return 0;
}

/* NULL with *rc: -ENOMEM, or 0 when there are too many. */
static struct live_series *series_of(struct live_scan *s, size_t max, size_t app, const struct sonde_metric *m, int *rc)
{
	char key[LIVE_NAME_BYTES + SONDE_NAME_BYTES + 16];
	int n = snprintf(key, sizeof(key), "%zu/%u/%s", app, m->kind, m->name);
	uint64_t *at = map_get(&s->series_index, key, (size_t)n);

	*rc = 0;
	if (at)
		return &s->series[*at];
	if (s->series_count >= max) {
		s->dropped++;
		return NULL;
	}
	at = grow((void **)&s->series, s->series_count, &s->series_cap, sizeof(*s->series))
			? map_put(&s->series_index, key, (size_t)n, NULL)
			: NULL;
	if (!at) {
		*rc = -ENOMEM;
		return NULL;
	}
	*at = s->series_count;
	s->series[*at] = (struct live_series){ .app = app, .kind = m->kind, .value = NAN };
	snprintf(s->series[*at].name, sizeof(s->series[*at].name), "%s", m->name);
	return &s->series[s->series_count++];
}

static void add_histogram(struct live_series *to, const struct sonde_histogram *h, double scale)
{
	double sum = live_real(h->sum) * scale;

	if (!isfinite(sum))
		return;
	to->sum += sum;
	for (size_t i = 0; i < SONDE_HISTOGRAM_BUCKETS; i++) {
		to->buckets[i] += h->buckets[i];
		to->intervals += h->buckets[i]; /* not h->count: buckets and their number must agree */
	}
}

static void add_metric(struct live_series *to, const struct live_board *b, const struct sonde_metric *m, double tick_s)
{
	const struct sonde_histogram *h = live_board_histogram(b, m);
	double value = live_real(m->value);

	to->count += m->count;
	if (m->kind == SONDE_METRIC_COUNTER && isfinite(value))
		to->value = isnan(to->value) ? value : to->value + value;
	else if (m->kind != SONDE_METRIC_COUNTER && m->count && (m->ticks >= to->ticks || isnan(to->value)))
		to->value = value;
	if (m->ticks > to->ticks)
		to->ticks = m->ticks;
	if (h && m->kind == SONDE_METRIC_HISTOGRAM)
		add_histogram(to, h, 1);
	else if (h && m->kind == SONDE_METRIC_STEP && isfinite(tick_s))
		add_histogram(to, h, TICK_UNIT * tick_s);
}

static int add_board(struct live_scan *s, size_t max, struct live_board *b, const char *app_name, double tick_s,
		const struct live_process *p)
{
	size_t app;
	int rc = app_of(s, app_name, &app);

	if (rc < 0)
		return rc == -ENOSPC ? 0 : rc;
	s->apps[app].processes++;
	s->apps[app].cpu_seconds += p->cpu_seconds;
	s->apps[app].resident_bytes += p->resident_bytes;
	for (size_t i = 0; i < b->metric_count && rc == 0; i++) {
		const struct sonde_metric *m = live_board_metric(b, i);
		struct live_series *to = m ? series_of(s, max, app, m, &rc) : NULL;

		if (m)
			s->apps[app].rejected += m->rejected;
		if (to)
			add_metric(to, b, m, tick_s);
	}
	return rc;
}

static bool is_board(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && strcmp(name + digits, ".board") == 0;
}

/* What the ring directory says, else what the process is called. */
static void name_app(int dirfd, const struct live_process *p, char name[LIVE_NAME_BYTES])
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (fs_read_file(dirfd, LIVE_APP_FILE, LIVE_NAME_BYTES - 1, &text, NULL) == 0 && text.len)
		snprintf(name, LIVE_NAME_BYTES, "%s", text.data);
	else
		snprintf(name, LIVE_NAME_BYTES, "%s", p->name);
}

static int add_ring(struct live_scan *s, size_t max, int dirfd, struct live_board *b)
{
	double tick_s = tick_seconds(dirfd);
	int fd = dup(dirfd), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
		struct live_process p;
		char name[LIVE_NAME_BYTES];

		if (!is_board(d->d_name) || live_board_read(b, dirfd, d->d_name, NULL) < 0 ||
				live_process_read(&p, b->head.pid, b->head.start_mono_ns) < 0)
			continue;
		name_app(dirfd, &p, name);
		rc = add_board(s, max, b, name, tick_s, &p);
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* Ours, and nobody else can write there. */
static int open_ring(int place, const char *name)
{
	char prefix[32];
	struct stat st;
	int fd;

	snprintf(prefix, sizeof(prefix), "sonde-%u.", (unsigned)getuid());
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return -1;
	fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != getuid() || st.st_mode & 022)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int add_place(struct live_scan *s, size_t max, const char *place, struct live_board *b)
{
	DIR *dir = opendir(place);
	int rc = 0;

	for (struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
		CLEANUP(cleanup_fd) int fd = open_ring(dirfd(dir), d->d_name);

		if (fd >= 0)
			rc = add_ring(s, max, fd, b);
	}
	if (dir)
		closedir(dir);
	return rc;
}

int live_scan(struct live_scan *s, const struct live_options *options, struct sonde_err *err)
{
	static const char *const usual[] = { "/dev/shm", NULL };
	CLEANUP(cleanup_free) struct live_board *b = malloc(sizeof(*b));
	size_t max = options->series_max ? options->series_max : LIVE_SERIES_MAX;
	int rc = b ? 0 : -ENOMEM;

	*s = (struct live_scan){ .app_index = MAP_INIT, .series_index = MAP_INIT };
	for (const char *const *place = options->rings ? options->rings : usual; *place && rc == 0; place++)
		rc = add_place(s, max, *place, b);
	return rc < 0 ? err_sys(err, -rc, "cannot read the boards") : 0;
}

void live_scan_release(struct live_scan *s)
{
	free(s->apps);
	free(s->series);
	map_release(&s->app_index);
	map_release(&s->series_index);
}
