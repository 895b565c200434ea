#include "model/stacks.h"

#include "base/arena.h"
#include "base/map.h"
#include "model/dimensions.h"
#include "model/elfnames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 64           /* of one address */
#define PYTHON_LINES (1u << 24) /* addresses of a Python function: one per line */

struct module {
	const char *path;
	const char *build_id; /* hexadecimal; NULL: unknown */
	bool is_elf, is_kernel, is_python;
	bool was_opened;
	struct elfnames *elf;
	struct namecache *cache;
};

struct symbol {
	int64_t module;
	uint64_t start, bytes; /* bytes 0: to the next symbol */
	int64_t name;
	uint64_t order; /* of its row: the last one wins */
};

struct node {
	int64_t parent, module;
	uint64_t address;
};

struct place {
	const struct model_frame *frames; /* NULL: not named yet */
	size_t count;
};

struct model_stacks {
	struct model_run *run;
	struct arena arena;
	struct node *nodes;     /* by id - 1 */
	size_t node_count;      /* room for them */
	size_t last_node;       /* the highest id */
	struct module *modules; /* by number - 1 */
	size_t module_count;
	struct symbol *symbols; /* by module, start, order */
	size_t symbol_count;
	struct map places; /* (module, address) -> struct place * */
};

/* Loading. */

/* Call take for each row of a table, if it exists. */
static int each_row(struct model_run *run, enum store_table_id id, int (*take)(struct model_stacks *, const void *),
		struct model_stacks *s, struct sonde_err *err)
{
	struct store_table *t = model_table(run, id);
	struct store_batch batch = STORE_BATCH_INIT;
	int64_t row[STORE_COLUMNS_MAX];
	int rc = 0;

	for (size_t b = 0; t && !rc && b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue; /* model_losses reports it */
		for (size_t i = 0; !rc && i < batch.rows; i++) {
			store_batch_row(&batch, i, row);
			rc = take(s, row);
		}
	}
	store_batch_release(&batch);
	return rc ? err_sys(err, -rc, "cannot load the table '%s'", store_schemas[id]->name) : 0;
}

/* Make room for index `id` in an array of `size`-byte items, zeroed; false on failure. */
static bool make_room(void *array, size_t *count, int64_t id, size_t size)
{
	void **at = array;
	size_t wanted = *count ? *count : 64;

	if (id < 1 || (uint64_t)id > MODEL_ROWS_MAX)
		return false;
	while (wanted < (size_t)id)
		wanted *= 2;
	if (wanted == *count)
		return true;
	char *more = reallocarray(*at, wanted, size);
	if (!more)
		return false;
	memset(more + *count * size, 0, (wanted - *count) * size);
	*at = more;
	*count = wanted;
	return true;
}

static int add_stack(struct model_stacks *s, const void *row)
{
	const struct store_stack *r = row;

	if (r->stack < 1 || (uint64_t)r->stack > MODEL_ROWS_MAX)
		return 0; /* only in a hostile table */
	if (!make_room(&s->nodes, &s->node_count, r->stack, sizeof(*s->nodes)))
		return -ENOMEM;
	s->last_node = (size_t)r->stack > s->last_node ? (size_t)r->stack : s->last_node;
	s->nodes[r->stack - 1] = (struct node){
		.parent = r->parent >= 1 && r->parent < r->stack ? r->parent : STORE_NULL,
		.module = r->module,
		.address = (uint64_t)r->address,
	};
	return 0;
}

static int add_module(struct model_stacks *s, const void *row)
{
	const struct store_module *r = row;
	const char *kind = model_cname(s->run, r->kind);

	if (r->module < 1 || (uint64_t)r->module > MODEL_ROWS_MAX)
		return 0;
	if (!make_room(&s->modules, &s->module_count, r->module, sizeof(*s->modules)))
		return -ENOMEM;
	struct module *m = &s->modules[r->module - 1];
	m->path = model_cname(s->run, r->path);
	m->build_id = r->build_id ? arena_copy(&s->arena, r->build_id->data, r->build_id->bytes) : NULL;
	m->is_elf = kind && strcmp(kind, "elf") == 0;
	m->is_kernel = kind && strcmp(kind, "kernel") == 0;
	m->is_python = kind && strcmp(kind, "python") == 0;
	return 0;
}

static int add_symbol(struct model_stacks *s, const void *row)
{
	const struct store_symbol *r = row;
	size_t cap = s->symbol_count;

	if ((cap & (cap - 1)) == 0) { /* it grows by doubling */
		struct symbol *more = reallocarray(s->symbols, cap ? 2 * cap : 1, sizeof(*more));

		if (!more || cap >= MODEL_ROWS_MAX)
			return more ? 0 : -ENOMEM;
		s->symbols = more;
	}
	s->symbols[s->symbol_count] = (struct symbol){ .module = r->module,
		.start = (uint64_t)r->start,
		.bytes = r->bytes > 0 ? (uint64_t)r->bytes : 0,
		.name = r->name,
		.order = s->symbol_count };
	s->symbol_count++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

int model_stacks_open(struct model_stacks **out, struct model_run *run, struct sonde_err *err)
{
	struct model_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return err_sys(err, ENOMEM, "cannot load stacks");
	s->run = run;
	arena_init(&s->arena);
	int rc = model_load(run, MODEL_NAMES, err);
	if (!rc)
		rc = each_row(run, STORE_TABLE_STACK, add_stack, s, err);
	if (!rc)
		rc = each_row(run, STORE_TABLE_MODULE, add_module, s, err);
	if (!rc)
		rc = each_row(run, STORE_TABLE_SYMBOL, add_symbol, s, err);
	if (rc) {
		model_stacks_free(s);
		return rc;
	}
	if (s->symbol_count)
		qsort(s->symbols, s->symbol_count, sizeof(*s->symbols), by_start);
	*out = s;
	return 0;
}

void model_stacks_free(struct model_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->module_count; i++) {
		namecache_close(s->modules[i].cache);
		elfnames_free(s->modules[i].elf);
	}
	map_release(&s->places);
	arena_release(&s->arena);
	free(s->nodes);
	free(s->modules);
	free(s->symbols);
	free(s);
}

/* Naming. */

struct found {
	struct model_stacks *s;
	struct model_frame frames[FRAMES_MAX];
	size_t count;
};

static void say(void *arg, const struct elfname *n)
{
	struct found *f = arg;
	struct model_frame *frame = &f->frames[f->count];

	if (f->count == FRAMES_MAX)
		return;
	frame->function = model_demangle(&f->s->arena, arena_strdup(&f->s->arena, n->function));
	frame->source = n->source ? arena_strdup(&f->s->arena, n->source) : NULL;
	frame->line = n->line;
	f->count++;
}

static void name_by_file(struct found *f, struct module *m, uint64_t address)
{
	if (!m->cache)
		m->cache = namecache_open(m->build_id);
	if (namecache_get(m->cache, address, say, f))
		return;
	if (!m->was_opened) {
		m->was_opened = true;
		m->elf = m->path ? elfnames_open(m->path, m->build_id) : NULL;
	}
	if (!m->elf)
		return;
	struct namecache_entry entry = NAMECACHE_ENTRY_INIT;

	if (elfnames_find(m->elf, address, namecache_add, &entry))
		namecache_replay(&entry, say, f);
	namecache_put(m->cache, address, &entry);
}

static void name_by_symbol(struct found *f, int64_t module, uint64_t address)
{
	const struct model_stacks *s = f->s;
	size_t low = 0, high = s->symbol_count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct symbol *at = &s->symbols[mid];

		if (at->module < module || (at->module == module && at->start <= address))
			low = mid + 1;
		else
			high = mid;
	}
	const struct symbol *at = low ? &s->symbols[low - 1] : NULL;

	if (!at || at->module != module || (at->bytes && address - at->start >= at->bytes))
		return;
	struct elfname n = { .function = model_cname(s->run, at->name) };

	if (n.function)
		say(f, &n);
}

static const struct place *name_place(struct model_stacks *s, const struct node *node)
{
	struct found f = { .s = s };
	struct module *m = node->module >= 1 && (uint64_t)node->module <= s->module_count
			? &s->modules[node->module - 1]
			: NULL;
	struct place *p = arena_alloc(&s->arena, sizeof(*p));
	struct model_frame *frames;

	if (m && m->is_elf)
		name_by_file(&f, m, node->address);
	if (m && !f.count) /* also for a file, if it was in a container: only the recorder could read it */
		name_by_symbol(&f, node->module, node->address);
	if (!f.count)
		f.frames[f.count++] = (struct model_frame){ .function = NULL };
	frames = p ? arena_alloc(&s->arena, f.count * sizeof(*frames)) : NULL;
	if (!frames)
		return NULL;
	for (size_t i = 0; i < f.count; i++) {
		frames[i] = f.frames[i];
		frames[i].module = m ? m->path : NULL;
		frames[i].is_kernel = m && m->is_kernel;
		frames[i].is_inlined = i + 1 < f.count;
		if (m && m->is_python) {
			frames[i].source = m->path;
			frames[i].line = (int64_t)(node->address % PYTHON_LINES);
		} else {
			frames[i].address = m ? node->address : 0;
		}
	}
	*p = (struct place){ .frames = frames, .count = f.count };
	return p;
}

size_t model_stacks_count(const struct model_stacks *s)
{
	return s->last_node;
}

int64_t model_stack_parent(const struct model_stacks *s, int64_t stack)
{
	return stack >= 1 && (uint64_t)stack <= s->node_count && s->nodes[stack - 1].parent ? s->nodes[stack - 1].parent
											    : STORE_NULL;
}

uint64_t model_stack_address(const struct model_stacks *s, int64_t stack)
{
	return stack >= 1 && (uint64_t)stack <= s->node_count ? s->nodes[stack - 1].address : 0;
}

size_t model_stack_place(struct model_stacks *s, int64_t stack, const struct model_frame **frames)
{
	const struct node *node = stack >= 1 && (uint64_t)stack <= s->node_count ? &s->nodes[stack - 1] : NULL;
	uint64_t *at, key[2];

	if (!node)
		return 0;
	key[0] = (uint64_t)node->module;
	key[1] = node->address;
	at = map_put(&s->places, key, sizeof(key), NULL);
	if (!at)
		return 0;
	if (!*at)
		*at = (uint64_t)(uintptr_t)name_place(s, node);
	const struct place *p = (const struct place *)(uintptr_t)*at;

	if (!p)
		return 0;
	*frames = p->frames;
	return p->count;
}

const char *model_frame_label(const struct model_frame *f)
{
	static char label[256];
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;

	if (f->function)
		return f->function;
	if (!f->module)
		return "[unknown]";
	if (f->module[0] == '[')
		return f->module;
	snprintf(label, sizeof(label), "[%s]", slash ? slash + 1 : f->module);
	return label;
}
