/*
 * The stream in which iterations are detected: the events of one thread in order of time, and its pauses.
 *
 * Start-up code repeats more than many loops: a program that imports a hundred modules, or searches for its parts in
 * a hundred places, makes the same calls a hundred times. Calls that load code are recognized by their file:
 * installed files, and files that look like code elsewhere.
 */
#include "analyze/iterations-detect.h"
#include "base/vec.h"
#include "model/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Samples as a stream of tokens: the functions of a thread that makes no calls.
 *
 * All samples share the frames from the start of the program to its loop, and each ends in some helper. The phases of
 * an iteration differ in the frames between: the function in which a sample leaves the frames that nearly all share.
 */
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
	if (!VEC_GROW(n->chains, n->cap, n->known.count, VEC_MAX))
		return NULL;
	c = &n->chains[*at];
	*c = (struct chain){ .count = 0 };
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
static int extend_way(struct naming *n)
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
	while (kept && n->way_count < DEPTH_MAX && (rc = extend_way(n)) > 0)
		n->way_count++;
	for (size_t i = 0; i < t->count && rc >= 0; i++) {
		const struct chain *c = chain_of(n, t->tokens[i].name);
		size_t at = common(n, c);

		t->tokens[i].token = c->functions[at < c->count ? at : c->count - 1];
		t->tokens[i].name = t->tokens[i].token;
	}
	return rc < 0 ? rc : 0;
}

static int detect_name_samples(struct detect_tokens *t, struct sonde_err *err)
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

/* Streams. */

#define GAPS_MAX 4096 /* sampled to estimate the typical gap */
#define PAUSE_NS_MIN 200000
#define PAUSE_GAPS 20 /* a pause is so many typical gaps */

const struct detect_stream detect_streams[DETECT_STREAMS] = {
	{ "found in spans", STORE_TABLE_SPAN, STORE_SPAN_ts_ns, STORE_SPAN_dur_ns, STORE_SPAN_process, STORE_SPAN_tid,
			STORE_SPAN_name, -1, DETECT_TOKENS_MAX, NULL },
	{ "found in commands of a GPU", STORE_TABLE_GPU, STORE_GPU_ts_ns, STORE_GPU_dur_ns, STORE_GPU_process,
			STORE_GPU_tid, STORE_GPU_name, -1, DETECT_TOKENS_MAX, NULL },
	{ "found in calls", STORE_TABLE_IO, STORE_IO_ts_ns, STORE_IO_dur_ns, STORE_IO_process, STORE_IO_tid,
			STORE_IO_call, STORE_IO_file, DETECT_TOKENS_MAX, NULL },
	{ "found in samples", STORE_TABLE_SAMPLE, STORE_SAMPLE_ts_ns, STORE_SAMPLE_weight_ns, STORE_SAMPLE_process,
			STORE_SAMPLE_tid, STORE_SAMPLE_stack, -1, DETECT_TOKENS_MAX / 16, detect_name_samples },
};

/* Code. */

static const char *const code_ends[] = { ".py", ".pyc", ".pth", ".so", ".pm", ".rb", ".js", ".mjs", ".cjs", ".node",
	".jar", ".class" };
static const char *const code_parts[] = { "/lib/python", "-packages", "/__pycache__", ".so.", "/node_modules", "/perl",
	"/ruby" };

static const char *const code_roots[] = { "/usr/", "/lib", "/etc/" };

static bool is_code_path(const struct store_text *path)
{
	for (size_t i = 0; path->data && i < sizeof(code_roots) / sizeof(*code_roots); i++)
		if (path->bytes > strlen(code_roots[i]) &&
				memcmp(path->data, code_roots[i], strlen(code_roots[i])) == 0)
			return true;
	for (size_t i = 0; path->data && i < sizeof(code_ends) / sizeof(*code_ends); i++) {
		size_t n = strlen(code_ends[i]);

		if (path->bytes > n && memcmp(path->data + path->bytes - n, code_ends[i], n) == 0)
			return true;
	}
	for (size_t i = 0; path->data && i < sizeof(code_parts) / sizeof(*code_parts); i++)
		if (memmem(path->data, path->bytes, code_parts[i], strlen(code_parts[i])))
			return true;
	return false;
}

/* Finds files that hold code, and their directories, which each import searches. */
static int find_code(struct detect_tokens *t)
{
	bool is_new;

	for (size_t i = 0; i < t->count; i++) {
		struct store_text path;
		const char *slash;
		uint64_t *known = map_put_int(&t->code, (uint64_t)t->tokens[i].file, &is_new);

		if (!known)
			return -ENOMEM;
		if (!is_new || t->tokens[i].file == STORE_NULL)
			continue;
		path = model_file_path(t->a->run, t->tokens[i].file);
		*known = is_code_path(&path);
		slash = *known ? memrchr(path.data, '/', path.bytes) : NULL;
		if (slash && !map_put(&t->places, path.data, (size_t)(slash - path.data), &is_new))
			return -ENOMEM;
	}
	return 0;
}

static int mark_code(struct detect_tokens *t)
{
	int rc = t->stream->file < 0 ? 0 : find_code(t);

	for (size_t i = 0; i < t->code.count && rc == 0; i++) {
		size_t bytes;
		int64_t file;
		struct store_text path = { .data = NULL };

		memcpy(&file, map_key(&t->code, i, &bytes), sizeof(file));
		if (file != STORE_NULL)
			path = model_file_path(t->a->run, file);
		if (path.data && map_get(&t->places, path.data, path.bytes))
			*map_get_int(&t->code, (uint64_t)file) = 1;
	}
	for (size_t i = 0; i < t->count && rc == 0 && t->stream->file >= 0; i++)
		t->tokens[i].is_code = *map_get_int(&t->code, (uint64_t)t->tokens[i].file);
	return rc;
}

/* Reading. */

static int on_block(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct detect_tokens *t = arg;
	const struct detect_stream *s = t->stream;
	const int64_t *ts = b->columns[s->ts].ints, *dur = b->columns[s->dur].ints, *tid = b->columns[s->tid].ints;
	const int64_t *process = b->columns[s->process].ints, *name = b->columns[s->token].ints;
	const struct analyze_opts *o = &t->a->opts;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		if (tid[i] != t->tid || ts[i] == STORE_NULL ||
				(o->has_range && (ts[i] < o->from_ns || ts[i] >= o->to_ns)))
			continue;
		if (t->count == t->cap)
			return 1;
		t->process = process[i];
		t->tokens[t->count++] = (struct detect_token){ ts[i], dur[i] > 0 ? dur[i] : 0, name[i],
			s->file >= 0 ? b->columns[s->file].ints[i] : STORE_NULL, (uint32_t)name[i], false, false };
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct detect_token *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

static bool is_sorted(const struct detect_tokens *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->tokens[i].ts_ns < t->tokens[i - 1].ts_ns)
			return false;
	return true;
}

static int64_t gap_before(const struct detect_tokens *t, size_t i)
{
	int64_t gap_ns = t->tokens[i].ts_ns - t->tokens[i - 1].ts_ns - t->tokens[i - 1].dur_ns;

	return gap_ns > 0 ? gap_ns : 0;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the minimum gap between calls that counts as a pause. */
static int64_t pause_ns(const struct detect_tokens *t)
{
	int64_t gaps[GAPS_MAX], ns;
	size_t count = t->count - 1 < GAPS_MAX ? t->count - 1 : GAPS_MAX;

	for (size_t i = 0; i < count; i++)
		gaps[i] = gap_before(t, 1 + (size_t)((double)i * (double)(t->count - 1) / (double)count));
	qsort(gaps, count, sizeof(*gaps), by_length);
	ns = PAUSE_GAPS * gaps[count / 2];
	return ns > PAUSE_NS_MIN ? ns : PAUSE_NS_MIN;
}

void detect_tokens_life(struct detect_tokens *t)
{
	const struct store_process *p = model_process(t->a->run, t->process);
	size_t count;
	const struct store_thread *threads = model_threads(t->a->run, &count);
	int64_t from = t->tokens[0].ts_ns, to = t->tokens[t->count - 1].ts_ns;

	if (p && p->pid == t->tid) {
		from = p->start_ns != STORE_NULL && p->start_ns < from ? p->start_ns : from;
		to = p->end_ns != STORE_NULL && p->end_ns > to ? p->end_ns : to;
	}
	for (size_t i = 0; i < count; i++)
		if (threads[i].process == t->process && threads[i].tid == t->tid && threads[i].end_ns != STORE_NULL)
			to = threads[i].end_ns > to ? threads[i].end_ns : to;
	if (t->a->opts.has_range) {
		from = from > t->a->opts.from_ns ? from : t->a->opts.from_ns;
		to = to < t->a->opts.to_ns ? to : t->a->opts.to_ns;
	}
	t->life_ns = to > from ? to - from : 0;
}

int detect_tokens_read(struct detect_tokens *t, struct sonde_err *err)
{
	const struct detect_stream *s = t->stream;
	int cols[] = { s->ts, s->dur, s->process, s->tid, s->token, s->file };
	struct store_scan_opts opts = { .cols = cols,
		.ncols = s->file >= 0 ? 6 : 5,
		.threads = 1,
		.has_range = t->a->opts.has_range,
		.from_ns = t->a->opts.from_ns,
		.to_ns = t->a->opts.to_ns };
	int rc;

	t->tokens = calloc(t->cap + 1, sizeof(*t->tokens));
	if (!t->tokens)
		return -ENOMEM;
	rc = store_scan(model_table(t->a->run, s->table), &opts, on_block, t, err);
	if (rc < 0 || !t->count)
		return rc < 0 ? rc : 0;
	if (!is_sorted(t))
		qsort(t->tokens, t->count, sizeof(*t->tokens), by_time);
	/* A span is its own pause; in a gap between calls the program does other work, usually once per iteration. */
	if (t->stream->file >= 0 && t->count >= 2) {
		int64_t ns = pause_ns(t);

		for (size_t i = 1; i < t->count; i++)
			t->tokens[i - 1].is_before_pause = gap_before(t, i) >= ns;
	}
	detect_tokens_life(t);
	return s->rename ? s->rename(t, err) : mark_code(t);
}

void detect_tokens_release(struct detect_tokens *t)
{
	free(t->tokens);
	map_release(&t->code);
	map_release(&t->places);
	map_release(&t->labels);
}
