#include "analyze/columns.h"

#include "engine/call-sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lookup tables by string id or path number, built once; filling only indexes arrays. */
struct analyze_columns {
	const struct model_run *run;
	const struct rules *rules;
	size_t name_count, path_count;
	uint8_t *is_buffered; /* by call */
	uint16_t *calls;      /* mask of matching layers, by call */
	uint16_t *paths;      /* by path number */
	uint16_t *names;      /* by span name */
	uint16_t *categories; /* by category id of a span; [0]: none */
	int64_t start_ns, bucket_ns;
};

static const char *cname(const struct model_run *run, size_t id)
{
	return model_cname(run, (int64_t)id);
}

static void classify_call(struct analyze_columns *c, size_t id, const char *name)
{
	const struct model_call *call = model_call(c->run, (int64_t)id);
	const char *category = call && call->category ? call->category->data : NULL;
	bool is_stdio = category && strcmp(category, "stdio") == 0;

	c->is_buffered[id] = is_stdio;
	c->calls[id] = (uint16_t)(rules_names(c->rules, RULES_OF_CALLS, name) &
			rules_categories(c->rules, category, is_stdio ? "STDIO" : "POSIX"));
}

/* Call names have rows in `call`; in a corrupt run they may not, and then match no layer. */
static void classify_names(struct analyze_columns *c)
{
	for (size_t id = 0; id < c->name_count; id++) {
		const char *name = cname(c->run, id);

		if (name && model_call(c->run, (int64_t)id))
			classify_call(c, id, name);
		c->names[id] = (uint16_t)rules_names(c->rules, RULES_OF_SPANS, name);
		c->categories[id] = (uint16_t)rules_categories(c->rules, name, NULL);
	}
	for (uint32_t number = 0; number < c->path_count; number++)
		c->paths[number] = (uint16_t)rules_paths(c->rules, model_path(c->run, number).data);
}

int analyze_columns_new(struct analyze *a, struct sonde_err *err)
{
	struct analyze_columns *c = calloc(1, sizeof(*c));
	size_t names = model_name_count(a->run) + 1, paths = (size_t)model_path_count(a->run) + 1;

	a->columns = c;
	if (c) {
		*c = (struct analyze_columns){ .run = a->run,
			.rules = &a->rules,
			.name_count = names,
			.path_count = paths };
		c->start_ns = a->start_ns;
		c->bucket_ns = a->bucket_ns;
		c->is_buffered = calloc(names, sizeof(*c->is_buffered));
		c->calls = calloc(names, sizeof(*c->calls));
		c->names = calloc(names, sizeof(*c->names));
		c->categories = calloc(names, sizeof(*c->categories));
		c->paths = calloc(paths, sizeof(*c->paths));
	}
	if (!c || !c->is_buffered || !c->calls || !c->names || !c->categories || !c->paths)
		return err_sys(err, ENOMEM, "cannot analyze the run");
	classify_names(c);
	return 0;
}

void analyze_columns_free(struct analyze_columns *c)
{
	if (!c)
		return;
	free(c->is_buffered);
	free(c->calls);
	free(c->names);
	free(c->categories);
	free(c->paths);
	free(c);
}

/* An id that is missing or beyond the table maps to 0. */
static inline size_t within(int64_t id, size_t count)
{
	return (uint64_t)id < count ? (size_t)id : 0;
}

/* Calls. */

static void fill_is_buffered(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct analyze_columns *c = arg;
	const int64_t *calls = rows->ints[STORE_IO_call];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = c->is_buffered[within(calls[i], c->name_count)];
}

static void fill_bucket(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct analyze_columns *c = arg;
	const int64_t *times = rows->ints[STORE_IO_ts_ns];

	for (size_t i = 0; i < rows->count; i++) {
		uint64_t since = (uint64_t)times[i] - (uint64_t)c->start_ns;
		uint64_t bucket = since / (uint64_t)c->bucket_ns;

		out[i] = times[i] != STORE_NULL && times[i] >= c->start_ns && bucket < ANALYZE_BUCKETS ? (int64_t)bucket
												       : STORE_NULL;
	}
}

/* Columns computed from other derived columns, with their column numbers. */
struct derived_of {
	const struct analyze_columns *columns;
	int bytes, path;
};

static void fill_is_small(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct derived_of *d = arg;
	const int64_t *bytes = rows->ints[d->bytes];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = bytes[i] != STORE_NULL && bytes[i] < ANALYZE_SMALL_BYTES;
}

static void fill_file(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct derived_of *d = arg;
	const int64_t *paths = rows->ints[d->path];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = paths[i] ? paths[i] : STORE_NULL;
}

static void fill_io_set(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct derived_of *d = arg;
	const struct analyze_columns *c = d->columns;
	const int64_t *calls = rows->ints[STORE_IO_call], *paths = rows->ints[d->path];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = rules_set(c->rules, c->calls[within(calls[i], c->name_count)] & c->paths[paths[i]]);
}

#define SEQUENCES 1024u

struct sequence {
	int64_t file, tid;
	int64_t offset, end, step; /* step STORE_NULL: only one access so far */
};

static enum analyze_pattern follow(struct sequence *s, int64_t file, int64_t tid, int64_t offset, int64_t bytes)
{
	enum analyze_pattern pattern = PATTERN_RANDOM;
	bool is_known = s->file == file && s->tid == tid;
	int64_t step = (int64_t)((uint64_t)offset - (uint64_t)s->offset);

	if (!is_known)
		pattern = PATTERN_NONE;
	else if (offset == s->end)
		pattern = PATTERN_SEQUENTIAL;
	else if (step == s->step)
		pattern = PATTERN_STRIDED;
	*s = (struct sequence){ .file = file,
		.tid = tid,
		.offset = offset,
		.end = (int64_t)((uint64_t)offset + (uint64_t)bytes),
		.step = is_known ? step : STORE_NULL };
	return pattern;
}

/* Works within a block: a file evicted from the cache starts over, which loses one comparison but is never wrong. */
static void fill_pattern(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct derived_of *d = arg;
	const int64_t *files = rows->ints[STORE_IO_file], *tids = rows->ints[STORE_IO_tid];
	const int64_t *offsets = rows->ints[STORE_IO_offset], *bytes = rows->ints[d->bytes];
	struct sequence sequences[SEQUENCES];

	for (size_t i = 0; i < SEQUENCES; i++)
		sequences[i].file = STORE_NULL;
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t mixed = ((uint64_t)files[i] ^ (uint64_t)tids[i] << 17) * 0x9e3779b97f4a7c15u;

		out[i] = PATTERN_NONE;
		if (bytes[i] != STORE_NULL && offsets[i] >= 0 && files[i] != STORE_NULL)
			out[i] = follow(&sequences[mixed >> 54], files[i], tids[i], offsets[i], bytes[i]);
	}
}

static const struct {
	void (*fill)(const void *arg, const struct engine_rows *rows, int64_t *out);
	bool is_of_derived;
	bool needs_bytes, needs_path; /* inputs that are derived columns */
	unsigned need_count;
	int needs[5];
} io_columns[IO_COLUMNS] = {
	[IO_FILE] = { fill_file, true, false, true, 0, { 0 } },
	[IO_PATTERN] = { fill_pattern, true, true, false, 3, { STORE_IO_file, STORE_IO_tid, STORE_IO_offset } },
	[IO_IS_SMALL] = { fill_is_small, true, true, false, 0, { 0 } },
	[IO_IS_BUFFERED] = { fill_is_buffered, false, false, false, 1, { STORE_IO_call } },
	[IO_SET] = { fill_io_set, true, false, true, 1, { STORE_IO_call } },
	[IO_BUCKET] = { fill_bucket, false, false, false, 1, { STORE_IO_ts_ns } },
};

/* Columns that the engine derives. */
static const struct {
	enum analyze_io_column column;
	enum engine_call_column from;
} call_columns[] = {
	{ IO_BYTES, ENGINE_CALL_MOVED },
	{ IO_PATH, ENGINE_CALL_PATH },
	{ IO_PATH2, ENGINE_CALL_PATH2 },
	{ IO_KIND, ENGINE_CALL_KIND },
	{ IO_IS_ERROR, ENGINE_CALL_IS_ERROR },
};

int analyze_io_column(struct analyze *a, enum analyze_io_column column)
{
	struct engine_derive derive = { .fill = io_columns[column].fill, .arg = a->columns };
	struct derived_of *of;

	if (!a->plans[STORE_TABLE_IO])
		return -ENOENT;
	if (a->io_columns[column])
		return a->io_columns[column];
	for (size_t i = 0; i < sizeof(call_columns) / sizeof(*call_columns); i++)
		if (call_columns[i].column == column) {
			a->io_columns[column] = engine_call_column(a->plans[STORE_TABLE_IO], a->run,
					call_columns[i].from);
			return a->io_columns[column];
		}
	derive.need_count = io_columns[column].need_count;
	memcpy(derive.needs, io_columns[column].needs, sizeof(io_columns[column].needs));
	if (io_columns[column].is_of_derived) {
		of = arena_alloc(&a->arena, sizeof(*of));
		if (!of)
			return -ENOMEM;
		of->columns = a->columns;
		of->bytes = io_columns[column].needs_bytes ? analyze_io_column(a, IO_BYTES) : 0;
		of->path = io_columns[column].needs_path ? analyze_io_column(a, IO_PATH) : 0;
		derive.arg = of;
	}
	a->io_columns[column] = engine_plan_derive(a->plans[STORE_TABLE_IO], &derive);
	return a->io_columns[column];
}

/* Spans. */

static void fill_span_set(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct analyze_columns *c = arg;
	const int64_t *names = rows->ints[STORE_SPAN_name], *categories = rows->ints[STORE_SPAN_category];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = rules_set(c->rules,
				c->names[within(names[i], c->name_count)] &
						c->categories[within(categories[i], c->name_count)] & c->paths[0]);
}

int analyze_span_column(struct analyze *a, enum analyze_span_column column)
{
	struct engine_derive derive = { .fill = fill_span_set,
		.arg = a->columns,
		.need_count = 2,
		.needs = { STORE_SPAN_name, STORE_SPAN_category } };

	if (!a->plans[STORE_TABLE_SPAN])
		return -ENOENT;
	if (!a->span_columns[column])
		a->span_columns[column] = engine_plan_derive(a->plans[STORE_TABLE_SPAN], &derive);
	return a->span_columns[column];
}
