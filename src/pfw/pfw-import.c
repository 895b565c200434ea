/* An import, from its paths to the run; see import.h. */
#include "exchange/import.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "exchange/import-reader.h"
#include "pfw/import-pool.h"
#include "pfw/import-run.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GZIP_PART_BYTES ((uint64_t)192 << 10) /* about 3 MiB of text */
#define TEXT_PART_BYTES ((uint64_t)4 << 20)

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
	struct pfw_look look_for;
	atomic_size_t next;
};

static void *look_some(void *arg)
{
	struct looking *l = arg;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->inputs->count)
		pfw_input_look(&l->inputs->items[i], l->dims, &l->look_for);
	return NULL;
}

static void look_at_all(struct pfw_inputs *inputs, struct pfw_dims *dims, int64_t unit, unsigned threads)
{
	struct looking l = { .inputs = inputs, .dims = dims, .look_for = { unit, TEXT_PART_BYTES, GZIP_PART_BYTES } };
	pthread_t ids[IMPORT_THREADS_MAX];
	unsigned started = 1;

	for (; started < threads && started < inputs->count; started++)
		if (pthread_create(&ids[started], NULL, look_some, &l) != 0)
			break;
	look_some(&l);
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
	look_at_all(&im->inputs, &im->dims, import_unit_ns(im->options->unit), im->pool.threads);
	number_processes(&im->inputs, &im->dims);
	rc = list_parts(&im->pool, &im->inputs);
	if (rc == 0)
		rc = import_pool_run(&im->pool);
	pfw_tables_close(&im->tables);
	if (rc < 0)
		return err_sys(err, -rc, "cannot import");
	return im->pool.is_misplit;
}

static void drop_attempt(struct pfw_import *im)
{
	store_sink_close(&im->sink, NULL);
	pfw_dims_release(&im->dims);
	import_pool_release(&im->pool);
}

static void remove_tables(int tablesfd)
{
	char name[64];

	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		snprintf(name, sizeof(name), "%s.tbl", store_schemas[i]->name);
		unlinkat(tablesfd, name, 0);
	}
}

static uint64_t records(const struct pfw_counts *c)
{
	return c->events + c->metadata + c->counters + c->other;
}

static int no_records(const struct pfw_import *im, struct sonde_err *err)
{
	const struct pfw_input *first = &im->inputs.items[0];

	if (im->inputs.count == 1 && first->error)
		return err_sys(err, first->error, "cannot read '%s'", first->path);
	err_set(err, ENODATA, "there is no record of a trace in '%s'%s", first->path,
			im->inputs.count > 1 ? " and the others" : "");
	if (im->format->read)
		err_hint(err, "it was read as %s; --from names another format", im->format->name);
	else if (im->pool.counts.invalid)
		err_hint(err, "sonde trace validate %s tells what is wrong with its lines", first->path);
	return -ENODATA;
}

/* The name of the run: "train" for "/x/train.pfw.gz". */
static void name_of(struct buf *out, const struct import_options *o, bool is_foreign)
{
	const char *path = o->name ? o->name : o->paths[0], *end = path + strlen(path), *from;

	while (end > path + 1 && end[-1] == '/')
		end--;
	for (from = end; from > path && from[-1] != '/'; from--)
		;
	buf_add(out, from, (size_t)(end - from));
	if (!o->name && out->len > 3 && !strcmp(out->data + out->len - 3, ".gz"))
		out->data[out->len -= 3] = '\0';
	end = o->name ? NULL : strrchr(out->data, '.');
	if (end && end > out->data && (is_foreign || !strcmp(end, ".pfw")))
		out->data[out->len = (size_t)(end - out->data)] = '\0';
}

static int import_all(struct pfw_import *im, struct sonde_err *err)
{
	int rc = im->format->read ? foreign_read_all(im, err) : attempt(im, err);

	/* If one was split in the wrong place, none is split: the cost is at most that of reading them twice. */
	if (rc == 1) {
		drop_attempt(im);
		remove_tables(im->run.tablesfd);
		for (size_t i = 0; i < im->inputs.count; i++)
			im->inputs.items[i].is_unsplit = true;
		rc = attempt(im, err);
	}
	if (rc == 0 && records(&im->pool.counts) == 0)
		rc = no_records(im, err);
	if (rc == 0)
		return pfw_run_finish(im, err);
	store_sink_close(&im->sink, NULL);
	return rc;
}

/* Removes the run directory, or the part of it that the import created. */
static void remove_bundle(struct pfw_import *im)
{
	remove_tables(im->run.tablesfd);
	unlinkat(im->run.dirfd, "tables", AT_REMOVEDIR);
	rmdir(im->run.path);
}

/* The requested format, or the first file's by its content; DFTracer's if neither is known. */
static const struct exchange_format *format_of(const struct import_options *o)
{
	extern const struct exchange_format exchange_pfw;
	const char *first = o->path_count ? o->paths[0] : "";
	const struct exchange_format *found = o->format;

	if (!found && !pfw_is_trace_name(first))
		found = foreign_recognise(first);
	return found ? found : &exchange_pfw;
}

int import_run(const struct import_options *o, struct import_result *result, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	struct pfw_import *im = calloc(1, sizeof(*im));
	int rc = im ? 0 : -ENOMEM;

	*result = (struct import_result){ .first_ns = STORE_NULL, .last_ns = STORE_NULL };
	if (!im)
		return err_sys(err, ENOMEM, "cannot import");
	im->options = o;
	im->result = result;
	im->format = format_of(o);
	im->has_day_clock = !im->format->read;
	im->run = (struct store_run)STORE_RUN_INIT;
	for (size_t i = 0; i < o->path_count && rc == 0; i++)
		rc = pfw_inputs_add(&im->inputs, o->paths[i], err);
	name_of(&name, o, im->format->read != NULL);
	im->name = name.data;
	if (rc == 0)
		rc = store_run_create(&im->run, o->dir, name.data, err);
	if (rc == 0) {
		rc = import_all(im, err);
		if (rc < 0)
			remove_bundle(im);
		pfw_dims_release(&im->dims);
		import_pool_release(&im->pool);
	}
	store_run_release(&im->run);
	pfw_inputs_release(&im->inputs);
	free(im);
	return rc;
}

void import_result_release(struct import_result *r)
{
	for (size_t i = 0; i < r->problem_count; i++)
		free(r->problems[i].path);
	free(r->path);
	r->path = NULL;
	r->problem_count = 0;
}
