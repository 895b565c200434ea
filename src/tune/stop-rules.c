#include "tune/stop-rules.h"

#include <math.h>
#include <string.h>

enum { WINDOW_MIN = 5 };

void train_finish_init(struct train_finish *f, enum train_finish_rule rule, double target, size_t window)
{
	memset(f, 0, sizeof(*f));
	f->rule = rule;
	f->target = target;
	f->window = window < TRAIN_WINDOW_MAX ? window : TRAIN_WINDOW_MAX;
}

void train_finish_take(struct train_finish *f, unsigned worker, double loss)
{
	f->recent[f->reports++ % TRAIN_WINDOW_MAX] = loss;
	f->since_change++;
	if (worker >= TRAIN_WORKERS_MAX)
		return;
	f->here += !f->workers[worker].is_here;
	f->workers[worker].is_here = true;
	f->workers[worker].last = loss;
	f->workers[worker].has_reached |= loss <= f->target;
}

void train_finish_change(struct train_finish *f)
{
	f->since_change = f->here = 0;
	for (size_t i = 0; i < TRAIN_WORKERS_MAX; i++)
		f->workers[i].is_here = false;
}

size_t train_finish_workers(const struct train_finish *f)
{
	return f->here;
}

static bool average(const struct train_finish *f)
{
	size_t workers = train_finish_workers(f);
	size_t window = f->window ? f->window : workers > WINDOW_MIN ? workers : WINDOW_MIN;
	double sum = 0;

	if (f->reports < window)
		return false;
	for (size_t i = f->reports - window; i < f->reports; i++)
		sum += f->recent[i % TRAIN_WINDOW_MAX];
	return sum / (double)window <= f->target; /* false if one is NaN */
}

/* The fraction of workers for which it holds; 0 until there were two reports per worker since the change. */
static double part(const struct train_finish *f,
		bool (*is_so)(const struct train_finish *, const struct train_worker *))
{
	size_t workers = train_finish_workers(f), so = 0;

	if (!workers || f->since_change < 2 * workers)
		return 0;
	for (size_t i = 0; i < TRAIN_WORKERS_MAX; i++)
		so += f->workers[i].is_here && is_so(f, &f->workers[i]);
	return (double)so / (double)workers;
}

static bool is_there(const struct train_finish *f, const struct train_worker *w)
{
	return w->last <= f->target;
}

static bool was_there(const struct train_finish *f, const struct train_worker *w)
{
	return w->has_reached;
}

static bool all(const struct train_finish *f)
{
	return part(f, is_there) >= 1;
}

static bool once(const struct train_finish *f)
{
	return part(f, was_there) >= 1;
}

static bool most(const struct train_finish *f)
{
	return part(f, was_there) >= 0.9;
}

static const struct {
	const char *name;
	bool (*is_reached)(const struct train_finish *f);
} rules[] = {
	[TRAIN_FINISH_AVERAGE] = { "average", average },
	[TRAIN_FINISH_ALL] = { "all", all },
	[TRAIN_FINISH_ONCE] = { "once", once },
	[TRAIN_FINISH_MOST] = { "most", most },
};

int train_finish_find(const char *name)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(rules[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool train_finish_is_reached(const struct train_finish *f)
{
	return !isnan(f->target) && rules[f->rule].is_reached(f);
}
