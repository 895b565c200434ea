/*
 * flame: paths of names with their time, as a tree. Private to serve/run-api*.c.
 */
#ifndef SONDE_SERVE_FLAME_H
#define SONDE_SERVE_FLAME_H

#include "base/map.h"
#include "serve/run-api-private.h"

#define FLAME_NODES_MAX 200000u

struct flame_node {
	uint32_t name, parent, first, next; /* 0: none; the root is 0 */
	uint64_t count;
	int64_t total_ns;
};

struct flame {
	struct flame_node *nodes;
	size_t count;
	/* private */
	size_t cap;
	struct map children; /* parent << 32 | name -> node */
};

int flame_init(struct flame *f);
void flame_release(struct flame *f);
/* Returns the child of a node; the node itself if the tree is full. */
uint32_t flame_child(struct flame *f, uint32_t parent, uint32_t name);
/*
 * Writes the members "unit" and "nodes" of an object: [parent, name, count, total] per node, parents first. The
 * narrowest nodes are omitted.
 */
void flame_write(const struct flame *f, struct json *j);

#endif
