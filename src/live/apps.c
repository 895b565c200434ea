#include "live/apps.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PER_SECOND "_per_second"
#define TICK_UNIT 1073741824.0 /* the unit of a step's histogram is 2^30 ticks */

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
	at = VEC_GROW(s->apps, s->app_cap, s->app_count + 1, VEC_MAX) ? map_put(&s->app_index, name, strlen(name), NULL)
								      : NULL;
	if (!at)
		return -ENOMEM;
	*index = *at = s->app_count++;
	s->apps[*index] = (struct live_app){ .processes = 0 };
	snprintf(s->apps[*index].name, sizeof(s->apps[*index].name), "%s", name);
	return 0;
}

/* NULL with *rc: -ENOMEM, or 0 if the series limit is reached. */
static struct live_series *series_of(struct live_scan *s, size_t max, size_t app, const struct sonde_metric *m, int *rc)
{
	struct {
		uint32_t app, kind;
		char name[SONDE_NAME_BYTES];
	} key = { (uint32_t)app, m->kind, "" };
	size_t n = strlen(m->name), bytes = offsetof(__typeof__(key), name) + n;
	uint64_t *at;

	memcpy(key.name, m->name, n);
	at = map_get(&s->series_index, &key, bytes);
	*rc = 0;
	if (at)
		return &s->series[*at];
	if (s->series_count >= max) {
		s->dropped++;
		return NULL;
	}
	at = VEC_GROW(s->series, s->series_cap, s->series_count + 1, VEC_MAX)
			? map_put(&s->series_index, &key, bytes, NULL)
			: NULL;
	if (!at) {
		*rc = -ENOMEM;
		return NULL;
	}
	*at = s->series_count;
	s->series[*at] = (struct live_series){ .app = app, .kind = m->kind, .value = NAN };
	memcpy(s->series[*at].name, m->name, n + 1);
	return &s->series[s->series_count++];
}

static int add_histogram(struct live_scan *s, struct live_series *to, const struct sonde_histogram *h, pid_t pid)
{
	double sum = live_real(h->sum), greatest = live_real(h->high);
	struct live_histogram *all;

	if (!isfinite(sum))
		return 0;
	if (!to->histogram) {
		if (!VEC_GROW(s->histograms, s->histogram_cap, s->histogram_count + 1, VEC_MAX))
			return -ENOMEM;
		s->histograms[s->histogram_count] = (struct live_histogram){ .greatest = NAN };
		to->histogram = ++s->histogram_count;
	}
	all = &s->histograms[to->histogram - 1];
	all->sum += sum;
	for (size_t i = 0; i < SONDE_HISTOGRAM_BUCKETS; i++) {
		all->buckets[i] += h->buckets[i];
		all->count += h->buckets[i]; /* not h->count, which may differ from the sum */
	}
	if (h->high && isfinite(greatest) && !(all->greatest >= greatest)) {
		all->greatest = greatest;
		all->greatest_pid = pid;
	}
	return 0;
}

static int add_metric(struct live_scan *s, struct live_series *to, const struct live_board *b,
		const struct sonde_metric *m, double tick_s, pid_t pid)
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
		return add_histogram(s, to, h, pid);
	if (h && m->kind == SONDE_METRIC_STEP) {
		double sum = live_real(h->sum) * TICK_UNIT * tick_s;

		/* Sum and number of the intervals between steps do not depend on the buckets' bounds. */
		if (isfinite(sum)) {
			to->sum += sum;
			to->intervals += h->count;
		}
	}
	return 0;
}

/* Like series_of, with a suffix appended to the name. */
static struct live_series *series_like(struct live_scan *s, size_t max, size_t app, uint32_t kind, const char *name,
		size_t name_bytes, const char *suffix, int *rc)
{
	const size_t room = SONDE_NAME_BYTES - 1 - strlen(suffix);
	struct sonde_metric m = { .kind = kind };

	snprintf(m.name, sizeof(m.name), "%.*s%s", (int)(name_bytes < room ? name_bytes : room), name, suffix);
	return series_of(s, max, app, &m, rc);
}

/* A rate is a counter and a gauge of its increase per second; both are summed over processes. */
static int add_rate(struct live_scan *s, size_t max, size_t app, const struct live_board *b,
		const struct sonde_metric *m, const struct live_clock *c)
{
	const struct sonde_histogram *h = live_board_histogram(b, m);
	double total = live_real(m->value), rate = live_current_rate(m, h, c, live_clock_ticks(c));
	size_t n = strlen(m->name), ending = strlen(PER_SECOND);
	struct live_series *to;
	int rc;

	if (n > ending && strcmp(m->name + n - ending, PER_SECOND) == 0)
		n -= ending;
	to = series_like(s, max, app, SONDE_METRIC_COUNTER, m->name, n, "", &rc);
	if (to && isfinite(total))
		to->value = isnan(to->value) ? total : to->value + total;
	if (rc < 0 || isnan(rate))
		return rc;
	to = series_like(s, max, app, SONDE_METRIC_RATE, m->name, n, PER_SECOND, &rc);
	if (to)
		to->value = isnan(to->value) ? rate : to->value + rate;
	return rc;
}

static int add_board(struct live_scan *s, unsigned parts, size_t max, struct live_board *b, struct live_entry *e,
		const struct live_clock *c, const struct live_process *p)
{
	size_t app;
	int rc = app_of(s, e->app, &app);

	if (rc < 0)
		return rc == -ENOSPC ? 0 : rc;
	if (!s->apps[app].processes++)
		s->apps[app].first = e;
	s->apps[app].cpu_seconds += p->cpu_seconds;
	s->apps[app].resident_bytes += p->resident_bytes;
	for (size_t i = 0; i < b->metric_count && rc == 0; i++) {
		const struct sonde_metric *m = live_board_metric(b, i);
		struct live_series *to;

		if (!m)
			continue;
		s->apps[app].rejected += m->rejected;
		if (!(parts & (m->kind == SONDE_METRIC_STEP ? LIVE_STEPS : LIVE_METRICS)))
			continue;
		if (m->kind == SONDE_METRIC_RATE) {
			rc = add_rate(s, max, app, b, m, c);
			continue;
		}
		to = series_of(s, max, app, m, &rc);
		if (to)
			rc = add_metric(s, to, b, m, c->tick_s, e->pid);
	}
	return rc;
}

int live_scan(struct live_scan *s, struct live_watch *w, unsigned parts, size_t series_max, int64_t age_ns,
		struct sonde_err *err)
{
	CLEANUP(cleanup_free) struct live_board *b = malloc(sizeof(*b));
	size_t max = series_max ? series_max : LIVE_SERIES_MAX;
	int rc = b ? 0 : -ENOMEM;

	*s = (struct live_scan){ .app_index = MAP_INIT, .series_index = MAP_INIT };
	for (size_t i = 0; i < w->ring_count && rc == 0; i++)
		for (size_t k = 0; k < w->rings[i].entry_count && rc == 0; k++) {
			struct live_entry *e = &w->rings[i].entries[k];
			const struct live_process *p;

			if (live_watch_read(e, age_ns, parts & LIVE_DISTRIBUTIONS, b, &p) == 0)
				rc = add_board(s, parts, max, b, e, &w->rings[i].clock, p);
		}
	return rc < 0 ? err_sys(err, -rc, "cannot read the boards") : 0;
}

int live_scan_gauge(struct live_scan *s, size_t series_max, const char *app, const char *name, double value)
{
	struct sonde_metric m = { .kind = SONDE_METRIC_GAUGE };
	struct live_series *to;
	size_t index;
	int rc = app_of(s, app, &index);

	if (rc < 0)
		return rc == -ENOSPC ? 0 : rc;
	snprintf(m.name, sizeof(m.name), "%s", name);
	to = series_of(s, series_max ? series_max : LIVE_SERIES_MAX, index, &m, &rc);
	if (to)
		to->value = value;
	return rc;
}

int live_scan_rejected(struct live_scan *s, const char *app, uint64_t count)
{
	size_t index;
	int rc = app_of(s, app, &index);

	if (rc == 0)
		s->apps[index].rejected += count;
	return rc == -ENOSPC ? 0 : rc;
}

void live_scan_release(struct live_scan *s)
{
	free(s->apps);
	free(s->series);
	free(s->histograms);
	map_release(&s->app_index);
	map_release(&s->series_index);
}
