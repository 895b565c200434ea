/*
 * Conversion works on differences to the nearest pair, which are small enough for a double to hold exactly. Ticks may
 * come from untrusted memory, so results saturate instead of overflowing.
 */
#include "base/clock.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#define HAS_TSC 1
#else
#define HAS_TSC 0
#endif

enum { SAMPLE_TRIES = 5 };

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

#if HAS_TSC

static bool cpu_says_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* A clocksource file holds names separated by blanks. */
static bool lists_tsc(const char *text)
{
	const char *at = text;

	while ((at = strstr(at, "tsc"))) {
		if ((at == text || at[-1] == ' ') && strchr(" \n", at[3]))
			return true;
		at += 3;
	}
	return false;
}

/*
 * The kernel uses the TSC as its clock source, or offers it: virtual machines prefer the host's clock even if their
 * TSC is good. The kernel stops offering a TSC that drifts. Without sysfs, the CPUID flag decides.
 */
static bool inspect_ticks(void)
{
	static const char dir[] = "/sys/devices/system/clocksource/clocksource0";
	CLEANUP(cleanup_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (fd < 0 || fs_read_file(fd, "current_clocksource", 4096, &text, NULL) < 0)
		return cpu_says_invariant();
	if (lists_tsc(text.data))
		return true;
	buf_reset(&text);
	if (fs_read_file(fd, "available_clocksource", 4096, &text, NULL) < 0)
		return cpu_says_invariant();
	return lists_tsc(text.data) && cpu_says_invariant();
}

uint64_t clock_ticks(void)
{
	return __rdtsc();
}

#else

static bool inspect_ticks(void)
{
	return false;
}

uint64_t clock_ticks(void)
{
	return (uint64_t)clock_mono_ns();
}

#endif

static bool ticks_are_constant;

static void find_out(void)
{
	ticks_are_constant = inspect_ticks();
}

bool clock_ticks_are_constant(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_out);
	return ticks_are_constant;
}

int tick_line_add(struct tick_line *l, uint64_t ticks, int64_t mono_ns)
{
	if (l->count) {
		const struct tick_pair *last = &l->pairs[l->count - 1];

		if (ticks <= last->ticks || mono_ns <= last->mono_ns)
			return 0;
	}
	if (l->count == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 16;
		struct tick_pair *pairs = reallocarray(l->pairs, cap, sizeof(*pairs));

		if (!pairs)
			return -ENOMEM;
		l->pairs = pairs;
		l->cap = cap;
	}
	l->pairs[l->count++] = (struct tick_pair){ .ticks = ticks, .mono_ns = mono_ns };
	return 0;
}

/* One reading: the ticks lie between two readings of the clock. */
static int64_t read_pair(struct tick_pair *pair)
{
	int64_t before = clock_mono_ns();
	int64_t width;

	pair->ticks = clock_ticks();
	width = clock_mono_ns() - before;
	pair->mono_ns = before + width / 2;
	return width;
}

int tick_line_sample(struct tick_line *l)
{
	struct tick_pair best;
	int64_t width = read_pair(&best);

	for (int i = 1; i < SAMPLE_TRIES; i++) {
		struct tick_pair pair;
		int64_t w = read_pair(&pair);

		if (w < width) {
			width = w;
			best = pair;
		}
	}
	if ((double)width / 2 > l->error_ns)
		l->error_ns = (double)width / 2;
	return tick_line_add(l, best.ticks, best.mono_ns);
}

/* Returns the segment [i, i+1] that holds ticks, or the first or last one. */
static size_t find_piece(const struct tick_line *l, uint64_t ticks)
{
	size_t low = 0, high = l->count - 2;

	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (l->pairs[mid].ticks <= ticks)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* Events come nearly in order, so the segment of the last event usually holds the next. The last segment is
 * unbounded. */
static bool is_in_piece(const struct tick_line *l, uint64_t ticks)
{
	return l->count == l->hint_count && l->pairs[l->hint].ticks <= ticks &&
			(l->hint + 2 == l->count || ticks < l->pairs[l->hint + 1].ticks);
}

static void select_piece(struct tick_line *l, uint64_t ticks)
{
	const struct tick_pair *a;

	l->hint = find_piece(l, ticks);
	l->hint_count = l->count;
	a = &l->pairs[l->hint];
	l->slope = (double)((uint64_t)a[1].mono_ns - (uint64_t)a[0].mono_ns) / (double)(a[1].ticks - a[0].ticks);
}

int64_t tick_line_ns(struct tick_line *l, uint64_t ticks)
{
	const struct tick_pair *a;
	double from_a;

	if (l->count < 2)
		return ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks;
	if (!is_in_piece(l, ticks))
		select_piece(l, ticks);
	a = &l->pairs[l->hint];
	from_a = ticks < a->ticks ? -(double)(a->ticks - ticks) : (double)(ticks - a->ticks);
	double delta = from_a * l->slope;
	const double limit = 9223372036854775808.0; /* 2^63: from there the conversion to an integer is undefined */
	int64_t sum;

	delta += delta < 0 ? -0.5 : 0.5;
	if (delta <= -limit || delta >= limit || __builtin_add_overflow(a->mono_ns, (int64_t)delta, &sum))
		return delta < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

void tick_line_release(struct tick_line *l)
{
	free(l->pairs);
	*l = (struct tick_line)TICK_LINE_INIT;
}

/* The clock of another host. */

#define STRETCHES 32 /* intervals of time; the fastest ping of each counts */

struct knot {
	double t_ns, diff_ns; /* since the first ping; relative to the first difference */
	double half_ns;       /* of the round trip */
};

static int64_t trip(const struct clock_ping *p)
{
	return p->received_ns - p->sent_ns;
}

static size_t find_knots(const struct clock_ping *pings, size_t count, struct knot *knots, int64_t base_ns)
{
	const struct clock_ping *best[STRETCHES] = { 0 };
	int64_t first = pings[0].sent_ns, span = pings[count - 1].received_ns - first;
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct clock_ping *p = &pings[i];
		double part = span > 0 ? (double)(p->sent_ns - first) / (double)span : 0;
		size_t at = part <= 0 ? 0 : part >= 1 ? STRETCHES - 1 : (size_t)(part * STRETCHES);
		if (trip(p) >= 0 && (!best[at] || trip(p) < trip(best[at])))
			best[at] = p;
	}
	for (size_t i = 0; i < STRETCHES; i++) {
		if (!best[i])
			continue;
		int64_t middle = best[i]->sent_ns + trip(best[i]) / 2;
		knots[n++] = (struct knot){ .t_ns = (double)(middle - first),
			.diff_ns = (double)(best[i]->theirs_ns - middle - base_ns),
			.half_ns = (double)trip(best[i]) / 2 + 1 };
	}
	return n;
}

struct line {
	double t_ns, diff_ns, drift, bound_ns;
};

/* Weighted least squares; faster pings weigh more. Without has_drift, the slope is 0. */
static struct line lay(const struct knot *knots, size_t n, int has_drift)
{
	double w = 0, t = 0, d = 0, tt = 0, td = 0;
	for (size_t i = 0; i < n; i++) {
		double weight = 1 / (knots[i].half_ns * knots[i].half_ns);
		w += weight;
		t += weight * knots[i].t_ns;
		d += weight * knots[i].diff_ns;
	}
	struct line l = { .t_ns = t / w, .diff_ns = d / w };
	for (size_t i = 0; i < n; i++) {
		double weight = 1 / (knots[i].half_ns * knots[i].half_ns), x = knots[i].t_ns - l.t_ns;
		tt += weight * x * x;
		td += weight * x * (knots[i].diff_ns - l.diff_ns);
	}
	l.drift = has_drift && tt > 0 ? td / tt : 0;
	for (size_t i = 0; i < n; i++) {
		double off = knots[i].diff_ns - (l.diff_ns + l.drift * (knots[i].t_ns - l.t_ns));
		double reach = (off < 0 ? -off : off) + knots[i].half_ns;
		l.bound_ns = reach > l.bound_ns ? reach : l.bound_ns;
	}
	return l;
}

int clock_fit(const struct clock_ping *pings, size_t count, struct clock_fit *out)
{
	struct knot knots[STRETCHES];
	int64_t base_ns = count ? pings[0].theirs_ns - pings[0].sent_ns : 0;
	size_t n = count ? find_knots(pings, count, knots, base_ns) : 0;
	if (!n)
		return -EINVAL;
	struct line still = lay(knots, n, 0), moving = lay(knots, n, 1);
	const struct line *l = moving.bound_ns < still.bound_ns ? &moving : &still;
	*out = (struct clock_fit){ .at_ns = pings[0].sent_ns + (int64_t)l->t_ns,
		.offset_ns = base_ns + (int64_t)l->diff_ns,
		.drift = l->drift,
		.bound_ns = (int64_t)l->bound_ns + 1,
		.trip_ns = INT64_MAX,
		.pings = count };
	for (size_t i = 0; i < count; i++)
		if (trip(&pings[i]) >= 0 && trip(&pings[i]) < out->trip_ns)
			out->trip_ns = trip(&pings[i]);
	return 0;
}

int64_t clock_fit_ours(const struct clock_fit *f, int64_t theirs_ns)
{
	double since = (double)(theirs_ns - f->offset_ns - f->at_ns);
	return f->at_ns + (theirs_ns - f->offset_ns - f->at_ns) - (int64_t)(since * f->drift / (1 + f->drift));
}
