/*
 * Processes as a stream of tokens: the programs that one process started, in order of time.
 *
 * A shell, make or xargs makes few calls itself, and each program that it starts has its own threads: their loop
 * shows only in the order of the programs. If all programs started so far have exited before the next one starts,
 * that is a pause: `tar, tar, tar` in sequence is a loop, a team of processes started at once is not. The recorder
 * sees an exit with a delay; a process was alive at least until its last call.
 */
#include "analyze/iterations-detect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MIN 4
#define OFTEN 3                   /* uses of the same first argument */
#define PAIRS (UINT32_C(1) << 30) /* tokens from here on are program and argument pairs, below are string ids */
#define KEY_BYTES_MAX 256
#define LATE_NS 250000000 /* maximum delay until an exit is seen */

static const struct detect_stream processes = { .name = "found in the programs that it starts", .file = -1 };

/* A process across all its execs. */
struct person {
	const struct store_process *first, *last;
	size_t parent;     /* its index, from 1; 0: unknown */
	int64_t called_ns; /* time of its last call; STORE_NULL: none */
};

static int by_birth(const void *a, const void *b)
{
	const struct person *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->first->start_ns > y->first->start_ns) - (x->first->start_ns < y->first->start_ns);
}

/* Assigns each process row its process, from 1; rows come after those that forked or exec'ed them. Returns the number
 * of processes. */
static size_t gather(const struct analyze *a, struct person *people, size_t *who)
{
	size_t count, found = 0;
	const struct store_process *all = model_processes(a->run, &count);

	for (size_t i = 0; i < count; i++) {
		const struct store_process *parent = model_process(a->run, all[i].parent);
		size_t before = parent && parent < &all[i] ? who[parent - all] : 0;

		if (before && parent->pid == all[i].pid) { /* an exec */
			who[i] = before;
			people[before - 1].last = &all[i];
			continue;
		}
		people[found] = (struct person){ &all[i], &all[i], before, STORE_NULL };
		who[i] = ++found;
	}
	return found;
}

static void add_calls(const struct analyze *a, const struct detect *d, struct person *people, const size_t *who)
{
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, d->last_calls);
	size_t count;
	const struct store_process *all = model_processes(a->run, &count);

	for (size_t i = 0; i < g->count; i++) {
		const struct store_process *p = model_process(a->run, engine_key(g, i, 0));
		int64_t ns = p ? engine_extreme(g, 0, i) : STORE_NULL;
		struct person *one = p ? &people[who[p - all] - 1] : NULL;

		if (one && ns > one->called_ns) /* STORE_NULL is the smallest value */
			one->called_ns = ns;
	}
}

/* Returns the time until which it was certainly alive. */
static int64_t alive_until(const struct person *p)
{
	int64_t ns = p->called_ns;

	if (ns == STORE_NULL && p->last->end_ns != STORE_NULL)
		ns = p->last->end_ns - LATE_NS;
	return ns > p->first->start_ns ? ns : p->first->start_ns;
}

static bool is_looked_at(const struct analyze *a, const struct person *p)
{
	int64_t ns = p->first->start_ns;

	return ns != STORE_NULL && (!a->opts.has_range || (ns >= a->opts.from_ns && ns < a->opts.to_ns));
}

/* Returns the count and number of a program with its first argument, such as `git add`. */
static uint64_t *pair_of(struct map *pairs, const struct store_process *p, bool *is_new)
{
	char key[KEY_BYTES_MAX];
	size_t bytes = p->argv ? p->argv->bytes : 0, n = bytes ? strnlen(p->argv->data, bytes) + 1 : 0,
	       at = sizeof(p->exe);

	memcpy(key, &p->exe, at);
	for (; n < bytes && p->argv->data[n] && at < sizeof(key); n++)
		key[at++] = p->argv->data[n];
	return map_put(pairs, key, at, is_new);
}

static int count_pairs(struct map *pairs, const struct person *children, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_new;
		uint64_t *times = pair_of(pairs, children[i].last, &is_new);

		if (!times)
			return -ENOMEM;
		*times += 1 + (is_new ? (uint64_t)pairs->count << 32 : 0);
	}
	return 0;
}

/* A program that often has the same first argument is identified by both: `git add` and `git commit` differ. */
static uint32_t token_of(struct map *pairs, const struct store_process *p)
{
	uint64_t times = *pair_of(pairs, p, NULL);

	return (uint32_t)times >= OFTEN ? PAIRS | (uint32_t)(times >> 32) : (uint32_t)p->exe;
}

static void add_children(struct detect_tokens *t, const struct person *children, size_t count, struct map *pairs)
{
	int64_t until_ns = INT64_MIN;

	for (size_t i = 0; i < count && t->count < t->cap; i++) {
		int64_t from_ns = children[i].first->start_ns, to_ns = alive_until(&children[i]);

		if (!is_looked_at(t->a, &children[i]))
			continue;
		if (t->count)
			t->tokens[t->count - 1].is_before_pause = from_ns >= until_ns;
		until_ns = to_ns > until_ns ? to_ns : until_ns;
		t->tokens[t->count++] = (struct detect_token){ .ts_ns = from_ns,
			.dur_ns = to_ns - from_ns,
			.name = children[i].last->exe,
			.file = children[i].last->pid,
			.token = token_of(pairs, children[i].last),
			.is_before_pause = true };
	}
}

static int by_pid(const void *a, const void *b)
{
	const struct detect_token *x = a, *y = b;

	return (x->file > y->file) - (x->file < y->file);
}

/* Processes that run at the same time, as in a pipeline, may be recorded in any order: sort them by PID. */
static void order(struct detect_tokens *t)
{
	for (size_t i = 0, end; i < t->count; i = end) {
		for (end = i + 1; end < t->count && !t->tokens[end - 1].is_before_pause; end++)
			;
		t->tokens[end - 1].is_before_pause = false;
		qsort(t->tokens + i, end - i, sizeof(*t->tokens), by_pid);
		t->tokens[end - 1].is_before_pause = true;
	}
}

static int search(struct analyze *a, const struct person *parent, const struct person *children, size_t count,
		detect_look *look, void *arg)
{
	struct detect_tokens t = { .a = a,
		.stream = &processes,
		.tid = parent->first->pid,
		.process = parent->last->process,
		.cap = count < DETECT_TOKENS_MAX ? count : DETECT_TOKENS_MAX };
	struct map pairs = MAP_INIT;
	int rc = count_pairs(&pairs, children, count);

	t.tokens = calloc(t.cap + 1, sizeof(*t.tokens));
	if (!t.tokens)
		rc = -ENOMEM;
	if (rc == 0)
		add_children(&t, children, count, &pairs);
	if (rc == 0 && t.count >= CHILDREN_MIN) {
		order(&t);
		detect_tokens_life(&t);
		rc = look(arg, &t);
	}
	detect_tokens_release(&t);
	map_release(&pairs);
	return rc;
}

int detect_families(struct analyze *a, const struct detect *d, detect_look *look, void *arg)
{
	size_t images, count = 0, end;
	int rc = 0;
	struct person *people, *sorted;
	size_t *who;

	model_processes(a->run, &images);
	people = calloc(images + 1, sizeof(*people));
	sorted = calloc(images + 1, sizeof(*sorted));
	who = calloc(images + 1, sizeof(*who));
	if (!people || !sorted || !who)
		rc = -ENOMEM;
	else
		count = gather(a, people, who);
	if (count)
		add_calls(a, d, people, who);
	for (size_t i = 0; i < count; i++)
		sorted[i] = people[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_birth);
	for (size_t i = 0; i < count && rc == 0; i = end) {
		for (end = i + 1; end < count && sorted[end].parent == sorted[i].parent; end++)
			;
		if (sorted[i].parent && end - i >= CHILDREN_MIN)
			rc = search(a, &people[sorted[i].parent - 1], sorted + i, end - i, look, arg);
	}
	free(people);
	free(sorted);
	free(who);
	return rc;
}
