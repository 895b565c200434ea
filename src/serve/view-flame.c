/*
 * Flame graphs of a window: the calls and spans of threads as paths of names.
 *
 * A thread's lanes are walked side by side, one cursor a depth: what begins
 * inside an event is its child. Time is what lies inside the window, so the
 * children of a node never have more than it, and a thread's roots have the
 * thread's busy time. Memory is for distinct paths, at most NODES_MAX; what is
 * beyond counts with its parent.
 */
#include "serve/view-private.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

#define NODES_MAX 200000u
#define SHOWN_RATIO 2e-4 /* of the whole: narrower nodes are left out of the answer */

struct node {
	uint32_t name, parent, first, next; /* 0: none; the root is 0 */
	uint64_t count;
	int64_t total_ns, children_ns;
};

struct flame {
	struct node *nodes;
	size_t count, cap;
	struct map children; /* parent << 32 | name -> node */
	struct view_window w;
	bool has_calls;
};

/* One depth of a thread and its next slice. */
struct lane {
	struct pyramid_cursor cursor;
	const struct pyramid_slice *next;
};

static uint32_t child_of(struct flame *f, uint32_t parent, uint32_t name)
{
	uint64_t *number = map_put_int(&f->children, (uint64_t)parent << 32 | name, NULL);

	if (!number)
		return parent;
	if (*number)
		return (uint32_t)*number;
	if (f->count >= NODES_MAX)
		return parent;
	if (f->count == f->cap) {
		size_t cap = 2 * f->cap;
		struct node *nodes = reallocarray(f->nodes, cap, sizeof(*nodes));

		if (!nodes)
			return parent;
		f->nodes = nodes;
		f->cap = cap;
	}
	f->nodes[f->count] = (struct node){ .name = name, .parent = parent, .next = f->nodes[parent].first };
	f->nodes[parent].first = (uint32_t)f->count;
	*number = f->count;
	return (uint32_t)f->count++;
}

static int64_t end_of(const struct pyramid_slice *s)
{
	int64_t end_ns;

	return __builtin_add_overflow(s->start_ns, s->dur_ns, &end_ns) ? INT64_MAX : end_ns;
}

static int64_t inside(const struct view_window *w, int64_t start_ns, int64_t end_ns)
{
	start_ns = start_ns > w->from_ns ? start_ns : w->from_ns;
	end_ns = end_ns < w->to_ns ? end_ns : w->to_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Everything at lanes[0] that begins before limit_ns belongs to parent; what sticks out of it is cut at its end. */
static void walk(struct flame *f, struct lane *lanes, size_t count, uint32_t parent, int64_t limit_ns)
{
	while (count && lanes->next && lanes->next->start_ns < limit_ns) {
		struct pyramid_slice s = *lanes->next;
		int64_t end_ns = end_of(&s) < limit_ns ? end_of(&s) : limit_ns;
		int64_t ns = inside(&f->w, s.start_ns, end_ns);
		bool is_shown = f->has_calls || model_lane_table(s.name) != MODEL_LANE_CALL;
		uint32_t node = is_shown ? child_of(f, parent, s.name) : parent;

		if (node != parent) {
			f->nodes[node].count++;
			f->nodes[node].total_ns += ns;
			f->nodes[parent].children_ns += ns;
		}
		walk(f, lanes + 1, count - 1, node, end_ns);
		lanes->next = pyramid_cursor_next(&lanes->cursor);
	}
}

static bool is_same_thread(const struct pyramid_key *a, const struct pyramid_key *b)
{
	return a->what == b->what && a->process == b->process && a->tid == b->tid;
}

/* The lanes of the thread whose depth 0 is lane `first`. */
static void walk_thread(struct flame *f, const struct view *v, const uint32_t *by_depth, size_t depths)
{
	struct lane *lanes = calloc(depths, sizeof(*lanes));

	if (!lanes)
		return;
	for (size_t d = 0; d < depths; d++) {
		pyramid_cursor_init(&lanes[d].cursor, v->pyramid, by_depth[d], f->w.from_ns, f->w.to_ns);
		lanes[d].next = pyramid_cursor_next(&lanes[d].cursor);
	}
	walk(f, lanes, depths, 0, INT64_MAX);
	free(lanes);
}

/* Lanes of a thread are made in the order of depth, but those of threads are mixed. */
static void walk_all(struct flame *f, const struct view *v, int64_t process, int64_t tid)
{
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(v->pyramid, &count);

	for (size_t i = 0; i < count; i++) {
		const struct pyramid_key *key = &lanes[i].key;
		uint32_t by_depth[MODEL_DEPTH_MAX];
		size_t depths = 0;

		if (key->what != MODEL_LANE_THREAD || key->depth || (process >= 0 && key->process != process) ||
				(tid >= 0 && key->tid != tid))
			continue;
		for (size_t k = i; k < count && depths < MODEL_DEPTH_MAX; k++)
			if (is_same_thread(&lanes[k].key, key))
				by_depth[depths++] = (uint32_t)k;
		walk_thread(f, v, by_depth, depths);
	}
}

/* [parent, name, count, total] of a node and those beneath it; a parent is a number of the list, before its children. */
static void write_node(struct json *j, const struct flame *f, uint32_t number, int64_t parent, int64_t *written,
		int64_t least_ns)
{
	const struct node *n = &f->nodes[number];
	int64_t self = (*written)++;

	json_array(j);
	json_int(j, parent);
	json_uint(j, n->name);
	json_uint(j, n->count);
	json_int(j, number ? n->total_ns : n->children_ns);
	json_end(j);
	for (uint32_t c = n->first; c; c = f->nodes[c].next)
		if (f->nodes[c].total_ns >= least_ns)
			write_node(j, f, c, self, written, least_ns);
}

static void write_flame(const struct view *v, const struct flame *f, struct buf *out)
{
	int64_t written = 0;
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kint(&j, "from_ns", f->w.from_ns - v->start_ns);
	json_kint(&j, "to_ns", f->w.to_ns - v->start_ns);
	json_kstr(&j, "unit", "ns");
	json_key(&j, "nodes");
	json_array(&j);
	write_node(&j, f, 0, -1, &written, (int64_t)((double)f->nodes[0].children_ns * SHOWN_RATIO));
	json_end(&j);
	json_end(&j);
}

/* from, to, process, tid, calls=0 to leave out calls. */
int view_answer_flame(struct view *v, const struct view_query *q, struct buf *out, struct sonde_err *err)
{
	struct flame f = { .count = 1, .cap = 1024 };
	int64_t process = -1, tid = -1, calls = 1;
	int rc = view_query_window(v, q, &f.w, err);

	if (rc == 0)
		rc = view_query_int(q, "process", 0, INT64_MAX, &process, err);
	if (rc == 0)
		rc = view_query_int(q, "tid", 0, INT64_MAX, &tid, err);
	if (rc == 0)
		rc = view_query_int(q, "calls", 0, 1, &calls, err);
	if (rc < 0)
		return rc;
	f.has_calls = calls;
	f.nodes = calloc(f.cap, sizeof(*f.nodes));
	if (!f.nodes)
		return err_sys(err, ENOMEM, "cannot make the flame graph");
	walk_all(&f, v, process, tid);
	write_flame(v, &f, out);
	map_release(&f.children);
	free(f.nodes);
	return 0;
}
