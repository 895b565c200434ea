/*
 * calltree: stacks with weights as a tree of functions, outermost first.
 *
 * Chains of the same functions are one path, wherever in them the instruction
 * was. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_CALLTREE_H
#define SONDE_ANALYZE_CALLTREE_H

#include "analyze/pass.h"
#include "base/map.h"
#include "model/stacks.h"

struct calltree_node {
	uint64_t parent;   /* 0: none */
	uint64_t function; /* number in names */
	int64_t self_ns, total_ns;
	uint64_t child, next; /* first child, next of the same parent; 0: none */
};

struct calltree {
	struct model_stacks *stacks; /* the caller's */
	/* private */
	struct map names;
	struct map places;           /* (parent, function) to node */
	struct calltree_node *nodes; /* the first is the root */
	size_t count, cap;
};

#define CALLTREE_DEPTH_MAX 256 /* frames of a chain; what is further out is left out */
#define CALLTREE_SHARE 0.005   /* of all, that a function must have to be shown */

int calltree_init(struct calltree *t, struct model_stacks *stacks); /* 0 or -ENOMEM */
void calltree_release(struct calltree *t);
int calltree_add(struct calltree *t, int64_t stack, int64_t ns); /* 0 or -ENOMEM */
/* As the table "tree" of a section: depth, function, total and self time, the heaviest first; only in JSON. */
void calltree_show(struct calltree *t, struct analyze *a, struct analyze_section *s);

#endif
