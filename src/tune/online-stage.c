#include "tune/online-stage.h"

#include <math.h>

enum { BATCHES = 8 };

static const char *const reason_words[] = {
	[TRAIN_START] = "start",
	[TRAIN_EXPLORE] = "explore",
	[TRAIN_TRY] = "try",
	[TRAIN_BEST] = "best",
	[TRAIN_HAND] = "hand",
};

const char *train_reason_word(enum train_reason reason)
{
	return reason_words[reason];
}

void online_stage_report(struct online_stage *s, double time_s)
{
	if (!s->count)
		s->first_s = time_s;
	else if (s->count >= TRAIN_SKIPPED && (s->gap_count || s->last_s - s->first_s >= TRAIN_SETTLE_S)) {
		s->gaps[s->gap_count++ % TRAIN_GAPS] = time_s - s->last_s;
		s->measured_s += time_s - s->last_s;
	}
	s->last_s = time_s;
	s->count++;
}

/* The latest gaps, oldest first. */
static size_t latest(const struct online_stage *s, double *out)
{
	size_t n = s->gap_count < TRAIN_GAPS ? s->gap_count : TRAIN_GAPS;

	for (size_t i = 0; i < n; i++)
		out[i] = s->gaps[(s->gap_count - n + i) % TRAIN_GAPS];
	return n;
}

struct stats_interval online_stage_rate(const struct online_stage *s)
{
	double gaps[TRAIN_GAPS], means[BATCHES] = { 0 };
	size_t n = latest(s, gaps), size = n / BATCHES;
	struct stats_interval rate;

	if (n < 2)
		return stats_interval_open(NAN, n, 0.95, "means of batches");
	if (size < 2)
		return stats_mean_interval(gaps, n, 0.95);
	for (size_t i = 0; i < size * BATCHES; i++)
		means[i / size] += gaps[n - size * BATCHES + i] / (double)size;
	rate = stats_mean_interval(means, BATCHES, 0.95);
	rate.method = "means of batches";
	return rate;
}

struct train_wait online_stage_wait(const struct online_stage *s, double now_s, double grace_s, size_t workers)
{
	double since = s->count ? s->first_s : s->asked_s + grace_s;

	return (struct train_wait){ .seconds = fmax(0, now_s - since),
		.reports = (double)((s->count ? s->count - 1 : s->meanwhile) + (workers ? workers : 1)) };
}

double train_wait_evidence(const struct train_wait *w, double pace_s)
{
	double times = w->seconds / (w->reports * pace_s);

	return times > 1 ? w->reports * (times - 1 - log(times)) : 0;
}
