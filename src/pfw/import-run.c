#include "pfw/import-run.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SONDE_VERSION
#define SONDE_VERSION "unknown"
#endif

#define SOURCES_MAX 1000 /* in run.json */

/* Problems. */

__attribute__((format(printf, 4, 5))) static void add_problem(struct import_result *r, const char *path, uint64_t line,
		const char *fmt, ...)
{
	struct import_problem *p = &r->problems[r->problem_count];
	va_list ap;

	p->path = strdup(path);
	if (!p->path)
		return;
	p->line = line;
	va_start(ap, fmt);
	vsnprintf(p->text, sizeof(p->text), fmt, ap);
	va_end(ap);
	r->problem_count++;
}

static void add_file_problem(struct import_result *r, const char *path, const char *text)
{
	if (r->bad_files++ < IMPORT_PROBLEMS_MAX)
		add_problem(r, path, 0, "%s", text);
}

/* Adds one sentence for each incomplete file. */
static void tell_of_files(struct pfw_import *im)
{
	struct import_result *r = im->result;
	char text[256];

	for (size_t i = 0; i < im->inputs.count; i++) {
		const struct pfw_input *in = &im->inputs.items[i];
		bool is_bad = in->error;

		if (is_bad)
			snprintf(text, sizeof(text), "it cannot be read: %s", strerror(in->error));
		for (size_t k = 0; !is_bad && k < in->part_count; k++)
			is_bad = pfw_part_describe(&im->pool.parts[in->first_part + k], text, sizeof(text));
		if (is_bad)
			add_file_problem(r, in->path, text);
	}
}

static void tell_of_lines(struct pfw_import *im)
{
	struct pfw_lost *lost = &im->pool.lost;

	pfw_lost_sort(lost);
	for (size_t i = 0; i < lost->count && i < IMPORT_PROBLEMS_MAX; i++) {
		const struct pfw_lost_line *line = &lost->lines[i];
		bool is_cut = line->bytes >= sizeof(line->text);

		add_problem(im->result, line->part->input->path, pfw_lost_number(line), "%s, at byte %zu: %s%s",
				line->reason, line->where + 1, line->text, is_cut ? "..." : "");
	}
}

/* Totals of what was read and written. */
static void sum_up(struct pfw_import *im)
{
	struct import_result *r = im->result;

	r->counts = im->pool.counts;
	r->files = im->inputs.count;
	r->input_bytes = im->pool.all_bytes;
	r->text_bytes = im->pool.text_bytes;
	r->refused = im->dims.refused;
	r->conflicts = im->dims.conflicts;
	r->processes = im->dims.process_count;
	r->threads = im->dims.thread_count;
	for (size_t i = 0; i < im->dims.file_count; i++)
		r->named_files += im->dims.files[i].name != STORE_NULL;
	for (size_t i = 0; i < im->dims.process_count; i++) {
		const struct pfw_process *p = im->dims.processes[i];

		if (p->first_ns == STORE_NULL)
			continue;
		if (r->first_ns == STORE_NULL || p->first_ns < r->first_ns)
			r->first_ns = p->first_ns;
		if (r->last_ns == STORE_NULL || p->last_ns > r->last_ns)
			r->last_ns = p->last_ns;
	}
}

/* run.json */

static void write_host(struct json *j, const struct pfw_import *im)
{
	const struct pfw_dims *d = &im->dims;
	int64_t name = STORE_NULL;

	for (size_t i = 0; i < d->process_count && name == STORE_NULL; i++) {
		const struct pfw_process_key *key = &d->processes[i]->key;

		if (key->host_kind == PFW_HOST_NAME)
			name = (int64_t)key->host;
		else if (key->host_kind == PFW_HOST_HASH)
			name = pfw_dims_text(d, 'H', d->processes[i], key->host);
	}
	json_key(j, "host");
	json_object(j);
	json_kstr(j, "name", name == STORE_NULL ? NULL : map_key(&d->sink->strings.ids, (size_t)name - 1, NULL));
	json_end(j);
}

static void write_clock(struct json *j, const struct pfw_import *im)
{
	const struct import_result *r = im->result;

	if (r->first_ns == STORE_NULL)
		return;
	json_key(j, "clock");
	json_object(j);
	json_kstr(j, "id", im->has_day_clock ? "CLOCK_REALTIME" : "unknown");
	json_kstr(j, "source", "trace");
	json_kint(j, "start_mono_ns", r->first_ns);
	if (im->has_day_clock)
		json_kint(j, "start_real_ns", r->first_ns);
	json_end(j);
	json_kint(j, "wall_ns", r->last_ns - r->first_ns);
}

static void write_source(struct json *j, const struct pfw_import *im)
{
	const struct import_result *r = im->result;
	int64_t unit = im->inputs.count ? im->inputs.items[0].ctx.unit_ns : 1000;

	json_key(j, "source");
	json_object(j);
	json_kstr(j, "format", im->format->name);
	if (!im->format->read)
		json_kint(j, "unit_ns", unit);
	json_kuint(j, "files", r->files);
	json_kuint(j, "bytes", r->input_bytes);
	json_kuint(j, "text_bytes", r->text_bytes);
#define COUNT(name, what) json_kuint(j, #name, r->counts.name);
	PFW_COUNTS(COUNT)
#undef COUNT
	json_kuint(j, "bad_files", r->bad_files);
	json_kuint(j, "refused", r->refused);
	json_kuint(j, "conflicts", r->conflicts);
	json_key(j, "paths");
	json_array(j);
	for (size_t i = 0; i < im->inputs.count && i < SOURCES_MAX; i++)
		json_str(j, im->inputs.items[i].path);
	json_end(j);
	json_end(j);
}

static void write_tables(struct json *j, const struct pfw_import *im)
{
	json_key(j, "tables");
	json_object(j);
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		uint64_t rows = im->tables.rows[i] + store_sink_table_rows(&im->sink, i);

		if (rows)
			json_kuint(j, store_schemas[i]->name, rows);
	}
	json_kuint(j, "string", store_strings_count(&im->sink.strings));
	json_end(j);
	json_kuint(j, "lost_rows", im->result->lost_rows);
}

/* Only problems: data that is missing for a good reason is not one. */
static void write_trouble(struct json *j, const struct import_result *r)
{
	char text[256];

	if (r->trouble.text[0])
		json_kstr(j, "trouble", r->trouble.text);
	else if (r->counts.invalid || r->counts.too_long || r->bad_files) {
		snprintf(text, sizeof(text),
				"%" PRIu64 " lines of the traces were no records, %" PRIu64 " were too long, %" PRIu64
				" files were cut, damaged, empty or unreadable",
				r->counts.invalid, r->counts.too_long, r->bad_files);
		json_kstr(j, "trouble", text);
	}
}

static void write_json(struct buf *out, const struct pfw_import *im)
{
	struct json j;

	json_init(&j, out, true);
	json_object(&j);
	json_kint(&j, STORE_RUN_KEY, STORE_RUN_VERSION);
	json_kstr(&j, "version", SONDE_VERSION);
	json_kstr(&j, "state", "complete");
	json_kstr(&j, "name", im->name);
	json_key(&j, "argv");
	json_array(&j);
	json_end(&j);
	write_host(&j, im);
	write_clock(&j, im);
	json_key(&j, "exit");
	json_null(&j);
	json_key(&j, "probes");
	json_array(&j);
	json_end(&j);
	write_source(&j, im);
	write_tables(&j, im);
	write_trouble(&j, im->result);
	json_end(&j);
	buf_addc(out, '\n');
}

static uint64_t table_bytes(int tablesfd)
{
	uint64_t bytes = 0;

	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		struct stat st;
		char name[64];

		snprintf(name, sizeof(name), "%s.tbl", store_schemas[i]->name);
		if (fstatat(tablesfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (uint64_t)st.st_size;
	}
	return bytes;
}

int pfw_run_finish(struct pfw_import *im, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf json = BUF_INIT;
	struct import_result *r = im->result;

	sum_up(im);
	tell_of_files(im);
	tell_of_lines(im);
	pfw_dims_write(&im->dims);
	r->lost_rows = im->tables.lost + store_sink_lost(&im->sink);
	r->trouble = im->tables.err.text[0] ? im->tables.err : im->sink.err;
	write_json(&json, im);
	if (store_sink_close(&im->sink, err) < 0 && !r->trouble.text[0] && err)
		r->trouble = *err;
	r->run_bytes = table_bytes(im->run.tablesfd);
	r->path = strdup(im->run.path);
	if (buf_error(&json) || !r->path)
		return err_sys(err, ENOMEM, "cannot write run.json");
	return store_run_write_json(im->run.dirfd, &json, err);
}
