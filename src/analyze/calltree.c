#include "analyze/calltree.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 2000

/* Returns the child of a node for a function, created if missing. 0: out of memory. */
static uint64_t child_of(struct calltree *t, uint64_t parent, uint64_t function)
{
	uint64_t key[2] = { parent, function }, *place;
	bool is_new;

	if (!VEC_GROW(t->nodes, t->cap, t->count + 1, VEC_MAX))
		return 0;
	place = map_put(&t->places, key, sizeof(key), &is_new);
	if (!place)
		return 0;
	if (!is_new)
		return *place;
	*place = t->count;
	t->nodes[t->count] = (struct calltree_node){ .parent = parent,
		.function = function,
		.next = t->nodes[parent].child };
	t->nodes[parent].child = t->count;
	return t->count++;
}

int calltree_init(struct calltree *t, struct model_stacks *stacks)
{
	*t = (struct calltree){ .stacks = stacks };
	if (!VEC_GROW(t->nodes, t->cap, 1, VEC_MAX))
		return -ENOMEM;
	t->nodes[t->count++] = (struct calltree_node){ .parent = 0 };
	return 0;
}

void calltree_release(struct calltree *t)
{
	map_release(&t->names);
	map_release(&t->places);
	free(t->nodes);
	*t = (struct calltree){ .count = 0 };
}

int calltree_add(struct calltree *t, int64_t stack, int64_t ns)
{
	int64_t functions[CALLTREE_DEPTH_MAX];
	size_t depth = 0;
	uint64_t node = 0;

	for (; stack != STORE_NULL && depth < CALLTREE_DEPTH_MAX; stack = model_stack_parent(t->stacks, stack)) {
		const struct model_frame *frames;
		size_t count = model_stack_place(t->stacks, stack, &frames);

		for (size_t i = 0; i < count && depth < CALLTREE_DEPTH_MAX; i++) {
			const char *label = model_frame_label(&frames[i]);
			bool is_new;
			uint64_t *number = map_put(&t->names, label, strlen(label) + 1, &is_new);

			if (number && is_new)
				*number = t->names.count - 1;
			functions[depth] = number ? (int64_t)*number : -ENOMEM;
			if (functions[depth++] < 0)
				return -ENOMEM;
		}
	}
	t->nodes[0].total_ns += ns;
	while (depth > 0) {
		node = child_of(t, node, (uint64_t)functions[--depth]);
		if (!node)
			return -ENOMEM;
		t->nodes[node].total_ns += ns;
	}
	t->nodes[node].self_ns += ns;
	return 0;
}

static const struct analyze_column columns[] = {
	{ "depth", "DEPTH", ANALYZE_COUNT },
	{ "function", "FUNCTION", ANALYZE_TEXT },
	{ "total_ns", "TOTAL", ANALYZE_NS },
	{ "self_ns", "SELF", ANALYZE_NS },
};

/* Sorts children by weight. There are few of each, so an insertion sort of the list. */
static void sort_children(struct calltree *t, uint64_t parent)
{
	uint64_t sorted = 0, node = t->nodes[parent].child;

	while (node) {
		uint64_t next = t->nodes[node].next, *at = &sorted;

		while (*at && t->nodes[*at].total_ns >= t->nodes[node].total_ns)
			at = &t->nodes[*at].next;
		t->nodes[node].next = *at;
		*at = node;
		node = next;
	}
	t->nodes[parent].child = sorted;
}

void calltree_show(struct calltree *t, struct analyze *a, struct analyze_section *s)
{
	struct analyze_table *table = analyze_table(s, "tree", "Call tree", columns, 4, ANALYZE_DETAIL);
	int64_t least = (int64_t)((double)t->nodes[0].total_ns * CALLTREE_SHARE);
	size_t depth = 0, rows = 0;
	uint64_t node;

	(void)a;
	sort_children(t, 0);
	node = t->nodes[0].child;
	while (node && rows < ROWS_MAX) {
		const struct calltree_node *n = &t->nodes[node];

		if (n->total_ns >= least) {
			analyze_cell_int(table, (int64_t)depth);
			analyze_cell_text(table, map_key(&t->names, n->function, &(size_t){ 0 }));
			analyze_cell_int(table, n->total_ns);
			analyze_cell_int(table, n->self_ns);
			rows++;
			sort_children(t, node);
			if (n->child) {
				node = n->child;
				depth++;
				continue;
			}
		}
		while (node && !t->nodes[node].next) {
			node = t->nodes[node].parent;
			depth -= node != 0;
		}
		node = node ? t->nodes[node].next : 0;
	}
	if (table)
		table->all_rows = t->count - 1;
}
