/* Imports and their rows; see traces.h. */
#include "traces.h"

#include "base/fs.h"
#include "exchange/exchange.h"
#include "model/dimensions.h"
#include "pfw/gzip-read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void traces_make(struct traces *t)
{
	*t = (struct traces){ .dir = "/tmp/sonde-traces-XXXXXX" };
	assert_non_null(mkdtemp(t->dir));
	assert_int_equal(chdir(t->dir), 0);
}

void traces_remove(struct traces *t)
{
	import_result_release(&t->result);
	assert_int_equal(chdir("/"), 0);
	fs_remove_tree(AT_FDCWD, t->dir);
}

void traces_write(const char *path, const void *bytes, size_t n)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	assert_int_equal(fclose(out), 0);
}

void traces_read(const char *path, struct buf *out)
{
	buf_reset(out);
	assert_int_equal(fs_read_file(AT_FDCWD, path, (size_t)1 << 30, out, NULL), 0);
}

void traces_read_data(const char *name, struct buf *out)
{
	const char *dir = getenv("SONDE_TEST_DATA");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "tests/data", name);
	traces_read(path, out);
}

void traces_gzip(const char *path, const char *const *members)
{
	struct buf out = BUF_INIT;

	for (; *members; members++)
		assert_int_equal(pfw_gzip_deflate(&out, *members, strlen(*members)), 0);
	traces_write(path, out.data, out.len);
	buf_release(&out);
}

int traces_import(struct traces *t, const char *path)
{
	const char *paths[] = { path };
	struct import_options options = t->options;

	import_result_release(&t->result);
	snprintf(t->run, sizeof(t->run), "run-%u", ++t->runs);
	options.paths = paths;
	options.path_count = 1;
	options.dir = t->run;
	memset(&t->err, 0, sizeof(t->err));
	return import_run(NULL, &options, &t->result, &t->err);
}

int traces_import_text(struct traces *t, const char *text)
{
	traces_write("text.pfw", text, strlen(text));
	return traces_import(t, "text.pfw");
}

void traces_export(const char *run, const char *format, const char *path)
{
	struct exchange_options options = { .range.has_range = false };
	struct sonde_err err = SONDE_ERR_INIT;
	struct model_run *opened;
	FILE *out = fopen(path, "w");
	size_t i = 0;

	while (strcmp(exchange_names[i], format) != 0)
		i++;
	assert_int_equal(model_run_open(&opened, run, NULL), 0);
	if (exchange_formats[i]->write(opened, out, &options, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(fclose(out), 0);
	model_run_free(opened);
}

/* Rows. */

struct reading {
	struct rows *rows;
	struct model_run *run;
	const struct store_schema *schema;
	int64_t *hashes; /* of files, by id */
	size_t hash_count, cap;
};

static void add_name(struct buf *out, struct model_run *run, int64_t id)
{
	const struct store_text *text = model_name(run, id);

	buf_addc(out, '\'');
	if (text)
		buf_add(out, text->data, text->bytes);
	buf_addc(out, '\'');
}

static void add_file(struct buf *out, const struct reading *r, int64_t id)
{
	struct store_text path = model_file_path(r->run, id);

	buf_addc(out, '\'');
	if (path.data)
		buf_add(out, path.data, path.bytes);
	buf_addc(out, '\'');
	if (id > 0 && (size_t)id < r->hash_count && r->hashes[id] != STORE_NULL)
		buf_addf(out, "#%" PRIu64, (uint64_t)r->hashes[id]);
}

/* A process by its pid: numbers come as they come. */
static void add_process(struct buf *out, const struct reading *r, int64_t number)
{
	const struct store_process *p = model_process(r->run, number);

	buf_addf(out, "%" PRId64, p ? p->pid : -1);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* io.arg0 and on are named by the call, in the order it met them first. */
static void add_call_args(struct buf *out, const struct reading *r, const int64_t *row)
{
	const struct model_call *call = model_call(r->run, row[STORE_IO_call]);
	char *texts[MODEL_ARGS_MAX];
	size_t count = 0;

	for (int i = 0; i < MODEL_ARGS_MAX; i++)
		if (row[STORE_IO_arg0 + i] != STORE_NULL)
			assert_true(asprintf(&texts[count++], " %s=%" PRId64,
						    model_arg_name(call, i, row[STORE_IO_arg0 + i]),
						    row[STORE_IO_arg0 + i]) > 0);
	qsort(texts, count, sizeof(*texts), by_text);
	for (size_t i = 0; i < count; i++) {
		buf_adds(out, texts[i]);
		free(texts[i]);
	}
}

static void add_number(struct buf *out, const struct reading *r, enum store_semantic semantic, int64_t v)
{
	if (semantic == STORE_STRING)
		add_name(out, r->run, v);
	else if (semantic == STORE_FILE)
		add_file(out, r, v);
	else if (semantic == STORE_PROCESS)
		add_process(out, r, v);
	else
		buf_addf(out, "%" PRId64, v);
}

static void add_column(struct buf *out, const struct reading *r, const int64_t *row, unsigned c)
{
	const struct store_column_schema *column = &r->schema->columns[c];
	const struct store_text *text;
	double real;

	memcpy(&text, &row[c], sizeof(text));
	memcpy(&real, &row[c], sizeof(real));
	if (column->kind == STORE_TEXT ? !text : column->kind == STORE_INT && row[c] == STORE_NULL)
		return;
	buf_addf(out, " %s=", column->name);
	if (column->kind == STORE_TEXT)
		buf_add(out, text->data, text->bytes);
	else if (column->kind == STORE_REAL)
		buf_addf(out, "%.17g", real);
	else
		add_number(out, r, column->semantic, row[c]);
}

static bool is_numbering(const struct reading *r, unsigned c)
{
	bool is_io = r->schema == &store_io_schema;

	return (r->schema == &store_file_schema && c == STORE_FILE_file) ||
			(r->schema == &store_call_schema && c == STORE_CALL_arg_names) ||
			(is_io && c >= STORE_IO_arg0 && c <= STORE_IO_arg3);
}

static int take_rows(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct reading *r = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int64_t row[STORE_COLUMNS_MAX];
		struct buf text = BUF_INIT;

		store_batch_row(b, i, row);
		buf_adds(&text, r->schema->name);
		for (unsigned c = 0; c < r->schema->count; c++)
			if (!is_numbering(r, c))
				add_column(&text, r, row, c);
		if (r->schema == &store_io_schema)
			add_call_args(&text, r, row);
		if (r->rows->count == r->cap) {
			r->cap = r->cap ? 2 * r->cap : 64;
			r->rows->items = realloc(r->rows->items, r->cap * sizeof(char *));
		}
		/* A text in a row may hold NULs, which would hide what follows. */
		for (size_t k = 0; k < text.len; k++)
			text.data[k] = text.data[k] ? text.data[k] : '|';
		r->rows->items[r->rows->count++] = buf_take(&text);
	}
	return 0;
}

static int take_hashes(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct reading *r = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		size_t id = (size_t)b->columns[STORE_FILE_file].ints[i];

		if (id >= r->hash_count) {
			r->hashes = realloc(r->hashes, (id + 64) * sizeof(int64_t));
			for (; r->hash_count < id + 64; r->hash_count++)
				r->hashes[r->hash_count] = STORE_NULL;
		}
		r->hashes[id] = b->columns[STORE_FILE_hash].ints[i];
	}
	return 0;
}

void rows_read(struct rows *rows, const char *path, const char *table)
{
	struct store_scan_opts opts = { .threads = 1 };
	struct reading r = { .rows = rows };

	*rows = (struct rows){ .items = NULL };
	assert_int_equal(model_run_open(&r.run, path, NULL), 0);
	assert_int_equal(model_load(r.run, MODEL_ALL, NULL), 0);
	if (model_table(r.run, STORE_TABLE_FILE))
		store_scan(model_table(r.run, STORE_TABLE_FILE), &opts, take_hashes, &r, NULL);
	for (int i = 0; i < STORE_TABLE_STRING; i++) {
		r.schema = store_schemas[i];
		if ((!table || !strcmp(table, r.schema->name)) && model_table(r.run, i))
			assert_int_equal(store_scan(model_table(r.run, i), &opts, take_rows, &r, NULL), 0);
	}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(char *), by_text);
	free(r.hashes);
	model_run_free(r.run);
}

void rows_release(struct rows *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->items[i]);
	free(r->items);
}

void rows_same(const struct rows *a, const struct rows *b)
{
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			fail_msg("row %zu differs:\n%s\n%s", i, a->items[i], b->items[i]);
	if (a->count != b->count)
		fail_msg("%zu and %zu rows; the first that is alone: %s", a->count, b->count,
				a->count > b->count ? a->items[b->count] : b->items[a->count]);
}

void rows_are(struct traces *t, const char *table, const char *const *wanted)
{
	struct rows got;
	size_t i;

	rows_read(&got, t->run, table);
	for (i = 0; wanted[i]; i++) {
		if (i >= got.count)
			fail_msg("missing: %s", wanted[i]);
		if (strcmp(got.items[i], wanted[i]) != 0)
			fail_msg("got:    %s\nwanted: %s", got.items[i], wanted[i]);
	}
	if (i != got.count)
		fail_msg("too many: %s", got.items[i]);
	rows_release(&got);
}
