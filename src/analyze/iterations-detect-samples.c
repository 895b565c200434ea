/*
 * Samples as a stream of tokens: the functions of a thread that makes no calls.
 *
 * All samples share the frames from the start of the program to its loop, and each ends in some helper. The phases of
 * an iteration differ in the frames between: the function in which a sample leaves the frames that nearly all share.
 */
#include "analyze/iterations-detect-private.h"
#include "model/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY_ALL 0.9
#define DEPTH_MAX 256

/* Functions by number, outermost first. */
struct chain {
	uint32_t *functions;
	size_t count;
};

struct naming {
	struct detect_tokens *t;
	struct model_stacks *stacks;
	struct map known; /* stack -> index in chains */
	struct chain *chains;
	size_t cap;
	uint32_t way[DEPTH_MAX]; /* frames that nearly all samples share */
	size_t way_count;
};

/* Reads functions innermost first; 0 or -ENOMEM. */
static int read_chain(struct naming *n, int64_t stack, uint32_t *functions, size_t *count)
{
	*count = 0;
	for (; stack != STORE_NULL; stack = model_stack_parent(n->stacks, stack)) {
		const struct model_frame *frames;
		size_t here = model_stack_place(n->stacks, stack, &frames);

		for (size_t i = 0; i < here && *count < DEPTH_MAX; i++) {
			const char *label = model_frame_label(&frames[i]);
			bool is_new;
			uint64_t *number = map_put(&n->t->labels, label, strlen(label), &is_new);

			if (!number)
				return -ENOMEM;
			if (is_new)
				*number = n->t->labels.count - 1;
			functions[(*count)++] = (uint32_t)*number;
		}
	}
	return 0;
}

/* Returns NULL if out of memory. */
static const struct chain *chain_of(struct naming *n, int64_t stack)
{
	uint32_t functions[DEPTH_MAX];
	bool is_new;
	uint64_t *at = map_put_int(&n->known, (uint64_t)stack, &is_new);
	struct chain *c;

	if (!at)
		return NULL;
	if (!is_new)
		return &n->chains[*at];
	*at = n->known.count - 1;
	if (n->known.count > n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 256;
		struct chain *grown = reallocarray(n->chains, cap, sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + n->cap, 0, (cap - n->cap) * sizeof(*grown));
		n->chains = grown;
		n->cap = cap;
	}
	c = &n->chains[*at];
	if (read_chain(n, stack, functions, &c->count) < 0)
		return NULL;
	c->functions = calloc(c->count + 1, sizeof(*c->functions));
	for (size_t i = 0; c->functions && i < c->count; i++)
		c->functions[i] = functions[c->count - 1 - i];
	return c->functions ? c : NULL;
}

/* Returns the number of shared frames of a chain. */
static size_t common(const struct naming *n, const struct chain *c)
{
	size_t i = 0;

	while (i < n->way_count && i < c->count && c->functions[i] == n->way[i])
		i++;
	return i;
}

/* Extends the shared frames by one if nearly all samples have it. 1, 0 or -ENOMEM. */
static int go_on(struct naming *n)
{
	uint32_t *times = calloc(n->t->labels.count + 1, sizeof(*times)), best = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < n->t->count; i++) {
		const struct chain *c = chain_of(n, n->t->tokens[i].name);

		if (c->count > n->way_count && common(n, c) == n->way_count)
			times[c->functions[n->way_count]]++;
	}
	for (uint32_t f = 1; f < n->t->labels.count; f++)
		best = times[f] > times[best] ? f : best;
	n->way[n->way_count] = best;
	best = times[best];
	free(times);
	return (double)best >= NEARLY_ALL * (double)n->t->count;
}

static int name_all(struct naming *n)
{
	struct detect_tokens *t = n->t;
	size_t kept = 0;
	int rc = 1;

	for (size_t i = 0; i < t->count; i++) {
		const struct chain *c = t->tokens[i].name == STORE_NULL ? NULL : chain_of(n, t->tokens[i].name);

		if (t->tokens[i].name != STORE_NULL && !c)
			return -ENOMEM;
		if (c && c->count)
			t->tokens[kept++] = t->tokens[i];
	}
	t->count = kept;
	while (kept && n->way_count < DEPTH_MAX && (rc = go_on(n)) > 0)
		n->way_count++;
	for (size_t i = 0; i < t->count && rc >= 0; i++) {
		const struct chain *c = chain_of(n, t->tokens[i].name);
		size_t at = common(n, c);

		t->tokens[i].token = c->functions[at < c->count ? at : c->count - 1];
		t->tokens[i].name = t->tokens[i].token;
	}
	return rc < 0 ? rc : 0;
}

int detect_name_samples(struct detect_tokens *t, struct sonde_err *err)
{
	struct naming n = { .t = t };
	int rc = model_stacks_open(&n.stacks, t->a->run, err);

	if (rc == 0)
		rc = name_all(&n);
	for (size_t i = 0; i < n.known.count && i < n.cap; i++)
		free(n.chains[i].functions);
	free(n.chains);
	map_release(&n.known);
	model_stacks_free(n.stacks);
	return rc;
}
