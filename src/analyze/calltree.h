/*
 * calltree: weighted stacks as a tree of functions, outermost first.
 *
 * Stacks with the same functions share one path, whatever the instruction addresses. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_CALLTREE_H
#define SONDE_ANALYZE_CALLTREE_H

#include "analyze/pass.h"
#include "base/map.h"
#include "model/stacks.h"

struct calltree_node {
	uint64_t parent;   /* 0: none */
	uint64_t function; /* index in names */
	int64_t self_ns, total_ns;
	uint64_t child, next; /* first child, next sibling; 0: none */
};

struct calltree {
	struct model_stacks *stacks; /* borrowed */
	/* private */
	struct map names;
	struct map places;           /* (parent, function) to node */
	struct calltree_node *nodes; /* the first is the root */
	size_t count, cap;
};

#define CALLTREE_DEPTH_MAX 256 /* maximum frames of a stack; outer frames are dropped */
#define CALLTREE_SHARE 0.005   /* minimum share of the total for a function to be shown */

int calltree_init(struct calltree *t, struct model_stacks *stacks); /* 0 or -ENOMEM */
void calltree_release(struct calltree *t);
int calltree_add(struct calltree *t, int64_t stack, int64_t ns); /* 0 or -ENOMEM */
/* Adds the table "tree" to a section: depth, function, total and self time, heaviest first; only in JSON. */
void calltree_show(struct calltree *t, struct analyze *a, struct analyze_section *s);

#endif
