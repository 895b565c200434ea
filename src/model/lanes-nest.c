#include "model/lanes-nest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int lanes_thread_add(struct lanes_thread *t, struct pyramid_writer *w, const struct lanes_box *box)
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

int lanes_thread_flush(struct lanes_thread *t, struct pyramid_writer *w)
{
	return flush_first(t, w, t->waiting_count);
}

void lanes_thread_release(struct lanes_thread *t)
{
	free(t->ends);
	free(t->lanes);
}
