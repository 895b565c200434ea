/*
 * Writing pyramids in one pass.
 *
 * Each lane keeps, for every level, up to 16 nodes that have no parent yet. The 16th completes a block: it is
 * written, and a node that summarizes it is added to the level above. The nodes of level 0 summarize leaves.
 */
#include "store/pyramid-private.h"

#include "base/buf.h"
#include "base/fs.h"
#include "store/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITE_BYTES ((size_t)1 << 20)

union event {
	struct pyramid_slice slice;
	struct pyramid_point point;
};

struct level {
	struct pyramid_node nodes[PYRAMID_FAN];
	unsigned count;
};

struct lane {
	struct pyramid_key key;
	int64_t last_ns;
	unsigned count; /* buffered events */
	unsigned levels;
	union event events[PYRAMID_FAN];
	struct level *level[PYRAMID_LEVELS_MAX];
};

struct pyramid_writer {
	int fd;
	uint64_t offset; /* of the end of `out` in the file */
	struct buf out;
	struct lane **lanes;
	size_t count, cap;
	uint64_t stamp;
	int failed; /* errno of the first failed write; nothing is written after it */
};

static void flush(struct pyramid_writer *w)
{
	if (!w->failed)
		w->failed = buf_error(&w->out);
	if (!w->failed)
		w->failed = fs_write_all(w->fd, w->out.data, w->out.len);
	buf_reset(&w->out);
}

static void put(struct pyramid_writer *w, const void *bytes, size_t n)
{
	buf_add(&w->out, bytes, n);
	w->offset += n;
	if (w->out.len >= WRITE_BYTES)
		flush(w);
}

/* Nodes are read in place, so they must be aligned. */
static void align(struct pyramid_writer *w)
{
	static const char zeros[8];

	put(w, zeros, -w->offset & 7);
}

static size_t varint(uint8_t *at, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		at[n++] = (uint8_t)(v | 0x80);
	at[n++] = (uint8_t)v;
	return n;
}

static int64_t sum_of(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void sum_slices(struct pyramid_node *n, const union event *events, unsigned count)
{
	n->start_ns = events[0].slice.start_ns;
	n->end_ns = n->start_ns;
	n->longest_ns = -1;
	for (unsigned i = 0; i < count; i++) {
		const struct pyramid_slice *s = &events[i].slice;

		n->end_ns = pyramid_slice_end(s) > n->end_ns ? pyramid_slice_end(s) : n->end_ns;
		n->busy_ns = sum_of(n->busy_ns, s->dur_ns);
		n->names |= pyramid_name_bit(s->name);
		if (s->dur_ns > n->longest_ns) {
			n->longest_ns = s->dur_ns;
			n->name = s->name;
		}
	}
}

static void sum_points(struct pyramid_node *n, const union event *events, unsigned count)
{
	n->start_ns = events[0].point.ts_ns;
	n->end_ns = events[count - 1].point.ts_ns;
	n->min = n->max = events[0].point.value;
	for (unsigned i = 0; i < count; i++) {
		n->min = events[i].point.value < n->min ? events[i].point.value : n->min;
		n->max = events[i].point.value > n->max ? events[i].point.value : n->max;
		n->sum += events[i].point.value;
	}
}

static int push(struct pyramid_writer *w, struct lane *l, unsigned level, const struct pyramid_node *node);

/* Write the buffered nodes of a level and add their parent to the level above. */
static int close_level(struct pyramid_writer *w, struct lane *l, unsigned level)
{
	struct level *at = l->level[level];
	struct pyramid_node parent;

	bool is_slices = l->key.kind == PYRAMID_SLICES;
	parent = at->nodes[0];
	for (unsigned i = 1; i < at->count; i++) {
		const struct pyramid_node *c = &at->nodes[i];

		parent.end_ns = c->end_ns > parent.end_ns ? c->end_ns : parent.end_ns;
		parent.count += c->count;
		if (!is_slices) {
			parent.min = c->min < parent.min ? c->min : parent.min;
			parent.max = c->max > parent.max ? c->max : parent.max;
			parent.sum += c->sum;
			continue;
		}
		parent.busy_ns = sum_of(parent.busy_ns, c->busy_ns);
		parent.names |= c->names;
		if (c->longest_ns > parent.longest_ns) {
			parent.longest_ns = c->longest_ns;
			parent.name = c->name;
		}
	}
	align(w);
	parent.offset = w->offset;
	parent.children = at->count;
	put(w, at->nodes, at->count * sizeof(at->nodes[0]));
	at->count = 0;
	return push(w, l, level + 1, &parent);
}

static int push(struct pyramid_writer *w, struct lane *l, unsigned level, const struct pyramid_node *node)
{
	if (level >= PYRAMID_LEVELS_MAX)
		return -EOVERFLOW;
	if (!l->level[level]) {
		l->level[level] = calloc(1, sizeof(struct level));
		if (!l->level[level])
			return -ENOMEM;
		l->levels = level + 1;
	}
	l->level[level]->nodes[l->level[level]->count++] = *node;
	return l->level[level]->count < PYRAMID_FAN ? 0 : close_level(w, l, level);
}

static int close_leaf(struct pyramid_writer *w, struct lane *l)
{
	struct pyramid_node node = { .count = l->count, .children = l->count, .offset = w->offset };
	bool is_slices = l->key.kind == PYRAMID_SLICES;
	uint8_t bytes[PYRAMID_FAN * 3 * PYRAMID_VARINT_MAX];
	int64_t last_ns;
	size_t n = 0;

	(is_slices ? sum_slices : sum_points)(&node, l->events, l->count);
	last_ns = node.start_ns;
	for (unsigned i = 0; i < l->count; i++) {
		const union event *e = &l->events[i];
		int64_t start_ns = is_slices ? e->slice.start_ns : e->point.ts_ns;

		n += varint(bytes + n, (uint64_t)start_ns - (uint64_t)last_ns);
		last_ns = start_ns;
		if (is_slices) {
			n += varint(bytes + n, (uint64_t)e->slice.dur_ns);
			n += varint(bytes + n, e->slice.name);
		} else {
			memcpy(bytes + n, &e->point.value, sizeof(e->point.value));
			n += sizeof(e->point.value);
		}
	}
	put(w, bytes, n);
	l->count = 0;
	return push(w, l, 0, &node);
}

int pyramid_writer_open(struct pyramid_writer **out, int fd, uint64_t stamp, struct sonde_err *err)
{
	struct pyramid_writer *w = calloc(1, sizeof(*w));
	struct pyramid_head room = { .version = 0 };

	if (!w)
		return err_sys(err, ENOMEM, "cannot create a pyramid");
	w->fd = fd;
	w->stamp = stamp;
	buf_init(&w->out, 0);
	put(w, &room, sizeof(room));
	*out = w;
	return 0;
}

int64_t pyramid_add_lane(struct pyramid_writer *w, const struct pyramid_key *key)
{
	struct lane *l;

	if (w->count == PYRAMID_LANES_MAX)
		return -EOVERFLOW;
	if (w->count == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 64;
		struct lane **lanes = reallocarray(w->lanes, cap, sizeof(struct lane *));

		if (!lanes)
			return -ENOMEM;
		w->lanes = lanes;
		w->cap = cap;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->key = *key;
	l->last_ns = INT64_MIN;
	w->lanes[w->count] = l;
	return (int64_t)w->count++;
}

static int add(struct pyramid_writer *w, struct lane *l, const union event *event)
{
	l->events[l->count++] = *event;
	if (l->count < PYRAMID_FAN)
		return 0;
	return close_leaf(w, l);
}

int pyramid_add_slice(struct pyramid_writer *w, int64_t lane, const struct pyramid_slice *slice)
{
	struct lane *l = w->lanes[lane];
	union event e = { .slice = *slice };

	if (e.slice.start_ns < l->last_ns)
		e.slice.start_ns = l->last_ns;
	if (e.slice.dur_ns < 0)
		e.slice.dur_ns = 0;
	l->last_ns = e.slice.start_ns;
	return add(w, l, &e);
}

int pyramid_add_point(struct pyramid_writer *w, int64_t lane, const struct pyramid_point *point)
{
	struct lane *l = w->lanes[lane];
	union event e = { .point = *point };

	if (e.point.ts_ns < l->last_ns)
		e.point.ts_ns = l->last_ns;
	l->last_ns = e.point.ts_ns;
	return add(w, l, &e);
}

static int finish(struct pyramid_writer *w, struct pyramid_lane *lanes)
{
	struct pyramid_head head = { .magic = PYRAMID_MAGIC, .version = PYRAMID_VERSION, .stamp = w->stamp };
	size_t bytes = w->count * sizeof(*lanes);

	for (size_t i = 0; i < w->count; i++) {
		/* Write all buffered nodes, level by level, until one node is left: the root. */
		struct lane *l = w->lanes[i];
		int rc = l->count ? close_leaf(w, l) : 0;

		lanes[i] = (struct pyramid_lane){ .key = l->key };
		for (unsigned level = 0; rc == 0 && level < l->levels; level++) {
			const struct level *at = l->level[level];

			if (level + 1 == l->levels && at->count == 1) {
				lanes[i].root = at->nodes[0];
				lanes[i].level = level;
			} else if (at->count) {
				rc = close_level(w, l, level);
			}
		}

		if (rc < 0)
			return rc;
	}
	align(w);
	head.lanes_offset = w->offset;
	head.lanes = w->count;
	head.hash = store_hash(lanes, bytes, w->stamp);
	put(w, lanes, bytes);
	flush(w);
	if (!w->failed && pwrite(w->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		w->failed = errno ? -errno : -EIO;
	return w->failed;
}

int pyramid_writer_close(struct pyramid_writer *w, struct sonde_err *err)
{
	struct pyramid_lane *lanes = calloc(w->count + 1, sizeof(*lanes));
	int rc = lanes ? finish(w, lanes) : -ENOMEM;

	free(lanes);
	pyramid_writer_free(w);
	return rc < 0 ? err_sys(err, -rc, "cannot write the pyramid") : 0;
}

void pyramid_writer_free(struct pyramid_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++) {
		for (unsigned level = 0; level < w->lanes[i]->levels; level++)
			free(w->lanes[i]->level[level]);
		free(w->lanes[i]);
	}
	free(w->lanes);
	buf_release(&w->out);
	free(w);
}
