/*
 * pfw: DFTracer's traces, one JSON object per line.
 *
 *   call, span         X, with the id, level and hashes it was imported with
 *   mark, step         X without a duration
 *   counter            C
 *   file, host, ...    M: FH, HH, SH, CM, thread_name; start and end of each process
 *
 * Times are integer microseconds of wall-clock time; a run imported in another unit is written in that unit. Fractions
 * of the unit are truncated, except those that an imported trace had, which are written as decimals.
 */
#include "pfw/pfw-write.h"
#include "exchange/exchange.h"
#include "exchange/timeline.h"
#include "model/rows.h"

#include <errno.h>
#include <string.h>

/* Records that were kept verbatim. */

static char phase_of(const struct store_text *phase)
{
	return phase && phase->bytes == 1 && strchr("MCA", phase->data[0]) ? phase->data[0] : 0;
}

static void write_record(struct pfw_writer *w, const struct store_line *row)
{
	const struct pfw_origin *o = pfw_origin_of(w, row->process);
	const struct store_text *phase = model_name(w->run, row->phase), *name = model_name(w->run, row->name);
	struct pfw_head head = { row->id, row->pid, row->tid, name, model_name(w->run, row->category), row->extra,
		phase_of(phase) };
	bool is_definition = name && name->bytes == 2 && name->data[1] == 'H';

	pfw_put_head(w, o, &head);
	pfw_put_ts(w, o, row->ts_ns);
	if (head.phase)
		pfw_put_phase(w, o, head.phase);
	else if (phase)
		pfw_put_text(&w->line, ",\"ph\":", phase);
	buf_adds(&w->line, row->args && pfw_put_fields(w, o, row->args, ",\"args\":{", is_definition) ? "}}" : "}");
	pfw_end_line(w);
}

static int write_records(struct pfw_writer *w, const struct exchange_options *options, struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = false };
	struct model_rows *rows;
	const void *row;
	int rc = model_rows_open(&rows, model_table(w->run, STORE_TABLE_LINE), &opts, err);

	if (rc < 0)
		return rc;
	while ((rc = model_rows_next(rows, &row, err)) == 0 && row && !w->error) {
		int64_t ts_ns = ((const struct store_line *)row)->ts_ns;

		if (!options->has_range || ts_ns == STORE_NULL || (ts_ns >= options->from_ns && ts_ns < options->to_ns))
			write_record(w, row);
	}
	model_rows_free(rows);
	return rc;
}

static int write_events(struct pfw_writer *w, const struct exchange_options *options, struct sonde_err *err)
{
	struct timeline t;
	enum store_table_id table;
	const int64_t *row;
	int rc = timeline_open(&t, w->run, options, err);

	if (rc < 0)
		return rc;
	while ((rc = timeline_next(&t, &table, &row, err)) == 0 && row && !w->error)
		pfw_write_event(w, table, row);
	timeline_release(&t);
	return rc;
}

/* All generations but one write array brackets. */
static bool has_brackets(const struct pfw_writer *w)
{
	if (w->generation)
		return w->generation != 'E';
	for (size_t i = 1; i < w->origin_count; i++)
		if (w->origins[i].process && w->origins[i].generation != 'E')
			return true;
	return w->origin_count < 2;
}

static int write_all(struct pfw_writer *w, const struct exchange_options *options, struct sonde_err *err)
{
	bool is_framed = has_brackets(w);
	int rc = 0;

	if (is_framed && fputs("[\n", w->out) < 0)
		w->error = -errno;
	if (w->is_imported)
		rc = write_records(w, options, err);
	else
		pfw_write_starts(w);
	if (rc == 0)
		rc = write_events(w, options, err);
	if (!w->is_imported)
		pfw_write_ends(w);
	if (is_framed && fputs("]", w->out) < 0)
		w->error = -errno;
	if (rc == 0 && w->error)
		rc = err_sys(err, -w->error, "cannot write the trace");
	return rc;
}

static int write_run(struct model_run *run, FILE *out, const struct exchange_options *options, char generation,
		struct sonde_err *err)
{
	struct pfw_writer w;
	int rc = pfw_writer_init(&w, run, out, generation, err);

	if (rc == 0)
		rc = write_all(&w, options, err);
	pfw_writer_release(&w);
	return rc;
}

static int write_own(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	return write_run(run, out, options, 0, err);
}

static int write_c(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	return write_run(run, out, options, 'C', err);
}

static int write_d(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	return write_run(run, out, options, 'D', err);
}

static int write_e(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	return write_run(run, out, options, 'E', err);
}

const struct exchange_format exchange_pfw = {
	.name = "pfw",
	.extension = ".pfw",
	.what = "DFTracer's trace, of the generation it was imported from, else of 1.0.8 to 1.0.15 (C).",
	.write = write_own,
};

const struct exchange_format exchange_pfw_c = {
	.name = "pfw_c",
	.extension = ".pfw",
	.what = "DFTracer's trace as versions 1.0.8 to 1.0.15 write it.",
	.write = write_c,
};

const struct exchange_format exchange_pfw_d = {
	.name = "pfw_d",
	.extension = ".pfw",
	.what = "DFTracer's trace as versions 2.0.0 to 2.0.2 write it.",
	.write = write_d,
};

const struct exchange_format exchange_pfw_e = {
	.name = "pfw_e",
	.extension = ".pfw",
	.what = "DFTracer's trace as versions from 2.1 on write it.",
	.write = write_e,
};
