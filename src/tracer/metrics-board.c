#include "tracer/metrics-board.h"

#include "tracer/intern.h"

#include <fcntl.h>
#include <stdio.h>

#define RETRY_UPDATES 512u /* updates between attempts to create a board, after a failure */

_Static_assert((unsigned)SONDE_UPDATE_ADD == SONDE_METRIC_COUNTER && (unsigned)SONDE_UPDATE_SET == SONDE_METRIC_GAUGE &&
				(unsigned)SONDE_UPDATE_OBSERVE == SONDE_METRIC_HISTOGRAM &&
				(unsigned)SONDE_UPDATE_RATE == SONDE_METRIC_RATE,
		"an update names the metric's kind");
_Static_assert((unsigned)SONDE_TYPE_INT == SONDE_KNOB_INT && (unsigned)SONDE_TYPE_CHOICE == SONDE_KNOB_CHOICE,
		"one numbering");

static struct sonde_board *board_get(void)
{
	static uint32_t refusals;
	struct sonde_board *b = __atomic_load_n(&tracer.board, __ATOMIC_ACQUIRE);
	if (likely(b != NULL))
		return b;
	if (__atomic_load_n(&refusals, __ATOMIC_RELAXED) % RETRY_UPDATES == 0)
		b = ring_board();
	if (!b)
		__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
	return b;
}

/*
 * The epoch of the image with the current board; 0 if there is none. Unlike records, the board needs no room in the
 * ring.
 */
static uint32_t board_epoch(void)
{
	if (!(tracer.categories & SONDE_CAT_SPAN))
		return 0;
	if (unlikely(!tracer.alive->epoch))
		ring_attach(); /* a forked child */
	return tracer.alive->epoch;
}

/* The name of a call site, or NULL. */
static struct string *string_of(struct sonde_site *site, const char *name)
{
	uint32_t id = site && site->name ? site->name : intern(name, SIZE_MAX);
	if (site)
		site->name = id;
	return intern_string(id);
}

/* The slot stored with the name, or a new one; `max` if all are in use. */
static uint32_t slot_of(uint64_t *kept, uint32_t epoch, uint32_t *count, uint32_t max)
{
	uint64_t known = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
	if (known >> 32 == epoch)
		return (uint32_t)known - 1;
	if (__atomic_load_n(count, __ATOMIC_RELAXED) >= max)
		return max;
	uint32_t slot = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	uint64_t mine = (uint64_t)epoch << 32 | (slot + 1);
	if (slot >= max || __atomic_compare_exchange_n(kept, &known, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return slot;
	return (uint32_t)known - 1;
}

/*
 * A site's slot is valid for its epoch; for a step's site the epoch also covers the ring's names and is not set here.
 */
static void remember(struct sonde_site *site, uint32_t epoch, uint32_t slot, bool is_step)
{
	if (!site || (is_step && site->epoch != epoch))
		return;
	site->slot = slot + 1;
	__atomic_store_n(&site->epoch, epoch, __ATOMIC_RELEASE);
}

static bool is_remembered(const struct sonde_site *site, uint32_t epoch)
{
	return site && __atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE) == epoch && site->slot;
}

static void put_name(char *to, const char *text, size_t bytes, size_t room)
{
	to[cut_copy(to, text, bytes, room - 1)] = '\0';
}

/* Metrics. */

/* NULL if the board or a slot on it is not available. */
static struct sonde_metric *metric_of(struct sonde_site *site, const char *name, uint32_t kind, uint32_t epoch)
{
	struct sonde_board *b = board_get();
	if (b && is_remembered(site, epoch))
		return &b->metrics[site->slot - 1];
	struct string *s = b ? string_of(site, name) : NULL;
	if (!s)
		return NULL;
	uint64_t *kept = kind == SONDE_METRIC_STEP ? &s->step : &s->metric;
	uint32_t slot = slot_of(kept, epoch, &b->metric_count, SONDE_METRICS_MAX);
	if (slot >= SONDE_METRICS_MAX)
		return NULL;
	struct sonde_metric *m = &b->metrics[slot];
	if (!__atomic_load_n(&m->kind, __ATOMIC_ACQUIRE)) {
		/* Several threads may fill a new slot at once: with the same data. */
		uint64_t zero = 0, none = sonde_real_bits_(__builtin_nan(""));
		uint32_t no_histogram = 0;
		put_name(m->name, s->text, s->bytes, sizeof(m->name));
		if (kind == SONDE_METRIC_STEP)
			__atomic_compare_exchange_n(&m->value, &zero, none, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (kind != SONDE_METRIC_COUNTER && kind != SONDE_METRIC_GAUGE)
			__atomic_compare_exchange_n(&m->histogram, &no_histogram,
					1 + __atomic_fetch_add(&b->histogram_count, 1, __ATOMIC_RELAXED), false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED);
		__atomic_store_n(&m->kind, kind, __ATOMIC_RELEASE);
	}
	remember(site, epoch, slot, kind == SONDE_METRIC_STEP);
	return m;
}

static void add_real(uint64_t *at, double value)
{
	uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(at, &old, sonde_real_bits_(sonde_bits_real_(old) + value), true,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void keep_extreme(uint64_t *at, double value, bool is_high)
{
	uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
	uint64_t bits = sonde_real_bits_(value == 0 ? -0.0 : value);
	while (!old || (is_high ? value > sonde_bits_real_(old) : value < sonde_bits_real_(old)))
		if (__atomic_compare_exchange_n(at, &old, bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
}

static void observe(uint32_t histogram, double value)
{
	if (histogram - 1 >= SONDE_HISTOGRAMS_MAX)
		return;
	struct sonde_histogram *h = &tracer.board->histograms[histogram - 1];
	keep_extreme(&h->low, value, false);
	keep_extreme(&h->high, value, true);
	add_real(&h->sum, value);
	__atomic_fetch_add(&h->buckets[sonde_histogram_bucket(value)], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&h->count, 1, __ATOMIC_RELEASE);
}

void board_step(struct sonde_site *site, const char *name, uint64_t ticks, int64_t index, double value)
{
	uint32_t epoch = board_epoch();
	struct sonde_metric *m = epoch ? metric_of(site, name, SONDE_METRIC_STEP, epoch) : NULL;
	if (!m) {
		ring_drop();
		return;
	}
	uint64_t last = __atomic_exchange_n(&m->ticks, ticks, __ATOMIC_RELAXED);
	if (last && last < ticks)
		observe(m->histogram, (double)(ticks - last) * 0x1p-30);
	if (__builtin_isfinite(value))
		__atomic_store_n(&m->value, sonde_real_bits_(value), __ATOMIC_RELAXED);
	else if (!__builtin_isnan(value))
		__atomic_fetch_add(&m->rejected, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&m->index, index, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->count, 1, __ATOMIC_RELEASE);
}

/* Time and value of the first update, by whichever thread makes it. */
static void keep_first(struct sonde_metric *m, uint64_t ticks, double value)
{
	uint64_t none = 0;
	if (likely(__atomic_load_n(&m->first_ticks, __ATOMIC_RELAXED) != 0))
		return;
	if (__atomic_compare_exchange_n(&m->first_ticks, &none, ticks, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&m->first_value, sonde_real_bits_(value), __ATOMIC_RELAXED);
}

/* The first update in a new period stores the sum before it; see shm.h. */
static void keep_period(struct sonde_metric *m, uint64_t ticks)
{
	if (m->histogram - 1 >= SONDE_HISTOGRAMS_MAX)
		return;
	struct sonde_histogram *h = &tracer.board->histograms[m->histogram - 1];
	uint64_t period = ticks >> SONDE_RATE_SHIFT, newest = __atomic_load_n(&h->count, __ATOMIC_RELAXED);
	if (likely(period <= newest) ||
			!__atomic_compare_exchange_n(&h->count, &newest, period, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return;
	uint64_t *note = &h->buckets[2 * (period % SONDE_RATE_PERIODS)];
	__atomic_store_n(&note[0], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&note[1], __atomic_load_n(&m->value, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
	__atomic_store_n(&note[0], period, __ATOMIC_RELEASE);
}

static bool is_acceptable_update(const struct sonde_metric *m, uint32_t update, double value)
{
	return __builtin_isfinite(value) && m->kind == update && (update != SONDE_UPDATE_RATE || value >= 0);
}

void board_metric(struct sonde_site *site, const char *name, uint32_t update, double value)
{
	uint32_t epoch = board_epoch();
	struct sonde_metric *m = epoch ? metric_of(site, name, update, epoch) : NULL;
	if (!m) {
		ring_drop();
		return;
	}
	if (!is_acceptable_update(m, update, value)) {
		__atomic_fetch_add(&m->rejected, 1, __ATOMIC_RELAXED);
		return;
	}
	uint64_t ticks = tick();
	if (update == SONDE_UPDATE_OBSERVE) {
		observe(m->histogram, value);
	} else if (update == SONDE_UPDATE_SET) {
		__atomic_store_n(&m->value, sonde_real_bits_(value), __ATOMIC_RELAXED);
	} else {
		if (update == SONDE_UPDATE_RATE)
			keep_period(m, ticks);
		keep_first(m, ticks, value);
		add_real(&m->value, value);
	}
	__atomic_store_n(&m->ticks, ticks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->count, 1, __ATOMIC_RELEASE);
}

/* Knobs. */

static uint64_t choice_count(const char *choices)
{
	uint64_t n = 1;
	for (; choices && *choices; choices++)
		n += *choices == '|';
	return n;
}

/* The index of a choice in "fast|safe|exact"; an index past the end: not found. */
static uint64_t choice_of(const char *choices, const char *word)
{
	uint64_t at = 0;
	for (size_t n = strnlen(word, SONDE_NAME_BYTES); choices; at++, choices++) {
		if (!strncmp(choices, word, n) && (!choices[n] || choices[n] == '|'))
			return at;
		choices = strchr(choices, '|');
		if (!choices)
			break;
	}
	return UINT64_MAX;
}

/* A value from outside is accepted only within the bounds of this call. */
static bool is_acceptable(uint64_t wanted, const struct sonde_knob_spec *spec)
{
	if (spec->type == SONDE_KNOB_CHOICE)
		return wanted < choice_count(spec->choices);
	if (spec->type == SONDE_KNOB_INT)
		return (int64_t)wanted >= (int64_t)spec->low && (int64_t)wanted <= (int64_t)spec->high;
	double value = sonde_bits_real_(wanted);
	return __builtin_isfinite(value) && value >= sonde_bits_real_(spec->low) &&
			value <= sonde_bits_real_(spec->high);
}

/* From the file `knobs`, if it has an entry of this name: read once per knob, at its first use. */
static bool find_knob_init(const char *name, struct sonde_knob_init *knob_init)
{
	char path[PATH_BYTES_MAX + 32];
	bool is_found = false;
	snprintf(path, sizeof(path), "%s/knobs", tracer.ring_dir);
	int fd = tracer.is_seccomped ? -1 : sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	for (unsigned i = 0; i < SONDE_KNOBS_MAX && !is_found; i++) {
		if (sys3(SYS_read, fd, knob_init, sizeof(*knob_init)) != (long)sizeof(*knob_init))
			break;
		is_found = !strncmp(knob_init->name, name, sizeof(knob_init->name));
	}
	sys_close(fd);
	return is_found;
}

/* The initial value of a knob. */
static uint64_t first_value(struct sonde_knob *k, const struct sonde_knob_spec *spec)
{
	struct sonde_knob_init knob_init;
	uint64_t wanted;
	if (!find_knob_init(k->name, &knob_init))
		return spec->fallback;
	if (spec->type == SONDE_KNOB_CHOICE)
		wanted = choice_of(spec->choices, knob_init.choice);
	else
		wanted = spec->type == SONDE_KNOB_INT ? (uint64_t)knob_init.whole : sonde_real_bits_(knob_init.real);
	if (is_acceptable(wanted, spec) && (spec->type != SONDE_KNOB_INT || knob_init.whole != SONDE_NONE))
		return wanted;
	__atomic_fetch_add(&k->refused, 1, __ATOMIC_RELAXED);
	return spec->fallback;
}

static struct sonde_knob *knob_of(struct sonde_site *site, const char *name, const struct sonde_knob_spec *spec,
		uint32_t epoch)
{
	struct sonde_board *b = board_get();
	if (b && is_remembered(site, epoch))
		return &b->knobs[site->slot - 1];
	struct string *s = b ? string_of(site, name) : NULL;
	uint32_t slot = s ? slot_of(&s->knob, epoch, &b->knob_count, SONDE_KNOBS_MAX) : SONDE_KNOBS_MAX;
	if (slot >= SONDE_KNOBS_MAX)
		return NULL;
	if (!__atomic_load_n(&b->knobs[slot].kind, __ATOMIC_ACQUIRE)) {
		struct sonde_knob *k = &b->knobs[slot];
		put_name(k->name, s->text, s->bytes, sizeof(k->name));
		k->fallback = spec->fallback;
		k->value = first_value(k, spec);
		k->low = spec->low;
		k->high = spec->high;
		if (spec->type == SONDE_KNOB_CHOICE) {
			k->low = 0;
			k->high = choice_count(spec->choices) - 1;
			if (spec->choices)
				put_name(k->choices, spec->choices, strnlen(spec->choices, sizeof(k->choices)),
						sizeof(k->choices));
		}
		__atomic_store_n(&k->kind, spec->type, __ATOMIC_RELEASE);
	}
	remember(site, epoch, slot, false);
	return &b->knobs[slot];
}

uint64_t board_knob(struct sonde_site *site, const char *name, const struct sonde_knob_spec *spec)
{
	uint32_t epoch = board_epoch();
	struct sonde_knob *k = epoch ? knob_of(site, name, spec, epoch) : NULL;
	if (!k || __atomic_load_n(&k->kind, __ATOMIC_ACQUIRE) != spec->type)
		return spec->fallback;
	uint32_t generation = __atomic_load_n(&k->generation, __ATOMIC_ACQUIRE);
	if (unlikely(generation != k->seen)) {
		uint64_t wanted = __atomic_load_n(&k->wanted, __ATOMIC_RELAXED);
		if (is_acceptable(wanted, spec))
			__atomic_store_n(&k->value, wanted, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&k->refused, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&k->seen, generation, __ATOMIC_RELEASE);
	}
	uint64_t value = __atomic_load_n(&k->value, __ATOMIC_RELAXED);
	return is_acceptable(value, spec) ? value : spec->fallback;
}
