/*
 * Flame graphs of samples and waits by function, and the stack of one of them.
 *
 * Weights are first summed by stack; only stacks with weight are symbolized. The functions of all flame graphs of a
 * run share one numbering, so a number means the same in every response.
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "base/cleanup.h"
#include "model/dimensions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MAX 16 /* states that waits without a stack are grouped by */
#define STACKS_MAX ((size_t)1 << 24)
#define FRAMES_SHOWN_MAX 200

/* Weight without a stack, by state; STORE_NULL: no state. */
struct stackless {
	int64_t state, ns;
	uint64_t times;
};

struct weights {
	struct run_api_window w;
	int64_t process, tid; /* -1: any */
	bool is_waits;
	size_t count;
	int64_t *ns; /* indexed by stack, from 1 */
	uint64_t *times;
	struct stackless stackless[STATES_MAX];
	size_t state_count;
};

static int64_t inside(const struct run_api_window *w, int64_t start_ns, int64_t dur_ns)
{
	int64_t end_ns;

	if (__builtin_add_overflow(start_ns, dur_ns, &end_ns) || end_ns > w->to_ns)
		end_ns = w->to_ns;
	start_ns = start_ns > w->from_ns ? start_ns : w->from_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void add_up(int64_t *sum_ns, uint64_t *times, int64_t ns)
{
	if (__builtin_add_overflow(*sum_ns, ns, sum_ns))
		*sum_ns = INT64_MAX;
	++*times;
}

/* The last entry collects all states beyond STATES_MAX. */
static struct stackless *stackless_of(struct weights *s, int64_t state)
{
	size_t i = 0;

	while (i < s->state_count && s->stackless[i].state != state)
		i++;
	if (i == s->state_count && s->state_count < STATES_MAX)
		s->stackless[s->state_count++].state = state;
	return &s->stackless[i < STATES_MAX ? i : STATES_MAX - 1];
}

struct weight {
	int64_t process, tid, stack, state, ns;
};

static void add(struct weights *s, const struct weight *w)
{
	if (w->ns <= 0 || (s->process >= 0 && w->process != s->process) || (s->tid >= 0 && w->tid != s->tid))
		return;
	if (w->stack > 0 && (uint64_t)w->stack < s->count) {
		add_up(&s->ns[w->stack], &s->times[w->stack], w->ns);
	} else {
		struct stackless *none = stackless_of(s, w->state);

		add_up(&none->ns, &none->times, w->ns);
	}
}

static int on_samples(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct weights *s = arg;
	const struct store_column *c = b->columns;

	for (size_t i = 0; i < b->rows; i++) {
		int64_t ts_ns = c[STORE_SAMPLE_ts_ns].ints[i];

		if (ts_ns >= s->w.from_ns && ts_ns < s->w.to_ns)
			add(s,
					&(struct weight){ c[STORE_SAMPLE_process].ints[i], c[STORE_SAMPLE_tid].ints[i],
							c[STORE_SAMPLE_stack].ints[i], STORE_NULL,
							c[STORE_SAMPLE_weight_ns].ints[i] });
	}
	return 0;
}

static int on_waits(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct weights *s = arg;
	const struct store_column *c = b->columns;

	for (size_t i = 0; i < b->rows; i++) {
		int64_t ts_ns = c[STORE_SCHED_ts_ns].ints[i], dur_ns = c[STORE_SCHED_dur_ns].ints[i];

		if (dur_ns > 0 && ts_ns < s->w.to_ns)
			add(s,
					&(struct weight){ c[STORE_SCHED_process].ints[i], c[STORE_SCHED_tid].ints[i],
							c[STORE_SCHED_stack].ints[i], c[STORE_SCHED_state].ints[i],
							inside(&s->w, ts_ns, dur_ns) });
	}
	return 0;
}

static int sum_up(const struct run_api *v, struct weights *s, struct sonde_err *err)
{
	struct store_table *t = model_table(v->run, s->is_waits ? STORE_TABLE_SCHED : STORE_TABLE_SAMPLE);
	struct store_scan_opts opts = { .has_range = true, .from_ns = s->w.from_ns, .to_ns = s->w.to_ns, .threads = 1 };

	return t ? store_scan(t, &opts, s->is_waits ? on_waits : on_samples, s, err) : 0;
}

/* Returns the number of a function's name; 0 when out of memory. */
static uint32_t number_of(struct run_api *v, const char *text)
{
	uint64_t *number = map_put(&v->functions, text, strlen(text), NULL);

	if (!number)
		return 0;
	if (!*number)
		*number = v->functions.count;
	return VIEW_FUNCTION_NAMES + (uint32_t)*number;
}

static int open_stacks(struct run_api *v, struct sonde_err *err)
{
	return v->stacks ? 0 : model_stacks_open(&v->stacks, v->run, err);
}

/* Creates nodes for all stacks with weight, and for their callers first: a parent's number is smaller. */
static int place_stacks(struct run_api *v, struct flame *f, const struct weights *s)
{
	CLEANUP(cleanup_free) uint32_t *nodes = calloc(s->count, sizeof(*nodes));
	CLEANUP(cleanup_free) bool *is_needed = calloc(s->count, sizeof(*is_needed));

	if (!nodes || !is_needed)
		return -ENOMEM;
	for (size_t i = s->count - 1; i > 0; i--) {
		int64_t parent = model_stack_parent(v->stacks, (int64_t)i);

		is_needed[i] |= s->ns[i] > 0;
		if (is_needed[i] && parent > 0 && (size_t)parent < i)
			is_needed[parent] = true;
	}
	for (size_t i = 1; i < s->count; i++) {
		int64_t parent = model_stack_parent(v->stacks, (int64_t)i);
		const struct model_frame *frames;
		size_t count = is_needed[i] ? model_stack_place(v->stacks, (int64_t)i, &frames) : 0;

		nodes[i] = parent > 0 && (size_t)parent < i ? nodes[parent] : 0;
		for (size_t k = count; k-- > 0;) {
			nodes[i] = flame_child(f, nodes[i], number_of(v, model_frame_label(&frames[k])));
		}
		for (uint32_t n = nodes[i]; n && s->ns[i] > 0; n = f->nodes[n].parent) {
			f->nodes[n].total_ns += s->ns[i];
			f->nodes[n].count += s->times[i];
		}
	}
	/* A runnable thread that waits for a CPU has no stack. */
	for (size_t i = 0; i < s->state_count; i++) {
		const char *state = model_cname(v->run, s->stackless[i].state);
		char text[64];
		uint32_t n;

		snprintf(text, sizeof(text), "[no stack%s%s]", state ? ", " : "", state ? state : "");
		n = flame_child(f, 0, number_of(v, state && !strcmp(state, "preempted") ? "[ready, no CPU]" : text));
		f->nodes[n].total_ns += s->stackless[i].ns;
		f->nodes[n].count += s->stackless[i].times;
	}
	return 0;
}

static void write_names(const struct run_api *v, const struct flame *f, struct json *j)
{
	CLEANUP(cleanup_free) bool *is_used = calloc(v->functions.count + 1, sizeof(*is_used));

	json_karray(j, "names");
	for (size_t i = 1; i < f->count && is_used; i++)
		if (f->nodes[i].name > VIEW_FUNCTION_NAMES)
			is_used[f->nodes[i].name - VIEW_FUNCTION_NAMES] = true;
	for (size_t i = 0; i < v->functions.count && is_used; i++) {
		size_t bytes;
		const char *text = map_key(&v->functions, i, &bytes);

		if (!is_used[i + 1])
			continue;
		json_array(j);
		json_uint(j, VIEW_FUNCTION_NAMES + (uint32_t)i + 1);
		json_strn(j, text, bytes);
		json_str(j, "function");
		json_end(j);
	}
	json_end(j);
}

static int make(struct run_api *v, struct weights *s, struct flame *f, struct buf *out, struct sonde_err *err)
{
	struct json j;
	int rc = open_stacks(v, err);

	if (rc < 0)
		return rc;
	s->count = model_stacks_count(v->stacks) + 1;
	if (s->count > STACKS_MAX)
		s->count = STACKS_MAX;
	s->ns = calloc(s->count, sizeof(*s->ns));
	s->times = calloc(s->count, sizeof(*s->times));
	rc = s->ns && s->times ? sum_up(v, s, err) : err_sys(err, ENOMEM, "cannot sum up the samples");
	if (rc < 0)
		return rc;
	if (place_stacks(v, f, s) < 0)
		return err_sys(err, ENOMEM, "cannot build the flame graph");
	json_init(&j, out, false);
	json_object(&j);
	json_kint(&j, "from_ns", s->w.from_ns - v->start_ns);
	json_kint(&j, "to_ns", s->w.to_ns - v->start_ns);
	write_names(v, f, &j);
	flame_write(f, &j);
	json_end(&j);
	return 0;
}

int run_api_flame_of_samples(struct run_api *v, const struct run_api_query *q, bool is_waits, struct buf *out,
		struct sonde_err *err)
{
	struct weights s = { .process = -1, .tid = -1, .is_waits = is_waits };
	struct flame f;
	int rc = run_api_query_window(v, q, &s.w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "process", 0, INT64_MAX, &s.process, err);
	if (rc == 0)
		rc = run_api_query_int(q, "tid", 0, INT64_MAX, &s.tid, err);
	if (rc < 0)
		return rc;
	if (flame_init(&f) < 0)
		return err_sys(err, ENOMEM, "cannot build the flame graph");
	pthread_mutex_lock(&v->model);
	rc = make(v, &s, &f, out, err);
	pthread_mutex_unlock(&v->model);
	flame_release(&f);
	free(s.ns);
	free(s.times);
	return rc;
}

void run_api_json_stack(struct run_api *v, struct json *j, int64_t stack)
{
	size_t shown = 0;

	json_array(j);
	while (open_stacks(v, NULL) == 0 && stack > 0 && (uint64_t)stack <= model_stacks_count(v->stacks) &&
			shown < FRAMES_SHOWN_MAX) {
		const struct model_frame *frames;
		size_t count = model_stack_place(v->stacks, stack, &frames);

		for (size_t i = 0; i < count; i++, shown++)
			json_str(j, model_frame_label(&frames[i]));
		stack = model_stack_parent(v->stacks, stack);
	}
	json_end(j);
}
