/* A thread is stored as the ends of the events that enclose its last one, innermost last. */
#include "exchange/nest.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

struct nest_thread {
	int64_t *ends;
	size_t count, cap;
};

void nest_release(struct nest *n)
{
	for (size_t i = 0; i < n->cap; i++)
		free(n->threads[i].ends);
	free(n->threads);
	map_release(&n->numbers);
	*n = (struct nest)NEST_INIT;
}

static struct nest_thread *thread_of(struct nest *n, int64_t pid, int64_t tid)
{
	int64_t key[2] = { pid, tid };
	uint64_t *number = map_put(&n->numbers, key, sizeof(key), NULL);

	if (!number)
		return NULL;
	if (!*number)
		*number = n->numbers.count;
	size_t had = n->cap;
	if (!VEC_GROW(n->threads, n->cap, *number, VEC_MAX))
		return NULL;
	for (size_t i = had; i < n->cap; i++)
		n->threads[i] = (struct nest_thread){ .ends = NULL };
	return &n->threads[*number - 1];
}

static int push(struct nest_thread *t, int64_t end_ns)
{
	if (!VEC_GROW(t->ends, t->cap, t->count + 1, VEC_MAX))
		return -ENOMEM;
	t->ends[t->count++] = end_ns;
	return 0;
}

int nest_add(struct nest *n, int64_t pid, int64_t tid, int64_t ts_ns, int64_t *dur_ns)
{
	struct nest_thread *t = thread_of(n, pid, tid);
	enum nest_fit fit = NEST_INSIDE;
	int64_t end_ns;

	if (!t)
		return -ENOMEM;
	if (__builtin_add_overflow(ts_ns, *dur_ns, &end_ns))
		end_ns = INT64_MAX;
	while (t->count && t->ends[t->count - 1] <= ts_ns)
		t->count--;
	if (t->count && end_ns > t->ends[t->count - 1]) {
		if (end_ns - t->ends[t->count - 1] > NEST_SLACK_NS)
			return NEST_CROSSES;
		end_ns = t->ends[t->count - 1];
		*dur_ns = end_ns - ts_ns;
		fit = NEST_CUT;
	}
	return push(t, end_ns) < 0 ? -ENOMEM : (int)fit;
}
