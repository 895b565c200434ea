#include "serve/flame.h"

#include <errno.h>
#include <stdlib.h>

#define SHOWN_RATIO 2e-4 /* of the total: narrower nodes are omitted from the response */

int flame_init(struct flame *f)
{
	*f = (struct flame){ .count = 1, .cap = 1024 };
	f->nodes = calloc(f->cap, sizeof(*f->nodes));
	return f->nodes ? 0 : -ENOMEM;
}

void flame_release(struct flame *f)
{
	map_release(&f->children);
	free(f->nodes);
}

uint32_t flame_child(struct flame *f, uint32_t parent, uint32_t name)
{
	uint64_t *number = map_put_int(&f->children, (uint64_t)parent << 32 | name, NULL);

	if (!number)
		return parent;
	if (*number)
		return (uint32_t)*number;
	if (f->count >= FLAME_NODES_MAX)
		return parent;
	if (f->count == f->cap) {
		size_t cap = 2 * f->cap;
		struct flame_node *nodes = reallocarray(f->nodes, cap, sizeof(*nodes));

		if (!nodes)
			return parent;
		f->nodes = nodes;
		f->cap = cap;
	}
	f->nodes[f->count] = (struct flame_node){ .name = name, .parent = parent, .next = f->nodes[parent].first };
	f->nodes[parent].first = (uint32_t)f->count;
	*number = f->count;
	return (uint32_t)f->count++;
}

/* Depth first without recursion, since paths may be long. `parent` is an index of the list; parents precede
 * children. */
static void write_nodes(const struct flame *f, struct json *j, int64_t *place, int64_t least_ns)
{
	uint32_t at = 0;
	int64_t written = 0;

	for (;;) {
		const struct flame_node *n = &f->nodes[at];
		bool is_shown = at == 0 || n->total_ns >= least_ns;

		if (is_shown) {
			place[at] = written++;
			json_array(j);
			json_int(j, at ? place[n->parent] : -1);
			json_uint(j, n->name);
			json_uint(j, n->count);
			json_int(j, n->total_ns);
			json_end(j);
		}
		if (is_shown && n->first) {
			at = n->first;
			continue;
		}
		while (at && !f->nodes[at].next)
			at = f->nodes[at].parent;
		if (!at)
			return;
		at = f->nodes[at].next;
	}
}

void flame_write(const struct flame *f, struct json *j)
{
	int64_t *place = calloc(f->count, sizeof(*place)), all_ns = 0;

	for (uint32_t c = f->nodes[0].first; c; c = f->nodes[c].next)
		all_ns += f->nodes[c].total_ns;
	f->nodes[0].total_ns = all_ns;
	json_kstr(j, "unit", "ns");
	json_key(j, "nodes");
	json_array(j);
	if (place)
		write_nodes(f, j, place, (int64_t)((double)all_ns * SHOWN_RATIO));
	json_end(j);
	free(place);
}
