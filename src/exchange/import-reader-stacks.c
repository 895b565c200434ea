#include "exchange/import-reader-stacks.h"

#define CHAINS_MAX ((size_t)4 << 20)
#define FUNCTIONS_MAX ((size_t)1 << 20)

void foreign_stacks_init(struct foreign_stacks *s, struct pfw_dims *dims)
{
	*s = (struct foreign_stacks){ .dims = dims };
}

void foreign_stacks_release(struct foreign_stacks *s)
{
	map_release(&s->modules);
	map_release(&s->functions);
	map_release(&s->chains);
}

/* The number of a key in a map of at most `max` entries; 0 if it is full. */
static uint64_t number_of(struct foreign_stacks *s, struct map *map, size_t max, const void *key, size_t n,
		bool *is_new)
{
	uint64_t *number = map->count < max ? map_put(map, key, n, is_new) : map_get(map, key, n);

	if (!number) {
		s->refused++;
		return 0;
	}
	if (!*number)
		*number = map->count;
	return *number;
}

static uint64_t module_of(struct foreign_stacks *s, const struct foreign_frame *frame)
{
	static const struct store_module nulls = { .build_id = NULL };
	int64_t key[2] = { pfw_dims_string(s->dims, frame->module ? frame->module : "[unknown]",
					   frame->module ? frame->module_bytes : 9),
		frame->is_kernel };
	bool is_new = false;
	uint64_t number = number_of(s, &s->modules, FUNCTIONS_MAX, key, sizeof(key), &is_new);
	struct store_module row = nulls;

	if (!is_new)
		return number;
	row.module = (int64_t)number;
	row.kind = store_strings_of(&s->dims->sink->strings, frame->is_kernel ? "kernel" : "memory");
	row.path = key[0];
	row.pid = STORE_NULL;
	store_sink_add(s->dims->sink, STORE_TABLE_MODULE, &row);
	return number;
}

static uint64_t function_of(struct foreign_stacks *s, uint64_t module, const struct foreign_frame *frame)
{
	int64_t key[2] = { (int64_t)module, pfw_dims_string(s->dims, frame->function, frame->function_bytes) };
	bool is_new = false;
	uint64_t address = number_of(s, &s->functions, FUNCTIONS_MAX, key, sizeof(key), &is_new);
	struct store_symbol row = { .module = key[0], .start = (int64_t)address, .bytes = 1, .name = key[1] };

	if (is_new)
		store_sink_add(s->dims->sink, STORE_TABLE_SYMBOL, &row);
	return address;
}

int64_t foreign_stack(struct foreign_stacks *s, int64_t parent, const struct foreign_frame *frame)
{
	uint64_t module = module_of(s, frame), address = module ? function_of(s, module, frame) : 0, number;
	int64_t key[3] = { parent, (int64_t)module, (int64_t)address };
	bool is_new = false;
	struct store_stack row = { .parent = parent, .module = key[1], .address = key[2] };

	if (!address)
		return parent;
	number = number_of(s, &s->chains, CHAINS_MAX, key, sizeof(key), &is_new);
	if (!number)
		return parent;
	row.stack = (int64_t)number;
	if (is_new)
		store_sink_add(s->dims->sink, STORE_TABLE_STACK, &row);
	return (int64_t)number;
}
