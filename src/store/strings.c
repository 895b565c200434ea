/*
 * Interning strings, and reading them back.
 */
#include "store/strings.h"

#include "store/table-read.h"
#include "store/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each row defines one id. Ids that skip further than losses explain are hostile and would exhaust memory. */
#define IDS_A_ROW 16u
#define IDS_MIN 65536u

int store_strings_open(struct store_strings *s, int dirfd, struct sonde_err *err)
{
	*s = (struct store_strings){ .ids = MAP_INIT };
	return store_writer_open(&s->writer, dirfd, &store_string_schema, err);
}

static void add_row(struct store_strings *s, int64_t id, const char *bytes, size_t n)
{
	struct store_text text = { .data = bytes, .bytes = n };
	struct store_string row = { .id = id, .text = &text };
	struct sonde_err err = SONDE_ERR_INIT;
	int rc = store_add_string(s->writer, &row, &err);

	if (rc < 0 && s->failed == 0) {
		s->failed = rc;
		s->err = err;
	}
}

int64_t store_strings_id(struct store_strings *s, const char *bytes, size_t n)
{
	bool is_new;
	uint64_t *id = map_put(&s->ids, bytes, n, &is_new);

	if (!id)
		return 0;
	if (is_new) {
		*id = s->ids.count;
		add_row(s, (int64_t)*id, bytes, n);
	}
	return (int64_t)*id;
}

int64_t store_strings_of(struct store_strings *s, const char *text)
{
	return text ? store_strings_id(s, text, strlen(text)) : STORE_NULL;
}

size_t store_strings_count(const struct store_strings *s)
{
	return s->ids.count;
}

/* Report a failure since the last call, once. */
static int report_failure(struct store_strings *s, struct sonde_err *err)
{
	int rc = s->failed;

	if (rc < 0 && err)
		*err = s->err;
	s->failed = 0;
	return rc;
}

int store_strings_flush(struct store_strings *s, struct sonde_err *err)
{
	int rc = store_writer_flush(s->writer, err);

	return s->failed < 0 ? report_failure(s, err) : rc;
}

int store_strings_close(struct store_strings *s, struct sonde_err *err)
{
	int rc = store_writer_close(s->writer, err);

	s->writer = NULL;
	map_release(&s->ids);
	return s->failed < 0 ? report_failure(s, err) : rc;
}

struct reading {
	struct store_names *names;
	size_t limit;
};

static int grow_names(struct store_names *n, size_t id)
{
	size_t count = id < 2 * n->count ? 2 * n->count : id + 64;
	struct store_text *texts = reallocarray(n->texts, count, sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	memset(texts + n->count, 0, (count - n->count) * sizeof(*texts));
	n->texts = texts;
	n->count = count;
	return 0;
}

static int put_name(struct store_names *n, size_t id, const struct store_text *text)
{
	char *copy = arena_copy(&n->arena, text->data, text->bytes);

	if (!copy)
		return -ENOMEM;
	n->texts[id] = (struct store_text){ .data = copy, .bytes = text->bytes };
	return 0;
}

static int read_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	struct reading *r = arg;
	const int64_t *ids = batch->columns[STORE_STRING_id].ints;
	const struct store_text *texts = batch->columns[STORE_STRING_text].texts;

	(void)worker, (void)block;
	for (size_t i = 0; i < batch->rows; i++) {
		size_t id = (size_t)ids[i];

		if (ids[i] < 1 || id >= r->limit || !texts[i].data)
			continue;
		if (id >= r->names->count && grow_names(r->names, id) < 0)
			return -ENOMEM;
		if (put_name(r->names, id, &texts[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int store_names_open(struct store_names *n, int dirfd, struct sonde_err *err)
{
	struct store_scan_opts opts = { .threads = 1 };
	struct reading r = { .names = n };
	struct store_table *t;
	int rc = store_table_open(&t, dirfd, "string", err);

	*n = (struct store_names){ .arena = ARENA_INIT };
	if (rc < 0)
		return rc;
	r.limit = IDS_MIN + IDS_A_ROW * store_table_rows(t);
	rc = store_scan(t, &opts, read_block, &r, err);
	store_table_free(t);
	if (rc < 0) {
		store_names_release(n);
		err_sys(err, -rc, "cannot read the strings of the run");
	}
	return rc;
}

void store_names_release(struct store_names *n)
{
	free(n->texts);
	arena_release(&n->arena);
	*n = (struct store_names){ .arena = ARENA_INIT };
}

const struct store_text *store_names_get(const struct store_names *n, int64_t id)
{
	if (id < 1 || (uint64_t)id >= n->count || !n->texts[id].data)
		return NULL;
	return &n->texts[id];
}
