#include "fake.h"

#include <errno.h>
#include <math.h>

void fake_init(struct fake *f, double factor_b, double noise)
{
	*f = (struct fake){ .base_ns = 1e7, .factor_b = factor_b, .second_slower = 1, .busy = 1, .clock_ns = 1000 };
	for (size_t d = 0; d < DUET_DESIGNS; d++)
		f->noise[d] = noise;
	stats_rng_init(&f->rng, 7, 7);
}

static double duration(struct fake *f, const struct duet_task *task, enum duet_side side, bool is_second)
{
	double factor = side == DUET_B && !task->is_aa ? f->factor_b : 1;

	if (f->far_off > 0 && stats_rng_uniform(&f->rng) < f->far_off)
		factor *= 10;
	return f->base_ns * f->busy * factor * (is_second ? f->second_slower : 1) *
			exp(f->noise[task->design] * stats_rng_normal(&f->rng));
}

static int add(const struct fake *f, struct duet_samples *s, int64_t start, double ns)
{
	struct duet_iteration it = duet_iteration_at(start, start + (int64_t)ns);

	it.metrics[DUET_CPU] = ns / f->busy;
	return duet_samples_add(s, &it);
}

static int in_turn(struct fake *f, const struct duet_task *task, struct duet_run *run)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * task->turn_count && !rc; i++) {
		enum duet_side side = (i % 2 == 0) == task->turns[i / 2].is_first_b ? DUET_B : DUET_A;
		double ns = duration(f, task, side, i % 2 == 1);

		if (f->has_last && f->left_by[f->last] > 0)
			ns *= f->left_by[f->last];
		if (f->has_last && f->last == side && f->own_quicker > 0)
			ns *= f->own_quicker;
		if (f->drift > 0)
			f->base_ns *= exp(f->drift * stats_rng_normal(&f->rng));
		f->has_last = true;
		f->last = task->is_aa ? DUET_A : side;
		rc = add(f, &run->sides[side], f->clock_ns, ns);
		f->clock_ns += (int64_t)ns;
	}
	return rc;
}

static int at_once(struct fake *f, const struct duet_task *task, struct duet_run *run)
{
	int64_t end[DUET_SIDES] = { f->clock_ns, f->clock_ns };
	int rc = 0;

	for (size_t i = 0; i < task->turn_count && !rc; i++) {
		const struct duet_turn *turn = &task->turns[task->design == DUET_ASYNC ? 0 : i];

		for (int side = 0; side < DUET_SIDES && !rc; side++) {
			double ns = duration(f, task, (enum duet_side)side, turn->is_swapped == (side == DUET_A));

			rc = add(f, &run->sides[side], end[side], ns);
			end[side] += (int64_t)ns;
		}
		if (task->design == DUET_SYNC)
			end[0] = end[1] = end[0] > end[1] ? end[0] : end[1];
	}
	f->clock_ns = end[0] > end[1] ? end[0] : end[1];
	return rc;
}

static int run(void *self, const struct duet_task *task, struct duet_run *out, struct sonde_err *err)
{
	struct fake *f = self;
	bool is_in_turn = task->design == DUET_SEQ || task->design == DUET_RMIT;
	int rc;

	f->runs++;
	f->aa_runs += task->is_aa;
	f->tried[task->design]++;
	f->turns += task->turn_count;
	for (size_t i = 0; i < task->turn_count; i++) {
		f->first_b += task->turns[i].is_first_b;
		f->swapped += task->turns[i].is_swapped;
	}
	out->start_ns = f->clock_ns;
	rc = is_in_turn ? in_turn(f, task, out) : at_once(f, task, out);
	out->end_ns = f->clock_ns;
	if (f->fails_at_once && !is_in_turn)
		return err_set(err, ECHILD, "the port is in use");
	if (f->fail_at && f->runs == f->fail_at)
		return err_set(err, -f->failure, "made to fail");
	return rc;
}

static int64_t now_ns(void *self)
{
	return ((struct fake *)self)->clock_ns;
}

struct duet_runner fake_runner(struct fake *f)
{
	return (struct duet_runner){ .self = f, .now_ns = now_ns, .run = run };
}
