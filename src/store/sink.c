#include "store/sink.h"

#include "base/json.h"
#include "store/run-dir.h"

#include <errno.h>
#include <string.h>

int store_sink_open(struct store_sink *s, int tablesfd, struct sonde_err *err)
{
	memset(s, 0, sizeof(*s));
	s->tablesfd = tablesfd;
	return store_strings_open(&s->strings, tablesfd, err);
}

static void keep_first(struct store_sink *s, const struct sonde_err *err)
{
	if (!s->err.text[0])
		s->err = *err;
}

static struct store_writer *writer_of(struct store_sink *s, enum store_table_id table)
{
	struct sonde_err err = SONDE_ERR_INIT;
	if (!s->writers[table] && store_writer_open(&s->writers[table], s->tablesfd, store_schemas[table], &err))
		keep_first(s, &err);
	return s->writers[table];
}

void store_sink_add(struct store_sink *s, enum store_table_id table, const void *row)
{
	struct store_writer *w = s->writers[table] ? s->writers[table] : writer_of(s, table);
	if (!w) {
		s->refused++;
		return;
	}
	s->rows++;
	/* This row completes a block, which is then written: the strings it refers to must be on disk first. */
	if (store_writer_pending(w) == STORE_BLOCK_ROWS - 1 && store_strings_flush(&s->strings, &s->row_err))
		keep_first(s, &s->row_err);
	if (store_writer_add(w, row, &s->row_err))
		keep_first(s, &s->row_err);
}

void store_sink_file(struct store_sink *s, int64_t file, int64_t base, int64_t name)
{
	struct store_file row = {
		.file = file,
		.base = base ? base : STORE_NULL,
		.name = name,
		.hash = STORE_NULL,
	};
	store_sink_add(s, STORE_TABLE_FILE, &row);
}

int64_t store_sink_path(struct store_sink *s, int64_t base, int64_t name)
{
	int64_t key[2] = { base, name };
	bool is_new = false;
	uint64_t *id = map_put(&s->paths, key, sizeof(key), &is_new);
	if (!id)
		return STORE_NULL;
	if (is_new) {
		*id = ++s->last_path;
		store_sink_file(s, (int64_t)*id, base, name);
	}
	return (int64_t)*id;
}

void store_sink_define_path(struct store_sink *s, int64_t id, int64_t base, int64_t name)
{
	int64_t key[2] = { base, name };
	uint64_t *at = map_put(&s->paths, key, sizeof(key), NULL);
	if (at)
		*at = (uint64_t)id;
	if ((uint64_t)id > s->last_path)
		s->last_path = (uint64_t)id;
}

void store_sink_flush(struct store_sink *s)
{
	struct sonde_err err = SONDE_ERR_INIT;
	/* Strings first: rows on disk must find their names there. */
	if (store_strings_flush(&s->strings, &err))
		keep_first(s, &err);
	for (int i = 0; i < STORE_TABLE_COUNT; i++)
		if (s->writers[i] && store_writer_flush(s->writers[i], &err))
			keep_first(s, &err);
}

uint64_t store_sink_table_rows(const struct store_sink *s, enum store_table_id table)
{
	return s->writers[table] ? store_writer_rows(s->writers[table]) : 0;
}

uint64_t store_sink_lost(const struct store_sink *s)
{
	uint64_t lost = s->refused;
	for (int i = 0; i < STORE_TABLE_COUNT; i++)
		if (s->writers[i])
			lost += store_writer_lost(s->writers[i]);
	return lost;
}

uint64_t store_sink_bytes(const struct store_sink *s)
{
	uint64_t bytes = 0;
	for (int i = 0; i < STORE_TABLE_COUNT; i++)
		if (s->writers[i])
			bytes += store_writer_bytes(s->writers[i]);
	return bytes;
}

int store_sink_close(struct store_sink *s, struct sonde_err *err)
{
	struct sonde_err one = SONDE_ERR_INIT;
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		if (s->writers[i] && store_writer_close(s->writers[i], &one))
			keep_first(s, &one);
		s->writers[i] = NULL;
	}
	if (store_strings_close(&s->strings, &one))
		keep_first(s, &one);
	map_release(&s->paths);
	if (!s->err.text[0])
		return 0;
	if (err)
		*err = s->err;
	return -EIO;
}

void store_run_json_start(struct json *j, struct buf *out, const struct store_run_head *head)
{
	json_init(j, out, true);
	json_object(j);
	json_kint(j, STORE_RUN_KEY, STORE_RUN_VERSION);
	json_kstr(j, "version", head->version);
	if (head->calls_hash)
		json_kstr(j, "calls_hash", head->calls_hash);
	json_kstr(j, "state", head->state);
	json_kstr(j, "name", head->name);
	json_key(j, "argv");
	json_array(j);
	for (size_t i = 0; head->argv && head->argv[i]; i++)
		json_str(j, head->argv[i]);
	json_end(j);
}

void store_run_json_tables(struct json *j, const struct store_sink *sink, const uint64_t *more, uint64_t lost)
{
	json_key(j, "tables");
	json_object(j);
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		uint64_t rows = store_sink_table_rows(sink, i) + (more ? more[i] : 0);

		if (rows && i != STORE_TABLE_DEFINE) /* only recovery reads these */
			json_kuint(j, store_schemas[i]->name, rows);
	}
	json_kuint(j, "string", store_strings_count(&sink->strings));
	json_end(j);
	json_kuint(j, "lost_rows", lost);
}
