/*
 * sonde.h: annotate a program once; record, compare, tune and monitor it with sonde.
 *
 * 	#include <sonde/sonde.h>
 *
 * 	void train(int epochs)
 * 	{
 * 		SONDE_SPAN("train");                          // ends with the block
 * 		for (int i = 0; i < epochs; i++)
 * 			sonde_step("epoch", i, one_epoch());  // progress, rate, objective
 * 	}
 *
 * Linking and initialisation are not needed. Under `sonde record`, libsonde is preloaded and is found at the first
 * annotation; otherwise an annotation costs two loads and a branch. Names, categories and keys may be any strings;
 * literals are looked up once per call site. Arguments are evaluated even if nothing is recorded.
 *
 * All functions may be called by any thread, in signal handlers (if an annotation or sonde_is_on() was executed before
 * the first signal) and after fork. They never fail, allocate, print or change errno; annotations that do not fit are
 * dropped and counted. sonde(3) has the complete contract.
 *
 * C99 or later, C++11 or later; GCC or Clang on Linux. Names ending in an underscore are private to this header.
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for the arguments of one span: 16 bytes each, and the text of strings. */
#define SONDE_ARG_BYTES 512

/* libsonde's cache for a call site or a name. Initially zero. */
struct sonde_site {
	uint32_t epoch, name, category, slot;
};

/* A span or instant that has started and not ended. */
struct sonde_note {
	uint64_t ticks; /* 0: not recorded */
	uint32_t name, category, epoch, depth;
	uint16_t arg_count, arg_lost;
	uint32_t arg_bytes, arg_bytes_max;
	uint32_t reserved;
	/* followed by arg_bytes_max bytes of arguments */
};

struct sonde_span {
	struct sonde_note note;
	uint64_t room[SONDE_ARG_BYTES / 8];
};

enum sonde_value_type { SONDE_VALUE_INT = 1, SONDE_VALUE_UINT, SONDE_VALUE_REAL, SONDE_VALUE_STR };
enum sonde_update { SONDE_UPDATE_ADD = 1, SONDE_UPDATE_SET, SONDE_UPDATE_OBSERVE, SONDE_UPDATE_RATE = 5 };
enum sonde_knob_type { SONDE_TYPE_INT = 1, SONDE_TYPE_REAL, SONDE_TYPE_CHOICE };

/* The program's declaration of a knob; numbers as the bits of an int64_t or a double. */
struct sonde_knob_spec {
	uint32_t type;
	uint64_t fallback, low, high;
	const char *choices;
};

/*
 * The functions of libsonde, found by the name `sonde_api`. New fields are only appended; `bytes` is the size. A site
 * may be NULL (the name is looked up each time), a name NULL (the site has it already).
 */
#define SONDE_API_VERSION 1u
struct sonde_api {
	uint32_t version, bytes;
	const uint32_t *categories; /* what is recorded now; annotations are SONDE_ON_BIT_ */
	void (*start)(void);        /* called once by each object that uses it */
	uint32_t (*intern)(const char *text, size_t bytes);
	void (*span_begin)(struct sonde_note *, struct sonde_site *, const char *name, const char *category);
	void (*span_begin_loose)(struct sonde_note *, struct sonde_site *); /* may end out of order */
	void (*span_end)(struct sonde_note *);
	void (*instant_begin)(struct sonde_note *, struct sonde_site *, const char *name, const char *category);
	void (*instant_end)(struct sonde_note *);
	void (*arg)(struct sonde_note *, struct sonde_site *, const char *key, uint32_t type, uint64_t bits,
			const char *text);
	void (*counter)(struct sonde_site *, const char *name, double value);
	void (*step)(struct sonde_site *, const char *name, int64_t index, double value);
	void (*meta)(struct sonde_site *, const char *key, const char *text, size_t bytes);
	void (*metric)(struct sonde_site *, const char *name, uint32_t update, double value);
	uint64_t (*knob)(struct sonde_site *, const char *name, const struct sonde_knob_spec *);
};

#define SONDE_ON_BIT_ (1u << 11) /* SONDE_CAT_SPAN of shm.h */

/* Lookup of libsonde: once for each program or shared library that includes this header. */

struct sonde_link_ {
	const uint32_t *categories;
	const struct sonde_api *api;
};

#define SONDE_ONE_ __attribute__((weak, visibility("hidden")))
extern const uint32_t sonde_unknown_ SONDE_ONE_; /* before the lookup: everything is on */
extern const uint32_t sonde_off_ SONDE_ONE_;
extern struct sonde_link_ sonde_link_ SONDE_ONE_;
void sonde_find_(void) SONDE_ONE_;

const uint32_t sonde_unknown_ = ~0u;
const uint32_t sonde_off_ = 0;
struct sonde_link_ sonde_link_ = { &sonde_unknown_, NULL };

/* A static program has neither dlsym nor libsonde. */
#ifdef SONDE_IS_LIBSONDE /* must load with a C library that has dlsym elsewhere */
#define sonde_dlsym_(handle, name) NULL
#define SONDE_HAS_DLSYM_ 0
#else
static void *sonde_dlsym_(void *, const char *) __attribute__((weakref("dlsym"), unused));
#define SONDE_HAS_DLSYM_ (sonde_dlsym_ != NULL)
#endif

/* Several threads may call it at once: all find the same. */
__attribute__((noinline, cold)) void sonde_find_(void)
{
	const struct sonde_api *api = NULL;
	int kept_errno = errno;
	void *found = SONDE_HAS_DLSYM_ ? sonde_dlsym_(NULL, "sonde_api") : NULL;
	__builtin_memcpy(&api, &found, sizeof(api));
	if (api && (api->version != SONDE_API_VERSION || api->bytes < sizeof(*api)))
		api = NULL;
	if (api)
		api->start();
	__atomic_store_n(&sonde_link_.api, api, __ATOMIC_RELAXED);
	__atomic_store_n(&sonde_link_.categories, api ? api->categories : &sonde_off_, __ATOMIC_RELEASE);
	errno = kept_errno;
}

#define SONDE_INLINE_ static inline __attribute__((always_inline, unused))

SONDE_INLINE_ uint32_t sonde_bit_(void)
{
	return __atomic_load_n(__atomic_load_n(&sonde_link_.categories, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED) &
			SONDE_ON_BIT_;
}

SONDE_INLINE_ const struct sonde_api *sonde_api_(void)
{
	return __atomic_load_n(&sonde_link_.api, __ATOMIC_RELAXED);
}

/* Are annotations recorded? For programs with arguments that are expensive to compute. */
SONDE_INLINE_ int sonde_is_on(void)
{
	if (__builtin_expect(!sonde_bit_(), 1))
		return 0;
	if (__builtin_expect(!sonde_api_(), 0)) {
		sonde_find_();
		return sonde_bit_() != 0;
	}
	return 1;
}

/* A literal is the same string each time: its site caches it. For any other string the site is not used. */
#define SONDE_HERE_(literal) SONDE_HERE2_(literal, NULL)
#define SONDE_HERE2_(literal, literal2) \
	(__extension__({ \
		static struct sonde_site sonde_site_; \
		__builtin_constant_p(literal) && __builtin_constant_p(literal2) ? &sonde_site_ : NULL; \
	}))
#define SONDE_JOIN2_(a, b) a##b
#define SONDE_JOIN_(a, b) SONDE_JOIN2_(a, b)

/* Spans. */

SONDE_INLINE_ void sonde_note_init_(struct sonde_note *n, uint32_t room)
{
	n->ticks = 0;
	n->arg_count = n->arg_lost = 0;
	n->arg_bytes = 0;
	n->arg_bytes_max = room;
}

SONDE_INLINE_ int sonde_note_begin_(struct sonde_note *n, uint32_t room, struct sonde_site *site, const char *name,
		const char *category)
{
	sonde_note_init_(n, room);
	if (sonde_is_on())
		sonde_api_()->span_begin(n, site, name, category);
	return 0;
}

SONDE_INLINE_ void sonde_note_end_(struct sonde_note *n)
{
	if (n->ticks) {
		sonde_api_()->span_end(n);
		n->ticks = 0;
	}
}

SONDE_INLINE_ void sonde_span_end_(struct sonde_span *span)
{
	sonde_note_end_(&span->note);
}

/*
 * SONDE_SPAN(name) or SONDE_SPAN(name, category): from here to the end of the block, on every exit path. Do not jump
 * over it into the block: in a switch, give the case its own block. (C++ rejects such a jump; in C, -Wjump-misses-init
 * warns.)
 */
#define SONDE_SPAN(...) SONDE_SPAN_(SONDE_JOIN_(sonde_span_, __COUNTER__), __VA_ARGS__, NULL, NULL)
#define SONDE_SPAN_(var, name, category, ...) \
	SONDE_DECLARE_(struct sonde_note, sonde_note_end_, var, &var, 0, name, category)

/* The same with a variable, for sonde_arg_*: SONDE_SPAN_AS(var, name) or SONDE_SPAN_AS(var, name, category). */
#define SONDE_SPAN_AS(...) SONDE_SPAN_AS_(__VA_ARGS__, NULL, NULL)
#define SONDE_SPAN_AS_(var, name, category, ...) \
	SONDE_DECLARE_(struct sonde_span, sonde_span_end_, var, &var.note, SONDE_ARG_BYTES, name, category)

#define SONDE_DECLARE_(type, end, var, note, room, name, category) \
	type var __attribute__((cleanup(end))); \
	const int SONDE_JOIN_(var, _begun_) __attribute__((unused)) = sonde_note_begin_(note, room, \
			SONDE_HERE2_(name, category), (name), (category))

/*
 * sonde_span_begin(&span, name[, category]) and sonde_span_end(&span): explicit start and end, on one thread, properly
 * nested. The code between may be left by longjmp: the end of an outer span, or the start of another, detects it.
 * Never end a span that was not started: initialise with { .note = { 0 } } if in doubt.
 */
#define sonde_span_begin(...) SONDE_BEGIN_(__VA_ARGS__, NULL, NULL)
#define SONDE_BEGIN_(span, name, category, ...) \
	(void)sonde_note_begin_(&(span)->note, SONDE_ARG_BYTES, SONDE_HERE2_(name, category), (name), (category))
SONDE_INLINE_ void sonde_span_end(struct sonde_span *span)
{
	sonde_span_end_(span);
}

/*
 * Typed arguments of a span or instant, before its end. Beyond SONDE_ARG_BYTES they are dropped and an argument
 * "args_lost" counts them. A long string is truncated and ends in "…".
 */
#define sonde_arg_int(span, key, value) \
	sonde_arg_(&(span)->note, SONDE_HERE_(key), (key), SONDE_VALUE_INT, sonde_int_bits_(value), NULL)
#define sonde_arg_uint(span, key, value) \
	sonde_arg_(&(span)->note, SONDE_HERE_(key), (key), SONDE_VALUE_UINT, (value), NULL)
#define sonde_arg_real(span, key, value) \
	sonde_arg_(&(span)->note, SONDE_HERE_(key), (key), SONDE_VALUE_REAL, sonde_real_bits_(value), NULL)
#define sonde_arg_str(span, key, text) \
	sonde_arg_(&(span)->note, SONDE_HERE_(key), (key), SONDE_VALUE_STR, UINT64_MAX, (text))
#define sonde_arg_text(span, key, text, bytes) \
	sonde_arg_(&(span)->note, SONDE_HERE_(key), (key), SONDE_VALUE_STR, (bytes), (text))

SONDE_INLINE_ uint64_t sonde_int_bits_(int64_t value)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

SONDE_INLINE_ int64_t sonde_bits_int_(uint64_t bits)
{
	int64_t value;
	__builtin_memcpy(&value, &bits, sizeof(value));
	return value;
}

SONDE_INLINE_ uint64_t sonde_real_bits_(double value)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

SONDE_INLINE_ double sonde_bits_real_(uint64_t bits)
{
	double value;
	__builtin_memcpy(&value, &bits, sizeof(value));
	return value;
}

SONDE_INLINE_ void sonde_arg_(struct sonde_note *n, struct sonde_site *site, const char *key, uint32_t type,
		uint64_t bits, const char *text)
{
	if (n->ticks)
		sonde_api_()->arg(n, site, key, type, bits, text);
}

/*
 * Instants: sonde_instant(name[, category]), or with arguments, added between
 * sonde_instant_begin(&span, name[, category]) and sonde_instant_end(&span).
 */

#define sonde_instant(...) SONDE_INSTANT_(__VA_ARGS__, NULL, NULL)
#define SONDE_INSTANT_(name, category, ...) sonde_instant_(SONDE_HERE2_(name, category), (name), (category))
#define sonde_instant_begin(...) SONDE_INSTANT_BEGIN_(__VA_ARGS__, NULL, NULL)
#define SONDE_INSTANT_BEGIN_(span, name, category, ...) \
	sonde_instant_begin_(&(span)->note, SONDE_ARG_BYTES, SONDE_HERE2_(name, category), (name), (category))

SONDE_INLINE_ void sonde_instant_begin_(struct sonde_note *n, uint32_t room, struct sonde_site *site, const char *name,
		const char *category)
{
	sonde_note_init_(n, room);
	if (sonde_is_on())
		sonde_api_()->instant_begin(n, site, name, category);
}

SONDE_INLINE_ void sonde_instant_end(struct sonde_span *span)
{
	if (span->note.ticks)
		sonde_api_()->instant_end(&span->note);
	span->note.ticks = 0;
}

SONDE_INLINE_ void sonde_instant_(struct sonde_site *site, const char *name, const char *category)
{
	struct sonde_note n;
	sonde_instant_begin_(&n, 0, site, name, category);
	if (n.ticks)
		sonde_api_()->instant_end(&n);
}

/* sonde_counter(name, value): a quantity that changes over time. NaN and infinities are ignored. */
#define sonde_counter(name, value) sonde_counter_(SONDE_HERE_(name), (name), (value))

SONDE_INLINE_ void sonde_counter_(struct sonde_site *site, const char *name, double value)
{
	if (sonde_is_on())
		sonde_api_()->counter(site, name, value);
}

/*
 * sonde_step(name, index, value): iteration `index` of the loop `name` has finished, with `value` (loss, score ...;
 * NAN if none). This provides iterations on the timeline, progress and objective for a tuner, pairs for a duet, and
 * the rate and the time between steps for monitoring.
 */
#define sonde_step(name, index, value) sonde_step_(SONDE_HERE_(name), (name), (index), (value))

SONDE_INLINE_ void sonde_step_(struct sonde_site *site, const char *name, int64_t index, double value)
{
	if (sonde_is_on())
		sonde_api_()->step(site, name, index, value);
}

/* sonde_meta(key, value): metadata of this process: its configuration, its input. */
#define sonde_meta(key, value) sonde_meta_(SONDE_HERE_(key), (key), (value))

SONDE_INLINE_ void sonde_meta_(struct sonde_site *site, const char *key, const char *value)
{
	if (sonde_is_on())
		sonde_api_()->meta(site, key, value, SIZE_MAX);
}

/*
 * Metrics: aggregated, not recorded one by one; monitoring samples them. A name has one kind, set by its first use: a
 * counter (add), a gauge (set), a histogram (observe) or a rate. NaN, infinities and other kinds are rejected and
 * counted.
 */
#define sonde_metric_add(name, value) sonde_metric_(SONDE_HERE_(name), (name), SONDE_UPDATE_ADD, (value))
#define sonde_metric_set(name, value) sonde_metric_(SONDE_HERE_(name), (name), SONDE_UPDATE_SET, (value))
#define sonde_metric_observe(name, value) sonde_metric_(SONDE_HERE_(name), (name), SONDE_UPDATE_OBSERVE, (value))

/*
 * sonde_rate(name, n): n more events (frames, requests, bytes; not negative). Monitoring shows the events per second
 * over the last ten seconds, 0 if there are none, and the total.
 */
#define sonde_rate(name, n) sonde_metric_(SONDE_HERE_(name), (name), SONDE_UPDATE_RATE, (n))

SONDE_INLINE_ void sonde_metric_(struct sonde_site *site, const char *name, uint32_t update, double value)
{
	if (sonde_is_on())
		sonde_api_()->metric(site, name, update, value);
}

/*
 * SONDE_TIMER(name): observes the seconds from here to the end of the block, on every exit path, in the histogram
 * `name`. As for SONDE_SPAN, do not jump over it into the block.
 *
 * 	SONDE_TIMER("infer_seconds");
 */
#define SONDE_TIMER(name) SONDE_TIMER_(SONDE_JOIN_(sonde_timer_, __COUNTER__), name)
#define SONDE_TIMER_(var, name) \
	struct sonde_timer_ var \
			__attribute__((cleanup(sonde_timer_end_))) = sonde_timer_begin_(SONDE_HERE_(name), (name))

struct sonde_timer_ {
	struct sonde_site *site;
	const char *name; /* NULL: not recorded */
	double begun_s;
};

/* clock_gettime, which strict C does not declare; CLOCK_MONOTONIC is 1. A static program may not have it. */
struct sonde_time_ {
	long s, ns;
};
static int sonde_clock_(int, struct sonde_time_ *) __attribute__((weakref("clock_gettime"), unused));

SONDE_INLINE_ double sonde_now_(void)
{
	struct sonde_time_ t = { 0, 0 };
	if (sonde_clock_)
		sonde_clock_(1, &t);
	return (double)t.s + (double)t.ns * 1e-9;
}

SONDE_INLINE_ struct sonde_timer_ sonde_timer_begin_(struct sonde_site *site, const char *name)
{
	struct sonde_timer_ t = { site, NULL, 0 };
	if (sonde_is_on()) {
		t.name = name;
		t.begun_s = sonde_now_();
	}
	return t;
}

SONDE_INLINE_ void sonde_timer_end_(struct sonde_timer_ *t)
{
	if (t->name)
		sonde_metric_(t->site, t->name, SONDE_UPDATE_OBSERVE, sonde_now_() - t->begun_s);
}

/*
 * Knobs: a number or choice that a tuner or a controller may change while the program runs. Each call returns the
 * current value: `fallback` until another value within the bounds is set. Call it where the program can apply a
 * change.
 *
 * 	int threads = (int)sonde_knob_int_in("threads", 4, 1, 64);
 * 	switch (sonde_knob_choice("layout", 0, "rows|columns|tiles")) ...
 */
#define sonde_knob_int(name, fallback) sonde_knob_int_in(name, fallback, INT64_MIN, INT64_MAX)
#define sonde_knob_int_in(name, fallback, low, high) \
	sonde_knob_int_(SONDE_HERE_(name), (name), (fallback), (low), (high))
#define sonde_knob_real(name, fallback) sonde_knob_real_in(name, fallback, -__builtin_inf(), __builtin_inf())
#define sonde_knob_real_in(name, fallback, low, high) \
	sonde_knob_real_(SONDE_HERE_(name), (name), (fallback), (low), (high))
#define sonde_knob_choice(name, fallback, choices) sonde_knob_choice_(SONDE_HERE_(name), (name), (fallback), (choices))

SONDE_INLINE_ uint64_t sonde_knob_(struct sonde_site *site, const char *name, uint32_t type, uint64_t fallback,
		uint64_t low, uint64_t high, const char *choices)
{
	struct sonde_knob_spec spec;
	if (!sonde_is_on())
		return fallback;
	spec.type = type;
	spec.fallback = fallback;
	spec.low = low;
	spec.high = high;
	spec.choices = choices;
	return sonde_api_()->knob(site, name, &spec);
}

SONDE_INLINE_ int64_t sonde_knob_int_(struct sonde_site *site, const char *name, int64_t fallback, int64_t low,
		int64_t high)
{
	return sonde_bits_int_(sonde_knob_(site, name, SONDE_TYPE_INT, sonde_int_bits_(fallback), sonde_int_bits_(low),
			sonde_int_bits_(high), NULL));
}

SONDE_INLINE_ double sonde_knob_real_(struct sonde_site *site, const char *name, double fallback, double low,
		double high)
{
	return sonde_bits_real_(sonde_knob_(site, name, SONDE_TYPE_REAL, sonde_real_bits_(fallback),
			sonde_real_bits_(low), sonde_real_bits_(high), NULL));
}

/* Choices are written "a|b|c"; the result is an index from 0. */
SONDE_INLINE_ int64_t sonde_knob_choice_(struct sonde_site *site, const char *name, int64_t fallback,
		const char *choices)
{
	return sonde_bits_int_(sonde_knob_(site, name, SONDE_TYPE_CHOICE, sonde_int_bits_(fallback), 0, 0, choices));
}

#ifdef __cplusplus
}
#endif
#endif
