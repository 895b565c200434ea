/* Names are in symbol-names.c. */
#include "probe/perf/stack-table.h"

#include "probe/perf/symbol-names.h"

#include <stdlib.h>
#include <string.h>

#define STACKS_MAX (1u << 24)

void stacks_init(struct stacks *s, struct store_sink *sink)
{
	memset(s, 0, sizeof(*s));
	s->sink = sink;
}

void stacks_release(struct stacks *s)
{
	map_release(&s->ids);
	free(s->unnamed);
	memset(s, 0, sizeof(*s));
}

static void remember(struct stacks *s, const struct module *module, uint64_t address)
{
	if (s->unnamed_count == s->unnamed_cap) {
		size_t cap = s->unnamed_cap ? 2 * s->unnamed_cap : 256;
		struct stacks_address *more = realloc(s->unnamed, cap * sizeof(*more));
		if (!more)
			return;
		s->unnamed = more;
		s->unnamed_cap = cap;
	}
	s->unnamed[s->unnamed_count++] = (struct stacks_address){ module, address };
}

int64_t stacks_add(struct stacks *s, int64_t parent, const struct module *module, uint64_t address)
{
	struct {
		int64_t parent, module;
		uint64_t address;
	} key = { parent, module ? module->number : STORE_NULL, address };
	bool is_new;
	if (s->ids.count >= STACKS_MAX)
		return parent;
	uint64_t *id = map_put(&s->ids, &key, sizeof(key), &is_new);
	if (!id)
		return STORE_NULL;
	if (!is_new)
		return (int64_t)*id;
	*id = s->ids.count;
	struct store_stack row = { .stack = (int64_t)*id,
		.parent = parent,
		.module = key.module,
		.address = (int64_t)address };
	store_sink_add(s->sink, STORE_TABLE_STACK, &row);
	if (module && (module->kind != MODULE_ELF || module->fd >= 0))
		remember(s, module, address);
	return row.stack;
}

static int by_place(const void *a, const void *b)
{
	const struct stacks_address *x = a, *y = b;
	if (x->module != y->module)
		return x->module->number < y->module->number ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

void stacks_name(struct stacks *s)
{
	size_t kept = 0;
	if (!s->unnamed_count)
		return;
	qsort(s->unnamed, s->unnamed_count, sizeof(*s->unnamed), by_place);
	for (size_t i = 0; i < s->unnamed_count; i++)
		if (!i || by_place(&s->unnamed[i], &s->unnamed[kept - 1]))
			s->unnamed[kept++] = s->unnamed[i];
	for (size_t from = 0, to; from < kept; from = to) {
		for (to = from; to < kept && s->unnamed[to].module == s->unnamed[from].module; to++)
			;
		names_emit(s->sink, s->unnamed + from, to - from);
	}
	s->unnamed_count = 0;
}
