/* Pyramids read in place; see pyramid.h. */
#include "store/pyramid-format.h"

#include "store/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PREFETCH_LINE 64 /* bytes */

struct pyramid {
	const uint8_t *bytes;
	size_t size;
	struct pyramid_head head;
	const struct pyramid_lane *lanes;
};

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
		return err_set(err, EBADMSG, "the pyramid is no file with anything in it");
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

struct cursor {
	const uint8_t *at, *end;
	bool is_over; /* the bytes ended inside a number */
};

static inline uint64_t varint(struct cursor *c)
{
	uint64_t v = 0;

	if (c->end - c->at >= PYRAMID_VARINT_MAX) { /* one or two bytes as a rule: without a look at the end for each */
		const uint8_t *at = c->at;

		if (at[0] < 0x80) {
			c->at = at + 1;
			return at[0];
		}
		if (at[1] < 0x80) {
			c->at = at + 2;
			return (uint64_t)at[1] << 7 | (at[0] & 0x7f);
		}
		if (at[2] < 0x80) {
			c->at = at + 3;
			return (uint64_t)at[2] << 14 | (uint64_t)(at[1] & 0x7f) << 7 | (at[0] & 0x7f);
		}
	}

	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *c->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->is_over = true;
	return 0;
}

static inline int64_t plus(int64_t a, uint64_t b)
{
	int64_t sum;

	return b > INT64_MAX || __builtin_add_overflow(a, (int64_t)b, &sum) ? INT64_MAX : sum;
}

static inline bool touches(const struct pyramid_visit *v, int64_t start_ns, int64_t end_ns)
{
	return start_ns < v->to_ns && (end_ns > v->from_ns || start_ns >= v->from_ns);
}

/* A number of which is known that it ends before the bytes do. */
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

/* Most leaves are far from the end of the bytes: one look at it for all their numbers. */
static inline void next_slice_of(struct cursor *c, bool is_inside, struct pyramid_slice *s)
{
	uint64_t gap, dur, name;

	if (is_inside) {
		gap = varint_inside(&c->at);
		dur = varint_inside(&c->at);
		name = varint_inside(&c->at);
	} else {
		gap = varint(c);
		dur = varint(c);
		name = varint(c);
	}
	s->start_ns = plus(s->start_ns, gap);
	s->dur_ns = plus(0, dur);
	s->name = (uint32_t)name;
}

static int visit_slices(struct cursor *c, const struct pyramid_node *node, const struct pyramid_visit *v)
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
		if (v->slice && touches(v, s.start_ns, plus(s.start_ns, (uint64_t)s.dur_ns)) &&
				(!v->names || v->names & pyramid_name_bit(s.name)))
			rc = v->slice(v->arg, &s);
	}
	return rc;
}

static int visit_points(struct cursor *c, const struct pyramid_node *node, const struct pyramid_visit *v)
{
	struct pyramid_point p = { .ts_ns = node->start_ns };
	int rc = 0;

	for (uint32_t i = 0; i < node->children && rc == 0; i++) {
		p.ts_ns = plus(p.ts_ns, varint(c));
		if (c->is_over || (size_t)(c->end - c->at) < sizeof(p.value))
			return -EBADMSG;
		memcpy(&p.value, c->at, sizeof(p.value));
		c->at += sizeof(p.value);
		if (v->point && touches(v, p.ts_ns, p.ts_ns))
			rc = v->point(v->arg, &p);
	}
	return rc;
}

static int visit(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *node,
		uint32_t level, uint64_t before, const struct pyramid_visit *v);

/* Neighbours on their way to be shown as one; count 0: none yet. */
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

/* What will be gone into is on its way from memory while its neighbours are looked at. */
static inline void prefetch(const struct pyramid *p, const struct pyramid_node *nodes, uint32_t count,
		const struct pyramid_visit *v)
{
	for (uint32_t i = 0; i < count; i++) {
		if (nodes[i].offset >= p->size || may_merge(v, &nodes[i]))
			continue;
		__builtin_prefetch(p->bytes + nodes[i].offset);
		__builtin_prefetch(p->bytes + nodes[i].offset + PREFETCH_LINE);
	}
}

/* As visiting each in turn, but with those merged that may be. */
static int visit_merging(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *parent,
		const struct pyramid_node *children, uint32_t level, const struct pyramid_visit *v)
{
	struct merged m = { .node.count = 0 };
	int rc = 0;

	prefetch(p, children, parent->children, v);

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
		rc = show_merged(&m, v);
		if (rc == 0)
			rc = visit(p, lane, n, level - 1, parent->offset, v);
	}
	return rc ? rc : show_merged(&m, v);
}

/* `before` is where the parent's block is: children lie in front of it, so that a visit of hostile bytes ends. */
static int visit(const struct pyramid *p, const struct pyramid_lane *lane, const struct pyramid_node *node,
		uint32_t level, uint64_t before, const struct pyramid_visit *v)
{
	const struct pyramid_node *children;
	struct cursor c;
	int rc = 0;

	if (!touches(v, node->start_ns, node->end_ns))
		return 0;
	if (v->names && lane->key.kind == PYRAMID_SLICES && !(v->names & node->names))
		return 0;
	if (span_of(node) <= (uint64_t)v->resolution_ns && v->resolution_ns) {
		rc = v->node ? v->node(v->arg, node) : 0;
		if (rc != PYRAMID_DEEPER)
			return rc;
		rc = 0;
	}
	if (node->children > PYRAMID_FAN || node->offset >= before)
		return -EBADMSG;
	if (level == 0) {
		c = (struct cursor){ .at = p->bytes + node->offset, .end = p->bytes + before };
		return (lane->key.kind == PYRAMID_SLICES ? visit_slices : visit_points)(&c, node, v);
	}
	if (node->offset % 8 || (before - node->offset) / sizeof(*children) < node->children)
		return -EBADMSG;
	children = (const struct pyramid_node *)(const void *)(p->bytes + node->offset);
	if (v->merge_gap_ns > 0 && v->node && lane->key.kind == PYRAMID_SLICES)
		return visit_merging(p, lane, node, children, level, v);
	for (uint32_t i = 0; i < node->children && rc == 0; i++) {
		const struct pyramid_node *child = &children[i];

		if (child->start_ns >= v->to_ns)
			break;
		if (child->end_ns < v->from_ns)
			continue;
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

/* Go to the children of this node, or into its leaf; false when the bytes make no sense. */
static bool descend(struct pyramid_cursor *c, const struct pyramid_node *node)
{
	uint64_t before = c->levels[c->level].offset;

	if (node->children > PYRAMID_FAN || node->offset >= before)
		return false;
	if (c->level == 0) {
		c->at = c->pyramid->bytes + node->offset;
		c->end = c->pyramid->bytes + before;
		c->left = node->children;
		c->slice.start_ns = node->start_ns;
		return true;
	}
	if (node->offset % 8 || (before - node->offset) / sizeof(*node) < node->children)
		return false;
	c->level--;
	c->levels[c->level].nodes = (const struct pyramid_node *)(const void *)(c->pyramid->bytes + node->offset);
	c->levels[c->level].count = node->children;
	c->levels[c->level].offset = node->offset;
	return true;
}

/* The next leaf that touches the window. */
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
		if (touches(&window, node->start_ns, node->end_ns) && !descend(c, node))
			return false;
	}
	return c->left;
}

static bool next_slice(struct pyramid_cursor *c)
{
	struct cursor bytes = { .at = c->at, .end = c->end };

	c->left--;
	c->slice.start_ns = plus(c->slice.start_ns, varint(&bytes));
	c->slice.dur_ns = plus(0, varint(&bytes));
	c->slice.name = (uint32_t)varint(&bytes);
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
	} while (!touches(&window, c->slice.start_ns, plus(c->slice.start_ns, (uint64_t)c->slice.dur_ns)));
	return &c->slice;
}
