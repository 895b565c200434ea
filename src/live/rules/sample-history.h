/*
 * sample-history: the newest samples of the series that rules use.
 *
 * Only series registered by memory_watch are kept, for the registered duration, up to MEMORY_SAMPLES_MAX per series
 * and MEMORY_SERIES_MAX series; dropped ones are counted. The caller supplies the time: real, recorded or simulated,
 * in nondecreasing nanoseconds.
 */
#ifndef SONDE_LIVE_RULES_SAMPLE_HISTORY_H
#define SONDE_LIVE_RULES_SAMPLE_HISTORY_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_SAMPLES_MAX 4096
#define MEMORY_SERIES_MAX 4096
#define MEMORY_LABELS_MAX 8

struct memory_label {
	const char *key, *value;
};

struct memory_sample {
	int64_t ns;
	double value;
};

struct memory_series {
	char *name;
	struct memory_label labels[MEMORY_LABELS_MAX];
	size_t label_count;
	int64_t first_ns;
	/* private: a ring of samples, oldest first */
	struct memory_sample *samples;
	size_t count, start, cap;
	int64_t keep_ns;
};

struct memory {
	struct memory_series *series;
	size_t series_count;
	uint64_t dropped;
	/* private */
	struct map watched; /* name -> duration */
	struct map index;
	size_t series_cap;
};

#define MEMORY_INIT { .watched = MAP_INIT, .index = MAP_INIT }

void memory_release(struct memory *m);
int memory_watch(struct memory *m, const char *name, int64_t keep_ns);
bool memory_wants(const struct memory *m, const char *name);
/* A value that is not finite is ignored. */
int memory_add(struct memory *m, const char *name, const struct memory_label *labels, size_t label_count, int64_t ns,
		double value);
/* Sample i, oldest first. */
static inline const struct memory_sample *memory_sample(const struct memory_series *s, size_t i)
{
	return &s->samples[(s->start + i) & (s->cap - 1)]; /* a power of two */
}
const char *memory_label(const struct memory_series *s, const char *key); /* "" if it has none */

#endif
