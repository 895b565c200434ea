#include "duet/ticks.h"

#include <math.h>
#include <stdio.h>

/* Tick distances in ascending order, from the largest power of ten that is certainly too close. */
static double step_of(int power, int i)
{
	static const double steps[] = { 1, 2, 5 };
	int tens = i / 3;

	return steps[i % 3] * pow(10, power + tens);
}

static double count_of(double lo, double hi, double step)
{
	return floor(hi / step) - ceil(lo / step) + 1;
}

struct duet_ticks duet_ticks_for(double lo, double hi, size_t most)
{
	struct duet_ticks t = { 0 };
	int power, i = 0;

	if (!(hi > lo) || !isfinite(hi - lo) || !most)
		return t;
	power = (int)floor(log10((hi - lo) / (double)most)) - 1;
	while (count_of(lo, hi, step_of(power, i)) > (double)most)
		i++;
	t.step = step_of(power, i);
	t.first = ceil(lo / t.step);
	t.count = (size_t)fmax(0, count_of(lo, hi, t.step));
	t.digits = power + i / 3 < 0 ? -(power + i / 3) : 0;
	return t;
}

double duet_tick(const struct duet_ticks *t, size_t i)
{
	return (t->first + (double)i) * t->step;
}

void duet_tick_label(const struct duet_ticks *t, size_t i, char *out, size_t size)
{
	double value = duet_tick(t, i);

	if (value == 0)
		snprintf(out, size, "0 %%");
	else
		snprintf(out, size, "%+.*f %%", t->digits, value);
}
