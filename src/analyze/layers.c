#include "analyze/layers.h"

#define GATHERED (sizeof(((struct layers_sweep *)0)->gathered) / sizeof(((struct layers_sweep *)0)->gathered[0]))

void layers_sweep_init(struct layers_sweep *s, const struct analyze *a, struct layers_bucket *buckets)
{
	*s = (struct layers_sweep){ .rules = &a->rules, .start_ns = a->start_ns, .bucket_ns = a->bucket_ns };
	s->buckets = a->start_ns == STORE_NULL ? NULL : buckets;
	for (size_t set = 0; set < a->rules.set_count; set++)
		for (size_t l = 0; l < a->rules.count; l++)
			if (a->rules.sets[set] >> l & 1) {
				s->layer_sets[l] |= (uint64_t)1 << set;
				s->class_sets[a->rules.layers[l].class] |= (uint64_t)1 << set;
			}
}

static void add_layers(struct layers_sweep *s, uint64_t mask, int64_t ns)
{
	bool has_compute = mask & s->class_sets[RULES_COMPUTE], has_io = mask & s->class_sets[RULES_IO];

	for (size_t l = 0; l < s->rules->count; l++) {
		bool is_hidden = s->rules->layers[l].class == RULES_COMPUTE ? has_io : has_compute;

		if (!(mask & s->layer_sets[l]))
			continue;
		s->times.layer_ns[l] += ns;
		s->times.layer_alone_ns[l] += is_hidden ? 0 : ns;
	}
}

static void add_mask(struct layers_sweep *s, uint64_t mask, int64_t ns)
{
	struct layers_times *t = &s->times;
	bool has[RULES_CLASSES];

	for (int c = 0; c < RULES_CLASSES; c++) {
		has[c] = mask & s->class_sets[c];
		t->class_ns[c] += has[c] ? ns : 0;
		if (s->buckets && has[c])
			s->buckets[s->bucket].class_ns[c] += ns;
	}
	t->any_ns += mask & ~(uint64_t)1 ? ns : 0;
	t->io_alone_ns += has[RULES_IO] && !has[RULES_COMPUTE] ? ns : 0;
	t->app_io_alone_ns += has[RULES_APP_IO] && !has[RULES_COMPUTE] ? ns : 0;
	t->compute_alone_ns += has[RULES_COMPUTE] && !has[RULES_IO] ? ns : 0;
	t->compute_without_app_io_ns += has[RULES_COMPUTE] && !has[RULES_APP_IO] ? ns : 0;
	add_layers(s, mask, ns);
}

static void flush(struct layers_sweep *s)
{
	for (size_t i = 0; i < GATHERED; i++) {
		if (s->gathered[i].ns)
			add_mask(s, s->gathered[i].mask, s->gathered[i].ns);
		s->gathered[i].ns = 0;
	}
}

static void gather(struct layers_sweep *s, uint64_t mask, int64_t ns)
{
	size_t at = (mask * 0x9e3779b97f4a7c15u) >> 58;

	if (s->gathered[at].mask != mask) {
		if (s->gathered[at].ns)
			add_mask(s, s->gathered[at].mask, s->gathered[at].ns);
		s->gathered[at].mask = mask;
		s->gathered[at].ns = 0;
	}
	s->gathered[at].ns += ns;
}

/* Returns the bucket of a timestamp: 0 before the start, the last one after the end. */
static size_t bucket_of(const struct layers_sweep *s, int64_t at_ns)
{
	uint64_t bucket = at_ns <= s->start_ns ? 0 : ((uint64_t)at_ns - (uint64_t)s->start_ns) / (uint64_t)s->bucket_ns;

	return bucket < ANALYZE_BUCKETS ? (size_t)bucket : ANALYZE_BUCKETS - 1;
}

static int64_t bucket_end(const struct layers_sweep *s)
{
	int64_t end;

	if (s->bucket + 1 >= ANALYZE_BUCKETS ||
			__builtin_add_overflow(s->start_ns, (int64_t)(s->bucket + 1) * s->bucket_ns, &end))
		return INT64_MAX;
	return end;
}

static void visit(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	struct layers_sweep *s = arg;

	(void)active;
	while (s->buckets && to > bucket_end(s)) {
		int64_t end = bucket_end(s);

		if (from < end)
			gather(s, mask, end - from);
		from = from < end ? end : from;
		flush(s);
		s->bucket = from < bucket_end(s) ? s->bucket + 1 : bucket_of(s, from);
	}
	gather(s, mask, to - from);
}

int layers_sweep_run(struct layers_sweep *s, const struct engine_sweep_set *sets, size_t count)
{
	int rc = engine_sweep(sets, count, visit, s);

	flush(s);
	return rc;
}
