/* Iterate over the slices of a window, and find the points before and after an instant. */
#include "store/pyramid-private.h"

#include <errno.h>
#include <string.h>

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
