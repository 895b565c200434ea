/* A run as one JSON object: the keys of run.json, and values from the tables. */
#include <jansson.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/events.h"
#include "cli/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keys of run.json that are replaced below. */
static bool is_replaced(const char *key)
{
	return strcmp(key, "tables") == 0;
}

static int write_run_json(struct json *j, const struct info *info)
{
	json_t *all = model_run_json(info->run);

	for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at)) {
		const char *key = json_object_iter_key(at);
		CLEANUP(cleanup_free)
		char *text = json_dumps(json_object_iter_value(at),
				JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

		if (!text)
			return -ENOMEM;
		if (is_replaced(key))
			continue;
		json_key(j, key);
		json_raw(j, text, strlen(text));
	}
	return 0;
}

static void write_loss(struct json *j, const struct model_table *t)
{
	struct store_loss loss = { .text = "" };

	if (t->table)
		store_table_loss(t->table, &loss);
	json_key(j, "loss");
	if (!loss.text[0] && !t->trouble[0]) {
		json_null(j);
		return;
	}
	json_object(j);
	json_kuint(j, "rows", loss.rows);
	json_kuint(j, "blocks", loss.blocks);
	json_kuint(j, "bytes", t->table ? loss.bytes : t->bytes);
	json_kbool(j, "is_open", loss.is_open);
	json_kstr(j, "text", t->trouble[0] ? t->trouble : loss.text);
	json_end(j);
}

static void write_tables(struct json *j, const struct info *info)
{
	size_t count;
	const struct model_table *tables = model_tables(info->run, &count);

	json_key(j, "tables");
	json_object(j);
	for (size_t i = 0; i < count; i++) {
		json_key(j, tables[i].name);
		json_object(j);
		json_kuint(j, "rows", tables[i].table ? store_table_rows(tables[i].table) : 0);
		json_kuint(j, "bytes", tables[i].bytes);
		json_kuint(j, "blocks", tables[i].table ? store_table_blocks(tables[i].table) : 0);
		write_loss(j, &tables[i]);
		json_end(j);
	}
	json_end(j);
}

/* In the format of `sonde events --table process --json`. */
static int write_processes(struct json *j, const struct info *info)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct event_writer w;
	int rc;

	event_writer_init(&w, info->run, event_table_find(STORE_TABLE_PROCESS), &line);
	json_key(j, "processes");
	json_array(j);
	for (size_t i = 0; i < info->process_count; i++) {
		buf_reset(&line);
		event_write_json(&w, (const int64_t *)info->processes[i].process);
		json_raw(j, line.data, line.len - 1);
	}
	json_end(j);
	rc = event_writer_error(&w);
	event_writer_release(&w);
	return rc;
}

static void write_totals(struct json *j, const char *key, const char *what, const struct model_total *totals,
		size_t count)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < count; i++) {
		json_object(j);
		json_key(j, what);
		json_strn(j, totals[i].name.data, totals[i].name.bytes);
		json_kuint(j, "count", totals[i].calls);
		json_kuint(j, "errors", totals[i].errors);
		json_kint(j, "total_ns", totals[i].total_ns);
		json_kuint(j, "bytes", totals[i].bytes);
		json_end(j);
	}
	json_end(j);
}

static void write_files(struct json *j, const struct info *info)
{
	const struct model_totals *t = &info->totals;
	size_t shown = info_shown(info, t->path_count, INFO_ROWS_SHOWN);

	write_totals(j, "calls", "call", t->calls, t->call_count);
	json_kuint(j, "file_count", t->path_count);
	model_sort_by_bytes(t->paths, t->path_count);
	write_totals(j, "files_by_bytes", "path", t->paths, shown);
	model_sort_by_time(t->paths, t->path_count);
	write_totals(j, "files_by_time", "path", t->paths, shown);
}

static int write_info(const struct info *info, struct buf *out)
{
	struct json j;
	int rc;

	json_init(&j, out, false);
	json_object(&j);
	rc = write_run_json(&j, info);
	json_kstr(&j, "path", model_run_path(info->run));
	if (rc == 0)
		rc = write_processes(&j, info);
	write_tables(&j, info);
	write_files(&j, info);
	json_key(&j, "loss");
	json_array(&j);
	for (size_t i = 0; i < info->loss_count; i++)
		json_str(&j, info->losses[i]);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
	return rc < 0 ? rc : buf_error(out);
}

int info_write_json(const struct info *info, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(jsonline_release) struct jsonline line = JSONLINE_INIT;
	int rc = write_info(info, &text);

	jsonline_json(&line, text.data, text.len);
	buf_add(out, line.data, line.len);
	return rc < 0 ? rc : line.is_failed ? -ENOMEM : buf_error(out);
}
