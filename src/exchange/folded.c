/*
 * folded: stacks as flame graph tools read them, a line each:
 *
 *	program;main;work;read 12
 *
 * The number is how many samples had that stack; all lines together are all samples of
 * the run's first sampled event. Function names have no semicolons in them: those
 * of C++ that do get commas. Frames of the kernel end in _[k].
 */
#include "exchange/exchange.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "model/dims.h"
#include "model/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DEPTH_MAX 5120 /* Python recurses deeply */

struct folding {
	struct model_run *run;
	const struct exchange_options *options;
	struct model_stacks *stacks;
	struct map names;  /* tid -> string id of its name + 1 */
	struct map counts; /* (name, stack) -> samples */
	struct map lines;  /* text -> samples */
	int64_t event;     /* STORE_NULL: none seen yet */
};

static int load_block(struct store_table *t, size_t block, struct store_batch *batch)
{
	return store_block_load(t, block, NULL, 0, batch, NULL); /* a damaged one is told by model_losses */
}

static int load_names(struct folding *f)
{
	struct store_table *t = model_table(f->run, STORE_TABLE_TASK);
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t b = 0; t && b < store_table_blocks(t); b++) {
		if (load_block(t, b, &batch))
			continue;
		for (size_t i = 0; i < batch.rows && !rc; i++) {
			struct store_task row;
			uint64_t *at;

			store_get_task(&batch, i, &row);
			at = map_put_int(&f->names, (uint64_t)row.tid, NULL);
			if (at && row.name != STORE_NULL)
				*at = (uint64_t)row.name + 1;
			rc = at ? 0 : -ENOMEM;
		}
	}
	store_batch_release(&batch);
	return rc;
}

/* Of a run that was cut short: the tasks are written at the end, processes in between. */
static int64_t exe_of(const struct model_run *run, int64_t process)
{
	const struct store_process *p = model_process(run, process);

	return p ? p->exe : STORE_NULL;
}

static int count_row(struct folding *f, const struct store_sample *row)
{
	const uint64_t *name = map_get_int(&f->names, (uint64_t)row->tid);
	int64_t key[2] = { name && *name ? (int64_t)*name - 1 : exe_of(f->run, row->process), row->stack };
	uint64_t *at;

	if (f->options->has_range && (row->ts_ns < f->options->from_ns || row->ts_ns >= f->options->to_ns))
		return 0;
	if (f->event == STORE_NULL)
		f->event = row->event;
	if (row->event != f->event)
		return 0;
	at = map_put(&f->counts, key, sizeof(key), NULL);
	if (!at)
		return -ENOMEM;
	++*at;
	return 0;
}

static int count_samples(struct folding *f)
{
	struct store_table *t = model_table(f->run, STORE_TABLE_SAMPLE);
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t b = 0; t && !rc && b < store_table_blocks(t); b++) {
		if (load_block(t, b, &batch))
			continue;
		for (size_t i = 0; !rc && i < batch.rows; i++) {
			struct store_sample row;

			store_get_sample(&batch, i, &row);
			rc = count_row(f, &row);
		}
	}
	store_batch_release(&batch);
	return rc;
}

static void add_label(struct buf *line, const char *text)
{
	for (; *text; text++)
		buf_addc(line, *text == ';' ? ',' : *text == '\n' ? ' ' : *text);
}

/* From the outermost frame inwards. */
static void add_stack(struct folding *f, struct buf *line, int64_t stack)
{
	int64_t chain[DEPTH_MAX];
	size_t depth = 0;

	for (; stack != STORE_NULL && depth < DEPTH_MAX; stack = model_stack_parent(f->stacks, stack))
		chain[depth++] = stack;
	while (depth-- > 0) {
		const struct model_frame *frames;
		size_t count = model_stack_place(f->stacks, chain[depth], &frames);

		while (count-- > 0) {
			buf_addc(line, ';');
			add_label(line, model_frame_label(&frames[count]));
			buf_adds(line, frames[count].is_kernel ? "_[k]" : "");
		}
	}
}

static int make_lines(struct folding *f)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	for (size_t i = 0; i < f->counts.count; i++) {
		int64_t key[2];
		size_t len;
		uint64_t *at;
		const char *name;

		memcpy(key, map_key(&f->counts, i, &len), sizeof(key));
		name = model_cname(f->run, key[0]);
		buf_reset(&line);
		add_label(&line, name ? name : "[unknown]");
		add_stack(f, &line, key[1]);
		at = buf_error(&line) ? NULL : map_put(&f->lines, line.data, line.len, NULL);
		if (!at)
			return -ENOMEM;
		*at += map_value(&f->counts, i);
	}
	return 0;
}

static int print_lines(const struct folding *f, FILE *out, struct sonde_err *err)
{
	for (size_t i = 0; i < f->lines.count; i++) {
		size_t len;
		const char *text = map_key(&f->lines, i, &len);

		if (fprintf(out, "%.*s %" PRIu64 "\n", (int)len, text, map_value(&f->lines, i)) < 0)
			return err_sys(err, errno, "cannot write the stacks");
	}
	return 0;
}

static int write_folded(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct folding f = { .run = run, .options = options, .event = STORE_NULL };
	int rc = model_stacks_open(&f.stacks, run, err);

	if (!rc) {
		rc = model_load(run, MODEL_NAMES | MODEL_PROCESSES, err);
		if (!rc)
			rc = load_names(&f);
		if (!rc)
			rc = count_samples(&f);
		if (!rc)
			rc = make_lines(&f);
		rc = rc ? err_sys(err, -rc, "cannot count the stacks") : print_lines(&f, out, err);
	}
	map_release(&f.names);
	map_release(&f.counts);
	map_release(&f.lines);
	model_stacks_free(f.stacks);
	return rc;
}

const struct exchange_format exchange_folded = {
	.name = "folded",
	.extension = ".folded",
	.what = "Samples by stack, a line each, for flame graph tools.",
	.write = write_folded,
};
