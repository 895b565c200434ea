/*
 * layers: time covered by layers. Private to analyze/.
 *
 * A sweep over the interval sets of layer sets (layer-rules.h) sums, for each class and layer, how long it was under
 * way and how long it was not overlapped by what could hide it: compute for I/O, I/O for compute.
 */
#ifndef SONDE_ANALYZE_LAYERS_H
#define SONDE_ANALYZE_LAYERS_H

#include "analyze/pass.h"

struct layers_times {
	int64_t class_ns[RULES_CLASSES];      /* any layer of the class under way */
	int64_t io_alone_ns, app_io_alone_ns; /* not overlapped by compute */
	int64_t compute_alone_ns;             /* not overlapped by io */
	int64_t compute_without_app_io_ns;
	int64_t any_ns; /* any layer */
	int64_t layer_ns[RULES_LAYERS_MAX];
	int64_t layer_alone_ns[RULES_LAYERS_MAX]; /* not overlapped by compute; for compute layers by io */
};

struct layers_bucket {
	int64_t class_ns[RULES_CLASSES];
};

/* State of a sweep: segments are summed by mask, since few masks recur. */
struct layers_sweep {
	const struct rules *rules;
	struct layers_times times;
	int64_t start_ns, bucket_ns; /* bucket_ns 0: no buckets */
	struct layers_bucket *buckets;
	/* private */
	uint64_t class_sets[RULES_CLASSES], layer_sets[RULES_LAYERS_MAX]; /* sets that belong to it */
	size_t bucket;
	struct {
		uint64_t mask;
		int64_t ns;
	} gathered[64];
};

/* buckets: NULL, or ANALYZE_BUCKETS zeroed ones. */
void layers_sweep_init(struct layers_sweep *s, const struct analyze *a, struct layers_bucket *buckets);
/* Sweeps interval sets; the class of each is its set number. Returns -ENOMEM on failure. */
int layers_sweep_run(struct layers_sweep *s, const struct engine_sweep_set *sets, size_t count);

/*
 * pass-layers.c: returns the next process and how long its calls of class io were under way; false at the end. The
 * pass must have planned; *at starts at 0.
 */
bool layers_next_process(const struct analyze *a, size_t *at, int64_t *process, int64_t *io_ns);

#endif
