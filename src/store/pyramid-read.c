/* Reading pyramids in place. */
#include "store/hash.h"
#include "store/pyramid-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PREFETCH_LINE 64  /* bytes */
#define PREFETCH_LEAF 128 /* typical size of a leaf */

static bool is_whole(struct pyramid *p)
{
	struct pyramid_head *h = &p->head;

	if (p->size < sizeof(*h))
		return false;
	memcpy(h, p->bytes, sizeof(*h));
	if (memcmp(h->magic, PYRAMID_MAGIC, sizeof(h->magic)) != 0 || h->version != PYRAMID_VERSION)
		return false;
	if (h->lanes > PYRAMID_LANES_MAX || h->lanes_offset > p->size || h->lanes_offset % 8 ||
			(p->size - h->lanes_offset) / sizeof(*p->lanes) < h->lanes)
		return false;
	p->lanes = (const struct pyramid_lane *)(const void *)(p->bytes + h->lanes_offset);
	if (store_hash(p->lanes, h->lanes * sizeof(*p->lanes), h->stamp) != h->hash)
		return false;
	for (uint64_t i = 0; i < h->lanes; i++)
		if (p->lanes[i].level >= PYRAMID_LEVELS_MAX)
			return false;
	return true;
}

int pyramid_open(struct pyramid **out, int fd, struct sonde_err *err)
{
	struct pyramid *p = calloc(1, sizeof(*p));
	struct stat st;
	void *map;

	if (!p)
		return err_sys(err, ENOMEM, "cannot open the pyramid");
	if (fstat(fd, &st) < 0 || st.st_size <= 0 || !S_ISREG(st.st_mode)) {
		free(p);
		return err_set(err, EBADMSG, "the pyramid is empty or not a regular file");
	}
	p->size = (size_t)st.st_size;
	map = mmap(NULL, p->size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		free(p);
		return err_sys(err, errno, "cannot map the pyramid");
	}
	p->bytes = map;
	if (!is_whole(p)) {
		pyramid_free(p);
		return err_set(err, EBADMSG, "the pyramid is damaged or of another version");
	}
	*out = p;
	return 0;
}

void pyramid_free(struct pyramid *p)
{
	if (!p)
		return;
	munmap((void *)(uintptr_t)p->bytes, p->size);
	free(p);
}

uint64_t pyramid_stamp(const struct pyramid *p)
{
	return p->head.stamp;
}

uint64_t pyramid_bytes(const struct pyramid *p)
{
	return p->size;
}

const struct pyramid_lane *pyramid_lanes(const struct pyramid *p, size_t *count)
{
	*count = p->head.lanes;
	return p->lanes;
}

/* Decode a number that is known to end before the input does. */
static inline uint64_t varint_inside(const uint8_t **at)
{
	const uint8_t *b = *at;
	uint64_t v = b[0] & 0x7f;
	unsigned n = 1;

	for (; b[n - 1] & 0x80 && n < PYRAMID_VARINT_MAX; n++)
		v |= (uint64_t)(b[n] & 0x7f) << (7 * n);
	*at = b + n;
	return v;
}

/* Most leaves are far from the end of the input: check it once for all their numbers. */
static inline void next_slice_of(struct pyramid_bytes *c, bool is_inside, struct pyramid_slice *s)
{
	uint64_t gap, dur, name;

	if (is_inside) {
		gap = varint_inside(&c->at);
		dur = varint_inside(&c->at);
		name = varint_inside(&c->at);
	} else {
		gap = pyramid_varint(c);
		dur = pyramid_varint(c);
		name = pyramid_varint(c);
	}
	s->start_ns = pyramid_plus(s->start_ns, gap);
	s->dur_ns = pyramid_plus(0, dur);
	s->name = (uint32_t)name;
}

static int visit_slices(struct pyramid_bytes *c, const struct pyramid_node *node, const struct pyramid_visit *v)
{
	struct pyramid_slice s = { .start_ns = node->start_ns };
	bool is_inside = c->end - c->at >= (ptrdiff_t)node->children * 3 * PYRAMID_VARINT_MAX;
	int rc = 0;

	for (uint32_t i = 0; i < node->children && rc == 0; i++) {
		next_slice_of(c, is_inside, &s);
		if (c->is_over)
			return -EBADMSG;
		if (s.start_ns >= v->to_ns)
			break;
		if (v->slice && pyramid_touches(v, s.start_ns, pyramid_plus(s.start_ns, (uint64_t)s.dur_ns)) &&
				(!v->names || v->names & pyramid_name_bit(s.name)))
			rc = v->slice(v->arg, &s);
	}
	return rc;
}

static int visit_points(struct pyramid_bytes *c, const struct pyramid_node *node, const struct pyramid_visit *v)
{
	struct pyramid_point p = { .ts_ns = node->start_ns };
	int rc = 0;

	for (uint32_t i = 0; i < node->children && rc == 0; i++) {
		p.ts_ns = pyramid_plus(p.ts_ns, pyramid_varint(c));
		if (c->is_over || (size_t)(c->end - c->at) < sizeof(p.value))
			return -EBADMSG;
		memcpy(&p.value, c->at, sizeof(p.value));
		c->at += sizeof(p.value);
		if (v->point && pyramid_touches(v, p.ts_ns, p.ts_ns))
			rc = v->point(v->arg, &p);
	}
	return rc;
}

static int visit(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *node,
		uint32_t level, uint64_t before, const struct pyramid_visit *v);

/* Neighbours being merged into one node; count 0: none yet. */
struct merged {
	struct pyramid_node node;
};

static inline uint64_t span_of(const struct pyramid_node *n)
{
	return (uint64_t)n->end_ns - (uint64_t)n->start_ns;
}

static inline bool may_merge(const struct pyramid_visit *v, const struct pyramid_node *n)
{
	uint64_t room_ns;

	return n->longest_ns < v->merge_long_ns && span_of(n) <= (uint64_t)v->resolution_ns &&
			(__builtin_mul_overflow(n->count, (uint64_t)v->merge_gap_ns, &room_ns) ||
					span_of(n) <= room_ns);
}

static inline bool fits(const struct pyramid_visit *v, const struct pyramid_node *m, const struct pyramid_node *n)
{
	return (uint64_t)n->end_ns - (uint64_t)m->start_ns <= (uint64_t)v->resolution_ns &&
			(n->start_ns <= m->end_ns ||
					(uint64_t)n->start_ns - (uint64_t)m->end_ns < (uint64_t)v->merge_gap_ns);
}

static int show_merged(struct merged *m, const struct pyramid_visit *v)
{
	int rc = m->node.count ? v->node(v->arg, &m->node) : 0;

	m->node.count = 0;
	return rc == PYRAMID_DEEPER ? 0 : rc;
}

static inline void merge(struct pyramid_node *m, const struct pyramid_node *n)
{
	if (!m->count) {
		*m = *n;
		m->children = 0;
		return;
	}
	m->end_ns = n->end_ns > m->end_ns ? n->end_ns : m->end_ns;
	m->count += n->count;
	if (__builtin_add_overflow(m->busy_ns, n->busy_ns, &m->busy_ns))
		m->busy_ns = INT64_MAX;
	if (n->longest_ns > m->longest_ns) {
		m->longest_ns = n->longest_ns;
		m->name = n->name;
	}
}

/* Memory latency dominates: while a child is visited, prefetch what its next sibling points to. */
static inline void prefetch_next(const struct pyramid *p, const struct pyramid_node *nodes, uint32_t i, uint32_t count,
		uint32_t level)
{
	uint64_t bytes = level ? PYRAMID_FAN * sizeof(*nodes) : PREFETCH_LEAF;

	if (i + 1 >= count || nodes[i + 1].offset >= p->size)
		return;
	for (uint64_t at = 0; at < bytes; at += PREFETCH_LINE)
		__builtin_prefetch(p->bytes + nodes[i + 1].offset + at);
}

/* Visit each child in turn, merging those that may be merged. */
static int visit_merging(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *parent,
		const struct pyramid_node *children, uint32_t level, const struct pyramid_visit *v)
{
	struct merged m = { .node.count = 0 };
	int rc = 0;

	for (uint32_t i = 0; i < parent->children && rc == 0; i++) {
		const struct pyramid_node *n = &children[i];

		if (n->start_ns >= v->to_ns)
			break;
		if (n->end_ns < v->from_ns)
			continue;
		if (may_merge(v, n)) {
			if (m.node.count && !fits(v, &m.node, n))
				rc = show_merged(&m, v);
			merge(&m.node, n);
			continue;
		}
		prefetch_next(p, children, i, parent->children, level - 1);
		rc = show_merged(&m, v);
		if (rc == 0)
			rc = visit(p, lane, n, level - 1, parent->offset, v);
	}
	return rc ? rc : show_merged(&m, v);
}

static int visit_leaf(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *node,
		uint64_t before, const struct pyramid_visit *v)
{
	struct pyramid_bytes c;

	if (node->children > PYRAMID_FAN || node->offset >= before)
		return -EBADMSG;
	c = (struct pyramid_bytes){ .at = p->bytes + node->offset, .end = p->bytes + before };
	return (lane->key.kind == PYRAMID_SLICES ? visit_slices : visit_points)(&c, node, v);
}

/*
 * `before` is the offset of the parent's block. Children must lie before it, so a visit of untrusted input
 * terminates.
 */
static int visit(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *node,
		uint32_t level, uint64_t before, const struct pyramid_visit *v)
{
	const struct pyramid_node *children;
	int rc = 0;

	if (!pyramid_touches(v, node->start_ns, node->end_ns))
		return 0;
	if (v->names && lane->key.kind == PYRAMID_SLICES && !(v->names & node->names))
		return 0;
	if (span_of(node) <= (uint64_t)v->resolution_ns && v->resolution_ns) {
		rc = v->node ? v->node(v->arg, node) : 0;
		if (rc != PYRAMID_DEEPER)
			return rc;
		rc = 0;
	}
	if (level == 0)
		return visit_leaf(p, lane, node, before, v);
	children = pyramid_children(p, node, before);
	if (!children)
		return -EBADMSG;
	if (v->merge_gap_ns > 0 && v->node && lane->key.kind == PYRAMID_SLICES)
		return visit_merging(p, lane, node, children, level, v);
	for (uint32_t i = 0; i < node->children && rc == 0; i++) {
		const struct pyramid_node *child = &children[i];

		if (child->start_ns >= v->to_ns)
			break;
		if (child->end_ns < v->from_ns)
			continue;
		if (span_of(child) > (uint64_t)v->resolution_ns)
			prefetch_next(p, children, i, node->children, level - 1);
		rc = visit(p, lane, &children[i], level - 1, node->offset, v);
	}
	return rc;
}

int pyramid_visit(const struct pyramid *p, size_t lane, const struct pyramid_visit *v)
{
	const struct pyramid_lane *l = &p->lanes[lane];

	if (lane >= p->head.lanes || !l->root.count)
		return 0;
	return visit(p, l, &l->root, l->level, p->head.lanes_offset, v);
}

/* Iterate over the slices of a window, and find the points before and after an instant. */

void pyramid_cursor_init(struct pyramid_cursor *c, const struct pyramid *p, size_t lane, int64_t from_ns, int64_t to_ns)
{
	const struct pyramid_lane *l = &p->lanes[lane];

	*c = (struct pyramid_cursor){ .pyramid = p, .from_ns = from_ns, .to_ns = to_ns };
	if (lane >= p->head.lanes || !l->root.count || l->key.kind != PYRAMID_SLICES)
		return;
	c->level = l->level;
	c->levels[c->level].nodes = &l->root;
	c->levels[c->level].count = 1;
	c->levels[c->level].offset = p->head.lanes_offset;
}

/* Descend to the children of this node, or into its leaf; false if the offset is invalid. */
static bool descend(struct pyramid_cursor *c, const struct pyramid_node *node)
{
	uint64_t before = c->levels[c->level].offset;

	const struct pyramid_node *children;

	if (c->level == 0) {
		if (node->children > PYRAMID_FAN || node->offset >= before)
			return false;
		c->at = c->pyramid->bytes + node->offset;
		c->end = c->pyramid->bytes + before;
		c->left = node->children;
		c->slice.start_ns = node->start_ns;
		return true;
	}
	children = pyramid_children(c->pyramid, node, before);
	if (!children)
		return false;
	c->level--;
	c->levels[c->level].nodes = children;
	c->levels[c->level].count = node->children;
	c->levels[c->level].offset = node->offset;
	return true;
}

/* The next leaf that overlaps the window. */
static bool next_leaf(struct pyramid_cursor *c)
{
	struct pyramid_visit window = { .from_ns = c->from_ns, .to_ns = c->to_ns };

	while (c->level < PYRAMID_LEVELS_MAX && !c->left) {
		const struct pyramid_node *node = c->levels[c->level].nodes;

		if (!c->levels[c->level].count) {
			c->level++;
			continue;
		}
		c->levels[c->level].nodes++;
		c->levels[c->level].count--;
		if (pyramid_touches(&window, node->start_ns, node->end_ns) && !descend(c, node))
			return false;
	}
	return c->left;
}

static bool next_slice(struct pyramid_cursor *c)
{
	struct pyramid_bytes bytes = { .at = c->at, .end = c->end };

	c->left--;
	c->slice.start_ns = pyramid_plus(c->slice.start_ns, pyramid_varint(&bytes));
	c->slice.dur_ns = pyramid_plus(0, pyramid_varint(&bytes));
	c->slice.name = (uint32_t)pyramid_varint(&bytes);
	c->at = bytes.at;
	return !bytes.is_over;
}

const struct pyramid_slice *pyramid_cursor_next(struct pyramid_cursor *c)
{
	struct pyramid_visit window = { .from_ns = c->from_ns, .to_ns = c->to_ns };

	do {
		if (!c->left && !next_leaf(c))
			return NULL;
		if (!next_slice(c)) {
			c->level = PYRAMID_LEVELS_MAX;
			c->left = 0;
			return NULL;
		}
	} while (!pyramid_touches(&window, c->slice.start_ns,
			pyramid_plus(c->slice.start_ns, (uint64_t)c->slice.dur_ns)));
	return &c->slice;
}

/* Points are in time order: of the children that start before an instant, the last one has the last point. */
static uint32_t child_of(const struct pyramid_node *children, uint32_t count, int64_t ts_ns, bool is_before)
{
	uint32_t i = 0;

	if (is_before)
		while (i + 1 < count && children[i + 1].start_ns < ts_ns)
			i++;
	else
		while (i < count && children[i].end_ns < ts_ns)
			i++;
	return i;
}

static int find_in_leaf(const struct pyramid *p, const struct pyramid_node *node, uint64_t before, int64_t ts_ns,
		bool is_before, struct pyramid_point *out)
{
	struct pyramid_bytes c = { .at = p->bytes + node->offset, .end = p->bytes + before };
	struct pyramid_point point = { .ts_ns = node->start_ns };
	int found = 0;

	if (node->children > PYRAMID_FAN || node->offset >= before)
		return -EBADMSG;
	for (uint32_t i = 0; i < node->children; i++) {
		point.ts_ns = pyramid_plus(point.ts_ns, pyramid_varint(&c));
		if (c.is_over || (size_t)(c.end - c.at) < sizeof(point.value))
			return -EBADMSG;
		memcpy(&point.value, c.at, sizeof(point.value));
		c.at += sizeof(point.value);
		if (point.ts_ns >= ts_ns && is_before)
			break;
		if (point.ts_ns < ts_ns && !is_before)
			continue;
		*out = point;
		found = 1;
		if (!is_before)
			break;
	}
	return found;
}

int pyramid_point_beside(const struct pyramid *p, size_t lane, int64_t ts_ns, bool is_before, struct pyramid_point *out)
{
	const struct pyramid_lane *l = &p->lanes[lane];
	const struct pyramid_node *node = &l->root;
	uint64_t before = p->head.lanes_offset;

	if (lane >= p->head.lanes || !node->count || l->key.kind != PYRAMID_POINTS)
		return 0;
	for (uint32_t level = l->level; level > 0; level--) {
		const struct pyramid_node *children = pyramid_children(p, node, before);
		uint32_t i = children ? child_of(children, node->children, ts_ns, is_before) : 0;

		if (!children || !node->children)
			return -EBADMSG;
		if (i == node->children)
			return 0;
		before = node->offset;
		node = &children[i];
	}
	return find_in_leaf(p, node, before, ts_ns, is_before, out);
}
