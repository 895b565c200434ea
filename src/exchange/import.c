/* An import, from its paths to the run. */
#include "exchange/import.h"

#include "base/cleanup.h"
#include "exchange/import-reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int no_records(const struct pfw_import *im, struct sonde_err *err)
{
	const struct pfw_input *first = &im->inputs.items[0];

	if (im->inputs.count == 1 && first->error)
		return err_sys(err, first->error, "cannot read '%s'", first->path);
	err_set(err, ENODATA, "no trace records found in '%s'%s", first->path,
			im->inputs.count > 1 ? " and the others" : "");
	if (im->is_foreign)
		err_hint(err, "the file was read as %s; use --from to select another format", im->format);
	else if (im->pool.counts.invalid)
		err_hint(err, "run 'sonde trace validate %s' to list invalid lines", first->path);
	return -ENODATA;
}

/* The requested format, or the first file's by its content; DFTracer's if neither is known. */
static const struct exchange_format *format_of(const struct import_options *o, const struct exchange_format *requested)
{
	extern const struct exchange_format exchange_pfw;
	const char *first = o->path_count ? o->paths[0] : "";
	const struct exchange_format *found = requested;

	if (!found && !pfw_is_trace_name(first))
		found = foreign_recognise(first);
	return found ? found : &exchange_pfw;
}

static int read_all(struct pfw_import *im, const struct exchange_format *format, struct sonde_err *err)
{
	int rc = im->is_foreign ? foreign_read_all(im, format, err) : pfw_read_all(im, err);
	const struct pfw_counts *c = &im->pool.counts;

	/* Records of other kinds are skipped: a file of them alone is another format, or noise. */
	if (rc == 0 && c->events + c->metadata + c->counters == 0)
		rc = no_records(im, err);
	if (rc == 0)
		return pfw_run_finish(im, err);
	store_sink_close(&im->sink, NULL);
	return rc;
}

int import_run(const struct exchange_format *format, const struct import_options *o, struct import_result *result,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	struct pfw_import *im = calloc(1, sizeof(*im));
	int rc = im ? 0 : -ENOMEM;

	*result = (struct import_result){ .first_ns = STORE_NULL, .last_ns = STORE_NULL };
	if (!im)
		return err_sys(err, ENOMEM, "cannot import");
	im->options = o;
	im->result = result;
	format = format_of(o, format);
	im->format = format->name;
	im->is_foreign = format->read != NULL;
	im->has_day_clock = !im->is_foreign;
	im->run = (struct store_run)STORE_RUN_INIT;
	for (size_t i = 0; i < o->path_count && rc == 0; i++)
		rc = pfw_inputs_add(&im->inputs, o->paths[i], err);
	/* The name of the run: "train" for "/x/train.pfw.gz". */
	const char *path = o->name ? o->name : o->paths[0], *end = path + strlen(path), *from;
	while (end > path + 1 && end[-1] == '/')
		end--;
	for (from = end; from > path && from[-1] != '/'; from--)
		;
	buf_add(&name, from, (size_t)(end - from));
	if (!o->name && name.len > 3 && !strcmp(name.data + name.len - 3, ".gz"))
		name.data[name.len -= 3] = '\0';
	end = o->name ? NULL : strrchr(name.data, '.');
	if (end && end > name.data && (im->is_foreign || !strcmp(end, ".pfw")))
		name.data[name.len = (size_t)(end - name.data)] = '\0';
	im->name = name.data;
	if (rc == 0)
		rc = store_run_create(&im->run, o->dir, name.data, err);
	if (rc == 0) {
		rc = read_all(im, format, err);
		if (rc < 0) {
			/* What the import created; the directory stays if it holds anything else. */
			pfw_remove_tables(im->run.tablesfd);
			unlinkat(im->run.dirfd, "tables", AT_REMOVEDIR);
			rmdir(im->run.path);
		}
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
