#include "model/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE SIZE_MAX

/* Links between processes by index in the table. */
struct family {
	const struct store_process *processes;
	size_t count;
	struct links {
		size_t parent, first_child, last_child, next;
		bool is_listed;
	} * links;
	struct model_tree_row *rows;
	size_t listed;
};

static void link_child(struct family *f, size_t parent, size_t child)
{
	struct links *above = &f->links[parent];

	f->links[child].parent = parent;
	if (above->first_child == NONE)
		above->first_child = child;
	else
		f->links[above->last_child].next = child;
	above->last_child = child;
}

static void link_all(struct family *f, const struct model_run *run)
{
	for (size_t i = 0; i < f->count; i++)
		f->links[i] = (struct links){ .parent = NONE, .first_child = NONE, .last_child = NONE, .next = NONE };
	for (size_t i = 0; i < f->count; i++) {
		const struct store_process *parent = model_process(run, f->processes[i].parent);

		if (parent && parent != &f->processes[i])
			link_child(f, (size_t)(parent - f->processes), i);
	}
}

static void list(struct family *f, size_t i, unsigned depth)
{
	f->links[i].is_listed = true;
	f->rows[f->listed++] = (struct model_tree_row){ .process = &f->processes[i], .depth = depth };
}

/* The next process that is not listed, below the parent's others; if there are none, go up. */
static size_t step(const struct family *f, size_t i, size_t root, unsigned *depth)
{
	if (f->links[i].first_child != NONE && !f->links[f->links[i].first_child].is_listed) {
		++*depth;
		return f->links[i].first_child;
	}
	while (i != root && (f->links[i].next == NONE || f->links[f->links[i].next].is_listed)) {
		i = f->links[i].parent;
		--*depth;
	}
	return i == root ? NONE : f->links[i].next;
}

static void list_below(struct family *f, size_t root)
{
	unsigned depth = 0;

	for (size_t i = root; i != NONE; i = step(f, i, root, &depth))
		list(f, i, depth);
}

int model_tree(const struct model_run *run, struct model_tree_row **rows, size_t *count, struct sonde_err *err)
{
	struct family f = { .processes = NULL };

	f.processes = model_processes(run, &f.count);
	f.links = calloc(f.count + 1, sizeof(*f.links));
	f.rows = calloc(f.count + 1, sizeof(*f.rows));
	if (!f.links || !f.rows) {
		free(f.links);
		free(f.rows);
		return err_sys(err, ENOMEM, "cannot order the processes");
	}
	link_all(&f, run);
	for (size_t i = 0; i < f.count; i++)
		if (f.links[i].parent == NONE)
			list_below(&f, i);
	for (size_t i = 0; i < f.count; i++)
		if (!f.links[i].is_listed)
			list_below(&f, i); /* descends from itself */
	free(f.links);
	*rows = f.rows;
	*count = f.listed;
	return 0;
}
