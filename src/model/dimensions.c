/*
 * Names, processes, threads and calls: small tables, loaded as a whole.
 */
#include "model/dimensions.h"

#include "base/vec.h"
#include "model/model-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reading a table into an array of its row structs. */

struct reading {
	struct model_run *run;
	const struct store_schema *schema;
	char *rows;
	size_t row_bytes;
	size_t count, cap;
	size_t limit;
};

static int grow(struct reading *r, size_t more)
{
	void *rows = vec_grow(r->rows, &r->cap, r->row_bytes, r->count + more, VEC_MAX);

	if (rows)
		r->rows = rows;
	return rows ? 0 : -ENOMEM;
}

/* The texts of a row are released with its batch: copy them. */
static int keep_texts(struct reading *r, char *row)
{
	for (unsigned c = 0; c < r->schema->count; c++) {
		const struct store_text *text;
		struct store_text *copy;

		if (r->schema->columns[c].kind != STORE_TEXT)
			continue;
		memcpy(&text, row + (size_t)8 * c, sizeof(text));
		if (!text)
			continue;
		copy = arena_alloc(&r->run->arena, sizeof(*copy));
		if (!copy || !(copy->data = arena_copy(&r->run->arena, text->data, text->bytes)))
			return -ENOMEM;
		copy->bytes = text->bytes;
		memcpy(row + (size_t)8 * c, &copy, sizeof(text));
	}
	return 0;
}

static int add_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	struct reading *r = arg;
	size_t left = r->limit - r->count, n = batch->rows < left ? batch->rows : left;

	(void)worker, (void)block;
	if (grow(r, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++, r->count++) {
		char *row = r->rows + r->count * r->row_bytes;

		store_batch_row(batch, i, row);
		if (keep_texts(r, row) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_table(struct model_run *run, enum store_table_id id, void *rows, size_t *count, struct sonde_err *err)
{
	struct reading r = { .run = run, .schema = store_schemas[id], .limit = MODEL_ROWS_MAX };
	struct store_scan_opts opts = { .threads = 1 };
	struct store_table *t = model_table(run, id);

	r.row_bytes = (size_t)8 * r.schema->count;
	int rc = t ? store_scan(t, &opts, add_block, &r, err) : 0;
	if (rc < 0) {
		free(r.rows);
		return err_sys(err, -rc, "cannot read the table '%s'", r.schema->name);
	}
	memcpy(rows, &r.rows, sizeof(r.rows));
	*count = r.count;
	return 0;
}

/* Names. */

static int load_names(struct model_run *run, struct sonde_err *err)
{
	int rc = store_names_open(&run->names, run->store.tablesfd, err);

	return rc == -ENOMEM ? rc : 0;
}

const struct store_text *model_name(const struct model_run *run, int64_t id)
{
	return store_names_get(&run->names, id);
}

const char *model_cname(const struct model_run *run, int64_t id)
{
	const struct store_text *text = model_name(run, id);

	return text ? text->data : NULL;
}

size_t model_name_count(const struct model_run *run)
{
	return run->names.count;
}

/* Processes and threads. */

static int by_number(const void *a, const void *b)
{
	int64_t left = ((const struct store_process *)a)->process, right = ((const struct store_process *)b)->process;

	return (left > right) - (left < right);
}

static int load_processes(struct model_run *run, struct sonde_err *err)
{
	int rc = read_table(run, STORE_TABLE_PROCESS, &run->processes, &run->process_count, err);

	if (rc == 0 && run->process_count)
		qsort(run->processes, run->process_count, sizeof(*run->processes), by_number);
	return rc;
}

const struct store_process *model_processes(const struct model_run *run, size_t *count)
{
	*count = run->process_count;
	return run->processes;
}

const struct store_process *model_process(const struct model_run *run, int64_t number)
{
	struct store_process wanted = { .process = number };

	if (!run->process_count || number == STORE_NULL)
		return NULL;
	return bsearch(&wanted, run->processes, run->process_count, sizeof(wanted), by_number);
}

static int by_process(const void *a, const void *b)
{
	const struct store_thread *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int load_threads(struct model_run *run, struct sonde_err *err)
{
	int rc = read_table(run, STORE_TABLE_THREAD, &run->threads, &run->thread_count, err);

	if (rc == 0 && run->thread_count)
		qsort(run->threads, run->thread_count, sizeof(*run->threads), by_process);
	return rc;
}

const struct store_thread *model_threads(const struct model_run *run, size_t *count)
{
	*count = run->thread_count;
	return run->threads;
}

/* Calls. */

static int split_names(struct model_run *run, struct model_call *call, const struct store_text *names)
{
	char *at = names ? arena_copy(&run->arena, names->data, names->bytes) : NULL;

	if (names && !at)
		return -ENOMEM;
	for (size_t i = 0; at && *at && i < MODEL_ARGS_MAX; i++) {
		char *comma = strchr(at, ',');

		call->arg_names[i] = at;
		if (comma)
			*comma = '\0';
		at = comma ? comma + 1 : NULL;
	}
	return 0;
}

int64_t model_call_bytes(const struct model_call *call, int64_t ret, int64_t size, int64_t arg0, int64_t arg1)
{
	return call ? call_moved_bytes(call->bytes, ret, size, arg0, arg1) : STORE_NULL;
}

/* The facts of a call: from the run if it has them, otherwise from the table of calls, by name. */
static void fill_facts(struct model_run *run, struct model_call *call, const struct store_call *row)
{
	const struct call_info *info = call->name ? calls_find(call->name->data, call->name->bytes) : NULL;
	const struct store_text *kind = model_name(run, row->kind), *bytes = model_name(run, row->bytes_from);
	const struct store_text *wait = model_name(run, row->wait);
	int value;

	call->kind = info ? (enum call_kind)info->kind : CALL_KIND_OTHER;
	call->bytes = info ? (enum call_bytes)info->bytes : CALL_BYTES_UNKNOWN;
	if (call->bytes == CALL_BYTES_LENGTH)
		call->bytes = CALL_BYTES_UNKNOWN;
	if (call->bytes == CALL_BYTES_ARG1)
		call->bytes = CALL_BYTES_ITEMS;
	call->wait = info ? (enum call_wait)info->wait : CALL_WAIT_NONE;
	if (kind && (value = call_kind_of(kind->data, kind->bytes)) >= 0)
		call->kind = (enum call_kind)value;
	if (bytes && (value = call_bytes_of(bytes->data, bytes->bytes)) >= 0)
		call->bytes = (enum call_bytes)value;
	if (wait && (value = call_wait_of(wait->data, wait->bytes)) >= 0)
		call->wait = (enum call_wait)value;
}

static int make_calls(struct model_run *run, const struct store_call *rows, size_t count)
{
	run->calls = calloc(count + 1, sizeof(*run->calls));
	run->call_index = calloc(run->call_index_count, sizeof(*run->call_index));
	if (!run->calls || !run->call_index)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct model_call *call = &run->calls[i];

		call->name = model_name(run, rows[i].call);
		call->category = model_name(run, rows[i].category);
		if (split_names(run, call, rows[i].arg_names) < 0)
			return -ENOMEM;
		fill_facts(run, call, &rows[i]);
		if (call->name)
			run->call_index[rows[i].call] = (uint32_t)i + 1;
	}
	return 0;
}

static int load_calls(struct model_run *run, struct sonde_err *err)
{
	struct store_call *rows = NULL;
	size_t count;
	int rc = read_table(run, STORE_TABLE_CALL, &rows, &count, err);

	if (rc < 0)
		return rc;
	run->call_index_count = run->names.count;
	rc = make_calls(run, rows, count);
	free(rows);
	return rc < 0 ? err_sys(err, -rc, "cannot read the table 'call'") : 0;
}

const struct model_call *model_call(const struct model_run *run, int64_t id)
{
	if (id < 1 || (uint64_t)id >= run->call_index_count || !run->call_index[id])
		return NULL;
	return &run->calls[run->call_index[id] - 1];
}

const char *model_arg_name(const struct model_call *call, int n, int64_t value)
{
	static const char *const plain[MODEL_ARGS_MAX] = { "arg0", "arg1", "arg2", "arg3" };

	if (call && call->arg_names[n] && *call->arg_names[n])
		return call->arg_names[n];
	return value == STORE_NULL ? NULL : plain[n];
}

/* Loading. */

static const struct {
	unsigned dimension;
	int (*load)(struct model_run *run, struct sonde_err *err);
} loaders[] = {
	{ MODEL_NAMES, load_names },
	{ MODEL_PROCESSES, load_processes },
	{ MODEL_THREADS, load_threads },
	{ MODEL_CALLS, load_calls },
	{ MODEL_FILES, model_files_load },
};

int model_load(struct model_run *run, unsigned dimensions, struct sonde_err *err)
{
	if (dimensions & (MODEL_CALLS | MODEL_FILES))
		dimensions |= MODEL_NAMES;
	for (size_t i = 0; i < sizeof(loaders) / sizeof(*loaders); i++) {
		if (!(dimensions & ~run->loaded & loaders[i].dimension))
			continue;
		int rc = loaders[i].load(run, err);
		if (rc < 0)
			return rc;
		run->loaded |= loaders[i].dimension;
	}
	return 0;
}

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

	for (size_t i = root; i != NONE; i = step(f, i, root, &depth)) {
		f->links[i].is_listed = true;
		f->rows[f->listed++] = (struct model_tree_row){ .process = &f->processes[i], .depth = depth };
	}
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
	for (size_t i = 0; i < f.count; i++)
		f.links[i] = (struct links){ .parent = NONE, .first_child = NONE, .last_child = NONE, .next = NONE };
	for (size_t i = 0; i < f.count; i++) {
		const struct store_process *parent = model_process(run, f.processes[i].parent);
		if (parent && parent != &f.processes[i])
			link_child(&f, (size_t)(parent - f.processes), i);
	}
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
