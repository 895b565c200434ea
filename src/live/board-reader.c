#include "live/board-reader.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static int read_all(int fd, off_t at, void *to, size_t n)
{
	char *into = to;

	while (n) {
		ssize_t got = pread(fd, into, n, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EBADMSG;
		into += got;
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

int live_board_head(int fd, struct sonde_segment *head)
{
	int rc = read_all(fd, 0, head, sizeof(*head));

	if (rc == 0 &&
			(head->magic != SONDE_SEGMENT_MAGIC || head->version != SONDE_SHM_VERSION ||
					head->kind != SONDE_SEGMENT_BOARD))
		rc = -EBADMSG;
	return rc;
}

/* Reads only allocated slots: a board is large and mostly empty. */
int live_board_poll(struct live_board *b, int fd, size_t expected, bool has_histograms)
{
	const off_t at = SONDE_SEGMENT_HEAD_BYTES;
	const size_t first = expected < SONDE_METRICS_MAX ? expected : SONDE_METRICS_MAX;
	const size_t guess = offsetof(struct sonde_board, metrics) + first * sizeof(struct sonde_metric);
	struct sonde_board *to = &b->board;
	int rc = read_all(fd, at, to, guess);

	if (rc < 0)
		return rc;
	b->metric_count = to->metric_count < SONDE_METRICS_MAX ? to->metric_count : SONDE_METRICS_MAX;
	b->histogram_count = to->histogram_count < SONDE_HISTOGRAMS_MAX ? to->histogram_count : SONDE_HISTOGRAMS_MAX;
	if (!has_histograms)
		b->histogram_count = 0;
	if (b->metric_count > first)
		rc = read_all(fd, at + (off_t)guess, &to->metrics[first],
				(b->metric_count - first) * sizeof(*to->metrics));
	return rc < 0 ? rc
		      : read_all(fd, at + (off_t)offsetof(struct sonde_board, histograms), to->histograms,
					b->histogram_count * sizeof(*to->histograms));
}

int live_board_read(struct live_board *b, int dirfd, const char *name, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return err_sys(err, errno, "cannot open the board '%s'", name);
	rc = live_board_head(fd, &b->head);
	if (rc == 0)
		rc = live_board_poll(b, fd, 0, true);
	if (rc < 0)
		return err_sys(err, -rc, "cannot read the board '%s'", name);
	return 0;
}

const struct sonde_metric *live_board_metric(struct live_board *b, size_t i)
{
	struct sonde_metric *m = &b->board.metrics[i];

	if (i >= b->metric_count || m->kind == SONDE_METRIC_NONE || m->kind >= SONDE_METRIC_KINDS)
		return NULL;
	m->name[sizeof(m->name) - 1] = '\0';
	return m->name[0] ? m : NULL;
}

const struct sonde_histogram *live_board_histogram(const struct live_board *b, const struct sonde_metric *m)
{
	return m->histogram >= 1 && m->histogram <= b->histogram_count ? &b->board.histograms[m->histogram - 1] : NULL;
}

double live_real(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void live_clock_read(struct live_clock *c, int dirfd)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, "control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct sonde_control control;

	*c = (struct live_clock){ .tick_s = NAN };
	if (fd < 0 || pread(fd, &control, sizeof(control), 0) != (ssize_t)sizeof(control) ||
			control.magic != SONDE_CONTROL_MAGIC)
		return;
	c->is_monotonic = control.clock == SONDE_CLOCK_MONOTONIC;
	c->start_ticks = control.start_ticks;
	c->start_mono_ns = control.start_mono_ns;
	c->tick_s = 1e-9;
}

void live_clock_set(struct live_clock *c)
{
	uint64_t ticks = clock_ticks() - c->start_ticks;

	if (!isnan(c->tick_s) && !c->is_monotonic && ticks)
		c->tick_s = (double)(clock_mono_ns() - c->start_mono_ns) / 1e9 / (double)ticks;
}

uint64_t live_clock_ticks(const struct live_clock *c)
{
	return c->is_monotonic ? (uint64_t)clock_mono_ns() : clock_ticks();
}

static double seconds_of(const struct live_clock *c, uint64_t ticks)
{
	return (double)c->start_mono_ns / 1e9 + (double)(int64_t)(ticks - c->start_ticks) * c->tick_s;
}

/* The sum at the start of period `from`; the current sum if there were no updates since. */
static double sum_before(const struct sonde_histogram *h, uint64_t from, uint64_t to, double now)
{
	uint64_t earliest = UINT64_MAX;
	double sum = now;

	for (uint64_t i = 0; i < SONDE_RATE_PERIODS; i++) {
		uint64_t period = h->buckets[2 * i];

		if (period % SONDE_RATE_PERIODS == i && period >= from && period <= to && period < earliest) {
			earliest = period;
			sum = live_real(h->buckets[2 * i + 1]);
		}
	}
	return sum;
}

static uint64_t window_periods(double tick_s)
{
	double n = LIVE_RATE_SECONDS / tick_s / (double)(1ull << SONDE_RATE_SHIFT);
	const uint64_t most = SONDE_RATE_PERIODS - 2;

	return n > (double)most ? most : n < 1 ? 1 : (uint64_t)n;
}

/* The first update starts the interval and is not counted: n events have n - 1 intervals between them. */
double live_current_rate(const struct sonde_metric *m, const struct sonde_histogram *h, const struct live_clock *c,
		uint64_t now_ticks)
{
	double now = live_real(m->value), before = live_real(m->first_value), passed_s;
	uint64_t to = now_ticks >> SONDE_RATE_SHIFT, from, begin = m->first_ticks;

	if (!h || !begin || !(c->tick_s > 0) || begin >= now_ticks)
		return NAN;
	from = to - window_periods(c->tick_s);
	if (from <= to && from << SONDE_RATE_SHIFT > begin) {
		begin = from << SONDE_RATE_SHIFT;
		before = sum_before(h, from, to, now);
	}
	if ((now_ticks - begin) >> SONDE_RATE_SHIFT == 0)
		return NAN;
	passed_s = (double)(now_ticks - begin) * c->tick_s;
	if (!isfinite(now) || !isfinite(before))
		return NAN;
	return now > before ? (now - before) / passed_s : 0; /* the periods are read slightly later than the sum */
}

void live_rate_add(struct live_rate *p, const struct sonde_metric *m, const struct live_clock *c)
{
	double total = live_real(m->value), first_s = seconds_of(c, m->first_ticks), last_s = seconds_of(c, m->ticks);

	if (!m->first_ticks || !isfinite(total) || !isfinite(first_s) || !isfinite(last_s))
		return;
	p->total += total;
	if (!p->has_any || first_s < p->first_s) {
		p->first_s = first_s;
		p->first_value = live_real(m->first_value);
	}
	if (!p->has_any || last_s > p->last_s)
		p->last_s = last_s;
	p->has_any = true;
}

void live_rate_mark(struct live_rate *p, const struct sonde_metric *m, const struct live_clock *c, double now_s)
{
	double total = live_real(m->value);

	if (!m->first_ticks || !isfinite(total) || isnan(c->tick_s))
		return;
	p->marked_total = (p->is_marked ? p->marked_total : p->total) + total;
	p->marked_s = now_s;
	p->is_marked = true;
}

double live_rate_per_second(const struct live_rate *p)
{
	double from_s = p->is_marked ? p->marked_s : p->first_s;
	double before = p->is_marked ? p->marked_total : p->first_value;

	if (!p->has_any)
		return NAN;
	if (p->is_marked && p->last_s <= from_s)
		return 0;
	return p->last_s > from_s ? (p->total - before) / (p->last_s - from_s) : NAN;
}
