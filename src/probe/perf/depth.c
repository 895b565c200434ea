#include "probe/perf/depth.h"

#define STEP 4        /* ratio of adjacent sizes */
#define BYTES_MIN 512 /* smaller ones are not cheaper */
#define MANY_HZ 500   /* samples per second: below that the copies do not matter */
#define TRIAL 128     /* samples before a smaller size is first tried */
#define TRIAL_MAX (1u << 20)

/* Enough for deep stacks, less at very high sampling frequencies. */
static uint32_t largest(unsigned freq_hz)
{
	return freq_hz <= MANY_HZ ? 32768 : freq_hz <= 2000 ? 16384 : freq_hz <= 8000 ? 4096 : 2048;
}

void depth_init(struct depth *d, unsigned freq_hz, bool is_fixed)
{
	*d = (struct depth){ .bytes = { largest(freq_hz) }, .count = 1, .trial = TRIAL };
	if (is_fixed || freq_hz <= MANY_HZ)
		return;
	for (; d->count < DEPTH_SIZES_MAX && d->bytes[d->count - 1] / STEP >= BYTES_MIN; d->count++)
		d->bytes[d->count] = d->bytes[d->count - 1] / STEP;
}

static bool is_on(const struct depth *d, size_t room)
{
	return room <= d->bytes[d->on] && (d->on + 1 == d->count || room > d->bytes[d->on + 1]);
}

static void begin(struct depth *d, unsigned on)
{
	d->on = on;
	d->seen = 0;
	d->deepest = 0;
}

bool depth_note(struct depth *d, size_t room, uint64_t needed, bool is_short)
{
	if (d->count < 2 || !is_on(d, room))
		return false;
	if (is_short && d->on) {
		d->trial = d->trial < TRIAL_MAX ? d->trial * STEP : TRIAL_MAX;
		begin(d, 0);
		return true;
	}
	needed = is_short ? UINT64_MAX : needed;
	d->deepest = needed > d->deepest ? needed : d->deepest;
	if (++d->seen < d->trial)
		return false;
	unsigned before = d->on, fits = before;
	while (fits + 1 < d->count && d->deepest <= d->bytes[fits + 1])
		fits++;
	begin(d, fits);
	return fits != before;
}
