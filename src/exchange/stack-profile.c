#include "exchange/stack-profile.h"

#include "model/dimensions.h"

#include <errno.h>
#include <string.h>

static int load_names(struct profile *p)
{
	struct store_table *t = model_table(p->run, STORE_TABLE_TASK);
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t b = 0; t && b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue; /* a damaged block is reported by model_losses */
		for (size_t i = 0; i < batch.rows && !rc; i++) {
			struct store_task row;

			store_get_task(&batch, i, &row);
			uint64_t *at = map_put_int(&p->names, (uint64_t)row.tid, NULL);
			if (at && row.name != STORE_NULL)
				*at = (uint64_t)row.name + 1;
			rc = at ? 0 : -ENOMEM;
		}
	}
	store_batch_release(&batch);
	return rc;
}

int profile_open(struct profile *p, struct model_run *run, const struct exchange_options *options,
		struct sonde_err *err)
{
	*p = (struct profile){ .run = run, .options = options, .event = STORE_NULL };
	int rc = model_stacks_open(&p->stacks, run, err);
	if (rc == 0)
		rc = model_load(run, MODEL_NAMES | MODEL_PROCESSES | MODEL_THREADS, err);
	if (rc == 0 && load_names(p) < 0)
		rc = err_sys(err, ENOMEM, "cannot load the names of threads");
	return rc;
}

void profile_release(struct profile *p)
{
	map_release(&p->names);
	model_stacks_free(p->stacks);
	p->stacks = NULL;
}

/* For a run that was cut short: tasks are only written at the end, processes during the run. */
static int64_t exe_of(const struct model_run *run, int64_t process)
{
	const struct store_process *p = model_process(run, process);

	return p ? p->exe : STORE_NULL;
}

static bool is_wanted(struct profile *p, const struct store_sample *row)
{
	const struct model_rows_opts *range = &p->options->range;

	if (range->has_range && (row->ts_ns < range->from_ns || row->ts_ns >= range->to_ns))
		return false;
	const char *event = p->event == STORE_NULL ? model_cname(p->run, row->event) : NULL;

	if (event && strcmp(event, "unsampled") != 0) /* time between samples, without a stack */
		p->event = row->event;
	return row->event == p->event;
}

int profile_each(struct profile *p, int (*take)(void *arg, const struct store_sample *row, int64_t name), void *arg)
{
	struct store_table *t = model_table(p->run, STORE_TABLE_SAMPLE);
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t b = 0; t && !rc && b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue;
		for (size_t i = 0; !rc && i < batch.rows; i++) {
			struct store_sample row;

			store_get_sample(&batch, i, &row);
			if (!is_wanted(p, &row))
				continue;
			const uint64_t *name = map_get_int(&p->names, (uint64_t)row.tid);
			rc = take(arg, &row, name && *name ? (int64_t)*name - 1 : exe_of(p->run, row.process));
		}
	}
	store_batch_release(&batch);
	return rc;
}

int64_t profile_value(struct profile *p, const struct store_sample *row)
{
	const char *event = model_cname(p->run, row->event);

	return event && !strcmp(event, FOLDED_EVENT) && row->count >= 0 ? row->count : 1;
}

int profile_frames(struct profile *p, int64_t stack, int (*take)(void *arg, const struct model_frame *frame), void *arg)
{
	int64_t chain[PROFILE_DEPTH_MAX];
	size_t depth = 0;
	int rc = 0;

	for (; stack != STORE_NULL && depth < PROFILE_DEPTH_MAX; stack = model_stack_parent(p->stacks, stack))
		chain[depth++] = stack;
	while (rc == 0 && depth-- > 0) {
		const struct model_frame *frames;
		size_t count = model_stack_place(p->stacks, chain[depth], &frames);

		while (rc == 0 && count-- > 0)
			rc = take(arg, &frames[count]);
	}
	return rc;
}
