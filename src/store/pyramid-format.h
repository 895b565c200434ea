/*
 * pyramid-format: the file format of a pyramid. Private to store/pyramid-*.c.
 */
#ifndef SONDE_STORE_PYRAMID_FORMAT_H
#define SONDE_STORE_PYRAMID_FORMAT_H

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

#endif
