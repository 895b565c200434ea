/*
 * Flame graphs of a window: the calls and spans of threads as paths of names.
 *
 * The lanes of a thread are walked in parallel, one cursor per depth: an event that begins inside another one is its
 * child. Only time inside the window counts, so the children of a node never exceed it, and the roots of a thread sum
 * to its busy time. Memory is used for distinct paths only, at most FLAME_NODES_MAX; further paths count for their
 * parent.
 */
#include "base/vec.h"
#include "serve/run-api-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walking {
	struct flame flame;
	struct run_api_window w;
	bool has_calls;
};

/* One depth of a thread and its next slice. */
struct lane {
	struct pyramid_cursor cursor;
	const struct pyramid_slice *next;
};

static int64_t inside(const struct run_api_window *w, int64_t start_ns, int64_t end_ns)
{
	start_ns = start_ns > w->from_ns ? start_ns : w->from_ns;
	end_ns = end_ns < w->to_ns ? end_ns : w->to_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Every slice of lanes[0] that begins before limit_ns belongs to parent; it is cut at the end of the parent. */
static void walk(struct walking *f, struct lane *lanes, size_t count, uint32_t parent, int64_t limit_ns)
{
	while (count && lanes->next && lanes->next->start_ns < limit_ns) {
		struct pyramid_slice s = *lanes->next;
		int64_t end_ns = pyramid_slice_end(&s) < limit_ns ? pyramid_slice_end(&s) : limit_ns;
		int64_t ns = inside(&f->w, s.start_ns, end_ns);
		bool is_shown = f->has_calls || model_lane_table(s.name) != MODEL_LANE_CALL;
		uint32_t node = is_shown ? flame_child(&f->flame, parent, s.name) : parent;

		if (node != parent) {
			f->flame.nodes[node].count++;
			f->flame.nodes[node].total_ns += ns;
		}
		walk(f, lanes + 1, count - 1, node, end_ns);
		lanes->next = pyramid_cursor_next(&lanes->cursor);
	}
}

/* The lanes of one thread, by depth. */
static void walk_thread(struct walking *f, const struct run_api *v, const uint32_t *by_depth, size_t depths)
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

/* Lanes of a thread are created in order of depth, but lanes of different threads are interleaved. */
static void walk_all(struct walking *f, const struct run_api *v, int64_t process, int64_t tid)
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
			if (lanes[k].key.what == key->what && lanes[k].key.process == key->process &&
					lanes[k].key.tid == key->tid)
				by_depth[depths++] = (uint32_t)k;
		walk_thread(f, v, by_depth, depths);
	}
}

static int spans(struct run_api *v, const struct run_api_query *q, struct walking *f, struct sonde_err *err)
{
	int64_t process = -1, tid = -1, calls = 1;
	int rc = run_api_query_int(q, "process", 0, INT64_MAX, &process, err);

	if (rc == 0)
		rc = run_api_query_int(q, "tid", 0, INT64_MAX, &tid, err);
	if (rc == 0)
		rc = run_api_query_int(q, "calls", 0, 1, &calls, err);
	if (rc < 0)
		return rc;
	f->has_calls = calls;
	walk_all(f, v, process, tid);
	return 0;
}

/* Arguments from, to, process, tid, source=spans|cpu|offcpu; with spans, calls=0 omits calls. */
int run_api_answer_flame(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	const char *source = q->get(q->arg, "source");
	struct walking f;
	int rc;

	if (source && strcmp(source, "spans") != 0) {
		bool is_waits = strcmp(source, "offcpu") == 0;

		if (!is_waits && strcmp(source, "cpu") != 0)
			return err_set(err, EINVAL, "'source' must be spans, cpu or offcpu");
		return run_api_flame_of_samples(v, q, is_waits, out, err);
	}
	rc = run_api_query_window(v, q, &f.w, err);
	if (rc < 0)
		return rc;
	if (flame_init(&f.flame) < 0)
		return err_sys(err, ENOMEM, "cannot build the flame graph");
	rc = spans(v, q, &f, err);
	if (rc == 0) {
		struct json j;

		json_init(&j, out, false);
		json_object(&j);
		json_kint(&j, "from_ns", f.w.from_ns - v->start_ns);
		json_kint(&j, "to_ns", f.w.to_ns - v->start_ns);
		flame_write(&f.flame, &j);
		json_end(&j);
	}
	flame_release(&f.flame);
	return rc;
}

#define SHOWN_RATIO 2e-4 /* of the total: narrower nodes are omitted from the response */

int flame_init(struct flame *f)
{
	*f = (struct flame){ .count = 1, .cap = 1024 };
	f->nodes = calloc(f->cap, sizeof(*f->nodes));
	return f->nodes ? 0 : -ENOMEM;
}

void flame_release(struct flame *f)
{
	map_release(&f->children);
	free(f->nodes);
}

uint32_t flame_child(struct flame *f, uint32_t parent, uint32_t name)
{
	uint64_t *number = map_put_int(&f->children, (uint64_t)parent << 32 | name, NULL);

	if (!number)
		return parent;
	if (*number)
		return (uint32_t)*number;
	if (!VEC_GROW(f->nodes, f->cap, f->count + 1, FLAME_NODES_MAX))
		return parent;
	f->nodes[f->count] = (struct flame_node){ .name = name, .parent = parent, .next = f->nodes[parent].first };
	f->nodes[parent].first = (uint32_t)f->count;
	*number = f->count;
	return (uint32_t)f->count++;
}

/* Depth first without recursion, since paths may be long. `parent` is an index of the list; parents precede
 * children. */
static void write_nodes(const struct flame *f, struct json *j, int64_t *place, int64_t least_ns)
{
	uint32_t at = 0;
	int64_t written = 0;

	for (;;) {
		const struct flame_node *n = &f->nodes[at];
		bool is_shown = at == 0 || n->total_ns >= least_ns;

		if (is_shown) {
			place[at] = written++;
			json_array(j);
			json_int(j, at ? place[n->parent] : -1);
			json_uint(j, n->name);
			json_uint(j, n->count);
			json_int(j, n->total_ns);
			json_end(j);
		}
		if (is_shown && n->first) {
			at = n->first;
			continue;
		}
		while (at && !f->nodes[at].next)
			at = f->nodes[at].parent;
		if (!at)
			return;
		at = f->nodes[at].next;
	}
}

void flame_write(const struct flame *f, struct json *j)
{
	int64_t *place = calloc(f->count, sizeof(*place)), all_ns = 0;

	for (uint32_t c = f->nodes[0].first; c; c = f->nodes[c].next)
		all_ns += f->nodes[c].total_ns;
	f->nodes[0].total_ns = all_ns;
	json_kstr(j, "unit", "ns");
	json_karray(j, "nodes");
	if (place)
		write_nodes(f, j, place, (int64_t)((double)all_ns * SHOWN_RATIO));
	json_end(j);
	free(place);
}
