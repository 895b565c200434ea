/*
 * pyramid-private: the file format of a pyramid, and how the numbers of an open one are read. Private to pyramid-*.c.
 */
#ifndef SONDE_STORE_PYRAMID_PRIVATE_H
#define SONDE_STORE_PYRAMID_PRIVATE_H

#include "store/pyramid.h"

#define PYRAMID_MAGIC "SONDEPYR"
#define PYRAMID_VERSION 1u
#define PYRAMID_LANES_MAX ((uint64_t)1 << 22)
#define PYRAMID_VARINT_MAX 10 /* bytes */

struct pyramid_head {
	char magic[8];
	uint32_t version;
	uint32_t zero;
	uint64_t stamp;
	uint64_t lanes_offset;
	uint64_t lanes;
	uint64_t hash; /* of the lanes, seeded with the stamp */
};

_Static_assert(sizeof(struct pyramid_head) == 48 && sizeof(struct pyramid_node) == 64 &&
				sizeof(struct pyramid_key) == 40 && sizeof(struct pyramid_lane) == 112,
		"layout");

struct pyramid {
	const uint8_t *bytes;
	size_t size;
	struct pyramid_head head;
	const struct pyramid_lane *lanes;
};

/* Bytes being read. */
struct pyramid_bytes {
	const uint8_t *at, *end;
	bool is_over; /* the input ended inside a number */
};

static inline uint64_t pyramid_varint(struct pyramid_bytes *c)
{
	uint64_t v = 0;

	if (c->end - c->at >=
			PYRAMID_VARINT_MAX) { /* usually one or two bytes: decode without checking the end for each */
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

static inline int64_t pyramid_plus(int64_t a, uint64_t b)
{
	int64_t sum;

	return b > INT64_MAX || __builtin_add_overflow(a, (int64_t)b, &sum) ? INT64_MAX : sum;
}

static inline bool pyramid_touches(const struct pyramid_visit *v, int64_t start_ns, int64_t end_ns)
{
	return start_ns < v->to_ns && (end_ns > v->from_ns || start_ns >= v->from_ns);
}

/* The children of a node, which must lie before offset `before`; NULL if they do not. */
static inline const struct pyramid_node *pyramid_children(const struct pyramid *p, const struct pyramid_node *node,
		uint64_t before)
{
	if (node->children > PYRAMID_FAN || node->offset >= before || node->offset % 8 ||
			(before - node->offset) / sizeof(*node) < node->children)
		return NULL;
	return (const struct pyramid_node *)(const void *)(p->bytes + node->offset);
}

#endif
