/*
 * Add the rows of a run to lanes. One pass over each table in time order; spans and calls are merged because they
 * nest in each other.
 */
#include "base/map.h"
#include "base/vec.h"
#include "model/lanes.h"
#include "model/model-private.h"
#include "model/rows.h"
#include "store/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Nest the boxes of one thread and add them to lanes by depth. Private to model/.
 *
 * Boxes are added in order of start. Timestamps of one instant that were converted with different clock pairs differ
 * by up to a microsecond, so an outer box may come slightly after an inner one, and neighbours may overlap slightly.
 * Boxes are delayed until no enclosing one can follow; an outer box that came late is moved to the start of its inner
 * one.
 */

#define NEST_WAITING_MAX 16

struct lanes_box {
	struct pyramid_slice slice;
	int64_t depth; /* as recorded by the program; -1: unknown */
};

struct lanes_thread {
	int64_t process, tid;
	/* private */
	unsigned depths, cap;
	int64_t *ends; /* by depth: when the last box there ends */
	int64_t *lanes;
	unsigned waiting_count;
	struct lanes_box waiting[NEST_WAITING_MAX]; /* in order of start, the longest first */
};

static int add_depth(struct lanes_thread *t, struct pyramid_writer *w)
{
	struct pyramid_key key = { .kind = PYRAMID_SLICES,
		.what = MODEL_LANE_THREAD,
		.process = t->process,
		.tid = t->tid,
		.name = -1,
		.depth = t->depths };

	if (t->depths == t->cap) {
		unsigned cap = t->cap ? 2 * t->cap : 4;
		int64_t *ends = reallocarray(t->ends, cap, sizeof(*ends)), *lanes;

		if (!ends)
			return -ENOMEM;
		t->ends = ends;
		lanes = reallocarray(t->lanes, cap, sizeof(*lanes));
		if (!lanes)
			return -ENOMEM;
		t->lanes = lanes;
		t->cap = cap;
	}
	t->ends[t->depths] = INT64_MIN;
	t->lanes[t->depths] = pyramid_add_lane(w, &key);
	return t->lanes[t->depths] < 0 ? (int)t->lanes[t->depths] : (int)t->depths++;
}

/* True if the box that ends at open_ns encloses this one. An overlap within the clock's slack does not count. */
static bool is_around(int64_t open_ns, const struct pyramid_slice *s)
{
	int64_t overlap_ns;

	if (open_ns <= s->start_ns)
		return false;
	if (pyramid_slice_end(s) <= open_ns || __builtin_sub_overflow(open_ns, s->start_ns, &overlap_ns))
		return true;
	return overlap_ns > MODEL_LANES_SLACK_NS || overlap_ns > s->dur_ns / 2;
}

/* Place it one level below the deepest open box, truncated if it exceeds that box by no more than the slack. */
static int place(struct lanes_thread *t, struct pyramid_writer *w, struct pyramid_slice *s)
{
	unsigned depth = t->depths;
	int64_t end_ns = pyramid_slice_end(s);

	while (depth && !is_around(t->ends[depth - 1], s))
		depth--;
	if (depth && end_ns > t->ends[depth - 1] && end_ns - t->ends[depth - 1] <= MODEL_LANES_SLACK_NS) {
		end_ns = t->ends[depth - 1];
		s->dur_ns = end_ns - s->start_ns;
	}
	if (depth >= MODEL_DEPTH_MAX)
		depth = MODEL_DEPTH_MAX - 1;
	if (depth == t->depths) {
		int rc = add_depth(t, w);

		if (rc < 0)
			return rc;
	}
	t->ends[depth] = end_ns > t->ends[depth] ? end_ns : t->ends[depth];
	/* Deeper boxes ended with the previous box; without this the slack would keep them open. */
	for (unsigned d = depth + 1; d < t->depths; d++)
		t->ends[d] = INT64_MIN;
	return pyramid_add_slice(w, t->lanes[depth], s);
}

static int flush_first(struct lanes_thread *t, struct pyramid_writer *w, unsigned count)
{
	int rc = 0;

	for (unsigned i = 0; i < count && rc == 0; i++)
		rc = place(t, w, &t->waiting[i].slice);
	t->waiting_count -= count;
	memmove(t->waiting, t->waiting + count, t->waiting_count * sizeof(t->waiting[0]));
	return rc;
}

/* True if `outer`, which came later, really encloses `inner`. */
static bool encloses(const struct lanes_box *outer, const struct lanes_box *inner)
{
	int64_t inner_end_ns = pyramid_slice_end(&inner->slice);

	if (outer->slice.start_ns >= inner_end_ns || outer->slice.dur_ns < inner->slice.dur_ns)
		return false;
	if (pyramid_slice_end(&outer->slice) < inner_end_ns &&
			inner_end_ns - pyramid_slice_end(&outer->slice) > MODEL_LANES_SLACK_NS)
		return false;
	if (outer->depth >= 0 && inner->depth >= 0)
		return outer->depth < inner->depth;
	return inner_end_ns - outer->slice.start_ns > inner->slice.dur_ns / 2;
}

static void wait_for(struct lanes_thread *t, struct lanes_box box)
{
	unsigned at = t->waiting_count;

	for (unsigned i = t->waiting_count; i-- > 0;) {
		struct pyramid_slice *s = &t->waiting[i].slice;

		if (!encloses(&box, &t->waiting[i]))
			continue;
		box.slice.dur_ns += box.slice.start_ns - s->start_ns;
		box.slice.start_ns = s->start_ns;
		at = i;
	}
	memmove(&t->waiting[at + 1], &t->waiting[at], (t->waiting_count - at) * sizeof(box));
	t->waiting[at] = box;
	t->waiting_count++;
}

static int lanes_thread_add(struct lanes_thread *t, struct pyramid_writer *w, const struct lanes_box *box)
{
	unsigned ready = 0;
	int rc = 0;

	while (ready < t->waiting_count &&
			box->slice.start_ns - t->waiting[ready].slice.start_ns > MODEL_LANES_SLACK_NS)
		ready++;
	if (ready == 0 && t->waiting_count == NEST_WAITING_MAX)
		ready = NEST_WAITING_MAX / 2;
	if (ready)
		rc = flush_first(t, w, ready);
	if (rc == 0)
		wait_for(t, *box);
	return rc;
}

#define PROGRESS_ROWS 0x3ffff

struct filling {
	struct pyramid_writer *writer;
	const struct model_lanes_opts *opts;
	struct map numbers; /* keys of any kind -> number of a thread or lane, from 1 */
	struct lanes_thread *threads;
	size_t count, cap;
	struct lanes_thread *last; /* most rows belong to the thread of the previous row */
	struct map before;         /* lane of steps -> time of the last step */
	uint64_t rows, all;
};

/* What distinguishes a thread or lane from others of its kind. */
struct filling_key {
	int64_t what, process, tid, name;
	int64_t depth;
};

static struct lanes_thread *thread_of(struct filling *f, int64_t process, int64_t tid)
{
	struct filling_key key = { .what = MODEL_LANE_THREAD, .process = process, .tid = tid };

	if (f->last && f->last->process == process && f->last->tid == tid)
		return f->last;
	uint64_t *number = map_put(&f->numbers, &key, sizeof(key), NULL);
	if (!number)
		return NULL;
	if (!*number) {
		if (!VEC_GROW(f->threads, f->cap, f->count + 1, VEC_MAX))
			return NULL;
		f->threads[f->count] = (struct lanes_thread){ .process = process, .tid = tid };
		*number = ++f->count;
	}
	f->last = &f->threads[*number - 1];
	return f->last;
}

static int add_box(struct filling *f, int64_t process, int64_t tid, const struct lanes_box *box)
{
	struct lanes_box known = *box;

	if (box->slice.start_ns == STORE_NULL)
		return 0;
	known.slice.dur_ns = box->slice.dur_ns > 0 ? box->slice.dur_ns : 0;
	struct lanes_thread *t = thread_of(f, process, tid);
	return t ? lanes_thread_add(t, f->writer, &known) : -ENOMEM;
}

/* The lane of this key, created if it is new; -errno on failure. */
static int64_t lane_of(struct filling *f, const struct filling_key *key, enum pyramid_kind kind)
{
	struct pyramid_key made = { .kind = kind,
		.what = (uint32_t)key->what,
		.process = key->process,
		.tid = key->tid,
		.name = key->name,
		.depth = (uint32_t)key->depth };
	uint64_t *number = map_put(&f->numbers, key, sizeof(*key), NULL);

	if (!number)
		return -ENOMEM;
	if (*number)
		return (int64_t)*number - 1;
	int64_t lane = pyramid_add_lane(f->writer, &made);
	if (lane >= 0)
		*number = (uint64_t)lane + 1;
	return lane;
}

static int add_span(struct filling *f, const void *row)
{
	const struct store_span *r = row;
	struct lanes_box box = { { r->ts_ns, r->dur_ns, model_lane_name(r->name, MODEL_LANE_SPAN) }, r->depth };

	return add_box(f, r->process, r->tid, &box);
}

static int add_call(struct filling *f, const void *row)
{
	const struct store_io *r = row;
	struct lanes_box box = { { r->ts_ns, r->dur_ns, model_lane_name(r->call, MODEL_LANE_CALL) }, -1 };

	return add_box(f, r->process, r->tid, &box);
}

static int add_mark(struct filling *f, const void *row)
{
	const struct store_mark *r = row;
	struct filling_key key = { MODEL_LANE_MARKS, r->process, r->tid, -1, 0 };
	struct pyramid_slice s = { r->ts_ns, 0, model_lane_name(r->name, MODEL_LANE_MARK) };
	int64_t lane = lane_of(f, &key, PYRAMID_SLICES);

	return lane < 0 ? (int)lane : pyramid_add_slice(f->writer, lane, &s);
}

static int add_step(struct filling *f, const void *row)
{
	const struct store_step *r = row;
	struct filling_key key = { MODEL_LANE_STEPS, r->process, r->tid, r->name, 0 };
	int64_t lane = lane_of(f, &key, PYRAMID_SLICES);
	bool is_first;
	uint64_t *before = lane < 0 ? NULL : map_put_int(&f->before, (uint64_t)lane, &is_first);
	struct pyramid_slice s = { .name = (uint32_t)r->index };

	if (!before)
		return lane < 0 ? (int)lane : -ENOMEM;
	s.start_ns = is_first ? r->ts_ns : (int64_t)*before;
	s.dur_ns = r->ts_ns - s.start_ns;
	*before = (uint64_t)r->ts_ns;
	return pyramid_add_slice(f->writer, lane, &s);
}

static int add_value(struct filling *f, const void *row)
{
	const struct store_counter *r = row;
	struct filling_key key = { MODEL_LANE_COUNTER, r->process, -1, r->name, 0 };
	struct pyramid_point p = { r->ts_ns, r->value };
	int64_t lane = __builtin_isnan(r->value) ? 0 : lane_of(f, &key, PYRAMID_POINTS);

	if (lane < 0 || __builtin_isnan(r->value))
		return (int)lane;
	return pyramid_add_point(f->writer, lane, &p);
}

static int add_state(struct filling *f, const void *row)
{
	const struct store_sched *r = row;
	struct filling_key key = { MODEL_LANE_STATES, r->process, r->tid, -1, 0 };
	struct pyramid_slice s = { r->ts_ns, r->dur_ns > 0 ? r->dur_ns : 0,
		model_lane_name(r->state, MODEL_LANE_STATE) };
	int64_t lane = lane_of(f, &key, PYRAMID_SLICES);

	return lane < 0 ? (int)lane : pyramid_add_slice(f->writer, lane, &s);
}

static int add_sample(struct filling *f, const void *row)
{
	const struct store_sample *r = row;
	struct filling_key key = { MODEL_LANE_SAMPLES, r->process, r->tid, -1, 0 };
	struct pyramid_slice s = { r->ts_ns, 0, r->stack > 0 && r->stack <= UINT32_MAX ? (uint32_t)r->stack : 0 };
	int64_t lane = lane_of(f, &key, PYRAMID_SLICES);

	return lane < 0 ? (int)lane : pyramid_add_slice(f->writer, lane, &s);
}

/* An unknown queue is treated as the first. */
static int add_command(struct filling *f, const void *row)
{
	const struct store_gpu *r = row;
	struct filling_key key = { MODEL_LANE_GPU, r->process, -1, r->device,
		r->queue > 0 && r->queue < UINT16_MAX ? r->queue : 0 };
	struct pyramid_slice s = { r->ts_ns, r->dur_ns > 0 ? r->dur_ns : 0, model_lane_name(r->name, MODEL_LANE_SPAN) };
	int64_t lane = lane_of(f, &key, PYRAMID_SLICES);

	return lane < 0 ? (int)lane : pyramid_add_slice(f->writer, lane, &s);
}

/* A table and the function that adds its rows. Rows of one pass are merged in time order. */
struct source {
	enum store_table_id table;
	int ts_ns, dur_ns; /* columns; -1: none */
	int (*add)(struct filling *f, const void *row);
	int pass;
};

static const struct source sources[] = {
	{ STORE_TABLE_SPAN, STORE_SPAN_ts_ns, STORE_SPAN_dur_ns, add_span, 0 },
	{ STORE_TABLE_IO, STORE_IO_ts_ns, STORE_IO_dur_ns, add_call, 0 },
	{ STORE_TABLE_MARK, STORE_MARK_ts_ns, -1, add_mark, 1 },
	{ STORE_TABLE_STEP, STORE_STEP_ts_ns, -1, add_step, 2 },
	{ STORE_TABLE_COUNTER, STORE_COUNTER_ts_ns, -1, add_value, 3 },
	{ STORE_TABLE_SCHED, STORE_SCHED_ts_ns, STORE_SCHED_dur_ns, add_state, 4 },
	{ STORE_TABLE_SAMPLE, STORE_SAMPLE_ts_ns, -1, add_sample, 5 },
	{ STORE_TABLE_GPU, STORE_GPU_ts_ns, STORE_GPU_dur_ns, add_command, 6 },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))
#define PASSES 7

struct stream {
	const struct source *source;
	struct model_rows *rows;
	const int64_t *row; /* the next row; NULL at the end */
};

static int advance(struct stream *s, struct sonde_err *err)
{
	const void *row;
	int rc = model_rows_next(s->rows, &row, err);

	s->row = rc < 0 ? NULL : row;
	return rc;
}

static bool is_before(const struct stream *a, const struct stream *b)
{
	int64_t a_ns = a->row[a->source->ts_ns], b_ns = b->row[b->source->ts_ns];

	if (a_ns != b_ns || a->source->dur_ns < 0 || b->source->dur_ns < 0)
		return a_ns < b_ns;
	return a->row[a->source->dur_ns] > b->row[b->source->dur_ns];
}

static int merge(struct filling *f, struct stream *streams, size_t count, struct sonde_err *err)
{
	for (;;) {
		struct stream *first = NULL;

		for (size_t i = 0; i < count; i++)
			if (streams[i].row && (!first || is_before(&streams[i], first)))
				first = &streams[i];
		if (!first)
			return 0;
		int rc = first->source->add(f, first->row);
		if (rc < 0)
			return err_sys(err, -rc, "cannot build the pyramid");
		if (f->opts && f->opts->progress && (f->rows & PROGRESS_ROWS) == 0)
			f->opts->progress(f->opts->arg, f->rows, f->all);
		f->rows++;
		rc = advance(first, err);
		if (rc < 0)
			return rc;
	}
}

static int fill_pass(struct filling *f, struct model_run *run, int pass, struct sonde_err *err)
{
	struct stream streams[SOURCES] = { 0 };
	struct model_rows_opts opts = { .is_longest_first = true };
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < SOURCES && rc == 0; i++) {
		struct stream *s = &streams[count];

		if (sources[i].pass != pass)
			continue;
		s->source = &sources[i];
		rc = model_rows_open(&s->rows, model_table(run, sources[i].table), &opts, err);
		count += rc == 0;
		if (rc == 0)
			rc = advance(s, err);
	}
	if (rc == 0)
		rc = merge(f, streams, count, err);
	for (size_t i = 0; i < count; i++)
		model_rows_free(streams[i].rows);
	return rc;
}

int lanes_fill(struct pyramid_writer *w, struct model_run *run, const struct model_lanes_opts *opts,
		struct sonde_err *err)
{
	struct filling f = { .writer = w, .opts = opts };
	int rc = 0;

	for (size_t i = 0; i < SOURCES; i++) {
		const struct store_table *t = model_table(run, sources[i].table);

		f.all += t ? store_table_rows(t) : 0;
	}
	for (int pass = 0; pass < PASSES && rc == 0; pass++)
		rc = fill_pass(&f, run, pass, err);
	for (size_t i = 0; i < f.count && rc == 0; i++)
		rc = flush_first(&f.threads[i], w, f.threads[i].waiting_count);
	for (size_t i = 0; i < f.count; i++) {
		free(f.threads[i].ends);
		free(f.threads[i].lanes);
	}
	free(f.threads);
	map_release(&f.numbers);
	map_release(&f.before);
	return rc;
}

uint64_t lanes_stamp(const struct model_run *run)
{
	uint64_t stamp = SOURCES;

	for (size_t i = 0; i < SOURCES; i++) {
		const struct store_table *t = model_table(run, sources[i].table);
		const char *name = store_schemas[sources[i].table]->name;
		uint64_t facts[3] = { i, t ? store_table_rows(t) : 0, t ? store_table_blocks(t) : 0 };

		stamp = store_hash(name, strlen(name), stamp);
		stamp = store_hash(facts, sizeof(facts), stamp);
	}
	return stamp;
}
