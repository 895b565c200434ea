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
#include <unistd.h>

#ifndef SONDE_VERSION
#define SONDE_VERSION "unknown"
#endif

#define GZIP_PART_BYTES ((uint64_t)192 << 10) /* about 3 MiB of text */
#define TEXT_PART_BYTES ((uint64_t)4 << 20)
#define SOURCES_MAX 1000 /* in run.json */

/* Reading. */

static unsigned thread_count(const struct import_options *o)
{
	long cpus = o->threads ? (long)o->threads : sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus > IMPORT_THREADS_MAX ? IMPORT_THREADS_MAX : (unsigned)cpus;
}

int64_t import_unit_ns(enum import_unit unit)
{
	static const int64_t units[] = { 0, 1, 1000, 1000000, 1000000000 };

	return units[unit];
}

/* Inspects all inputs before they are read, several in parallel. */

struct looking {
	struct pfw_inputs *inputs;
	struct pfw_dims *dims;
	struct pfw_inspection look_for;
	atomic_size_t next;
};

static void *inspect_some(void *arg)
{
	struct looking *l = arg;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->inputs->count)
		pfw_input_inspect(&l->inputs->items[i], l->dims, &l->look_for);
	return NULL;
}

static void inspect_all(struct pfw_inputs *inputs, struct pfw_dims *dims, int64_t unit, unsigned threads)
{
	struct looking l = { .inputs = inputs, .dims = dims, .look_for = { unit, TEXT_PART_BYTES, GZIP_PART_BYTES } };
	pthread_t ids[IMPORT_THREADS_MAX];
	unsigned started = 1;

	for (; started < threads && started < inputs->count; started++)
		if (pthread_create(&ids[started], NULL, inspect_some, &l) != 0)
			break;
	inspect_some(&l);
	for (unsigned i = 1; i < started; i++)
		pthread_join(ids[i], NULL);
}

/*
 * Processes are numbered in the order they are first seen. The first process of each file is numbered in file order,
 * independent of the threads.
 */
static void number_processes(struct pfw_inputs *inputs, struct pfw_dims *dims)
{
	for (size_t i = 0; i < inputs->count; i++) {
		const struct pfw_input *in = &inputs->items[i];
		struct pfw_process_key key = { in->ctx.host_kind, in->ctx.host, in->first_pid };

		if (!in->error && in->first_pid != STORE_NULL)
			pfw_dims_process(dims, &key);
	}
}

static int list_parts(struct import_pool *c, struct pfw_inputs *inputs)
{
	size_t count = 0;

	for (size_t i = 0; i < inputs->count; i++)
		count += inputs->items[i].part_count;
	c->parts = calloc(count + 1, sizeof(*c->parts));
	if (!c->parts)
		return -ENOMEM;
	for (size_t i = 0; i < inputs->count; i++) {
		struct pfw_input *in = &inputs->items[i];

		in->first_part = c->part_count;
		c->all_bytes += in->bytes;
		for (size_t k = 0; k < in->part_count; k++)
			c->parts[c->part_count++] = (struct pfw_part){
				.input = in,
				.index = k,
				.from = in->starts[k],
				.to = k + 1 < in->part_count ? in->starts[k + 1] : UINT64_MAX,
			};
	}
	return 0;
}

/* One attempt: 0, -errno, or 1 if an input was split in the wrong place. */
static int attempt(struct pfw_import *im, struct sonde_err *err)
{
	int rc = store_sink_open(&im->sink, im->run.tablesfd, err);

	if (rc < 0)
		return rc;
	pfw_dims_init(&im->dims, &im->sink);
	pfw_tables_init(&im->tables, im->run.tablesfd, thread_count(im->options));
	im->pool = (struct import_pool){ .dims = &im->dims,
		.tables = &im->tables,
		.is_general = im->options->is_general,
		.threads = thread_count(im->options),
		.progress = im->options->progress,
		.arg = im->options->arg };
	inspect_all(&im->inputs, &im->dims, import_unit_ns(im->options->unit), im->pool.threads);
	number_processes(&im->inputs, &im->dims);
	rc = list_parts(&im->pool, &im->inputs);
	if (rc == 0)
		rc = import_pool_run(&im->pool);
	pfw_tables_close(&im->tables);
	if (rc < 0)
		return err_sys(err, -rc, "cannot import");
	return im->pool.is_misplit;
}

void pfw_remove_tables(int tablesfd)
{
	char name[64];

	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		snprintf(name, sizeof(name), "%s.tbl", store_schemas[i]->name);
		unlinkat(tablesfd, name, 0);
	}
}

int pfw_read_all(struct pfw_import *im, struct sonde_err *err)
{
	int rc = attempt(im, err);

	if (rc <= 0)
		return rc;
	/* If one was split in the wrong place, none is split: the cost is at most that of reading them twice. */
	store_sink_close(&im->sink, NULL);
	pfw_dims_release(&im->dims);
	import_pool_release(&im->pool);
	pfw_remove_tables(im->run.tablesfd);
	for (size_t i = 0; i < im->inputs.count; i++)
		im->inputs.items[i].is_unsplit = true;
	return attempt(im, err);
}

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

/* Adds one sentence for each incomplete file. */
static void report_files(struct pfw_import *im)
{
	struct import_result *r = im->result;
	char text[256];

	for (size_t i = 0; i < im->inputs.count; i++) {
		const struct pfw_input *in = &im->inputs.items[i];
		bool is_bad = in->error;

		if (is_bad)
			snprintf(text, sizeof(text), "cannot be read: %s", strerror(in->error));
		for (size_t k = 0; !is_bad && k < in->part_count; k++)
			is_bad = pfw_part_describe(&im->pool.parts[in->first_part + k], text, sizeof(text));
		if (is_bad && r->bad_files++ < IMPORT_PROBLEMS_MAX)
			add_problem(r, in->path, 0, "%s", text);
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
	json_kstr(j, "format", im->format);
	if (!im->is_foreign)
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

static void write_json(struct buf *out, const struct pfw_import *im)
{
	struct json j;

	const struct store_run_head head = { .version = SONDE_VERSION, .state = "complete", .name = im->name };
	store_run_json_start(&j, out, &head);
	write_host(&j, im);
	write_clock(&j, im);
	json_key(&j, "exit");
	json_null(&j);
	json_key(&j, "probes");
	json_array(&j);
	json_end(&j);
	write_source(&j, im);
	store_run_json_tables(&j, &im->sink, im->tables.rows, im->result->lost_rows);
	/* Only problems: data that is missing for a good reason is not one. */
	const struct import_result *r = im->result;
	char text[256];
	if (r->trouble.text[0])
		json_kstr(&j, "trouble", r->trouble.text);
	else if (r->counts.invalid || r->counts.too_long || r->bad_files) {
		snprintf(text, sizeof(text),
				"%" PRIu64 " invalid lines, %" PRIu64 " lines too long, %" PRIu64
				" files truncated, damaged, empty or unreadable",
				r->counts.invalid, r->counts.too_long, r->bad_files);
		json_kstr(&j, "trouble", text);
	}
	json_end(&j);
	buf_addc(out, '\n');
}

int pfw_run_finish(struct pfw_import *im, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf json = BUF_INIT;
	struct import_result *r = im->result;

	sum_up(im);
	report_files(im);
	struct pfw_lost *lost = &im->pool.lost;
	pfw_lost_sort(lost);
	for (size_t i = 0; i < lost->count && i < IMPORT_PROBLEMS_MAX; i++) {
		const struct pfw_lost_line *line = &lost->lines[i];
		bool is_cut = line->bytes >= sizeof(line->text);
		add_problem(im->result, line->part->input->path, pfw_lost_number(line), "%s, at byte %zu: %s%s",
				line->reason, line->where + 1, line->text, is_cut ? "..." : "");
	}
	pfw_dims_write(&im->dims);
	r->lost_rows = im->tables.lost + store_sink_lost(&im->sink);
	r->trouble = im->tables.err.text[0] ? im->tables.err : im->sink.err;
	write_json(&json, im);
	if (store_sink_close(&im->sink, err) < 0 && !r->trouble.text[0] && err)
		r->trouble = *err;
	uint64_t bytes = 0;
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		struct stat st;
		char name[64];
		snprintf(name, sizeof(name), "%s.tbl", store_schemas[i]->name);
		if (fstatat(im->run.tablesfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (uint64_t)st.st_size;
	}
	r->run_bytes = bytes;
	r->path = strdup(im->run.path);
	if (buf_error(&json) || !r->path)
		return err_sys(err, ENOMEM, "cannot write run.json");
	return store_run_write_json(im->run.dirfd, &json, err);
}
