/*
 * Scanning a table: each worker processes the next block in range until none is left.
 */
#include "store/table-read.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define WORKERS_MAX 256u

struct scan {
	struct store_table *table;
	const struct store_scan_opts *opts;
	store_scan_fn *fn;
	void *arg;
	atomic_size_t next;
	atomic_bool is_over;
	pthread_mutex_t lock;
	int rc; /* of the first worker that ended the scan */
	struct sonde_err *err;
};

struct worker {
	struct scan *scan;
	unsigned number;
	pthread_t thread;
};

static bool in_part(size_t block, const struct store_scan_opts *o)
{
	return o->parts < 2 || block % o->parts == o->part;
}

static bool in_range(const struct store_block_info *b, const struct store_scan_opts *o)
{
	int64_t end;

	if (!o->has_range || b->time_min_ns == STORE_NULL)
		return true;
	if (__builtin_add_overflow(b->time_max_ns, b->dur_max_ns, &end))
		end = INT64_MAX;
	return b->time_min_ns <= o->to_ns && end >= o->from_ns;
}

static void end_scan(struct scan *s, int rc, const struct sonde_err *err)
{
	pthread_mutex_lock(&s->lock);
	if (s->rc == 0) {
		s->rc = rc;
		if (s->err && err)
			*s->err = *err;
	}
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->is_over, true);
}

static void scan_block(struct scan *s, unsigned worker, size_t block, struct store_batch *batch)
{
	struct sonde_err err = SONDE_ERR_INIT;
	int rc = store_block_load(s->table, block, s->opts->cols, s->opts->ncols, batch, &err);

	if (rc == -EBADMSG)
		return; /* counted as loss */
	if (rc < 0) {
		end_scan(s, rc, &err);
		return;
	}
	rc = s->fn(s->arg, worker, block, batch);
	if (rc)
		end_scan(s, rc, NULL);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct scan *s = w->scan;
	struct store_batch batch = STORE_BATCH_INIT;
	size_t count = store_table_blocks(s->table), block;

	while (!atomic_load(&s->is_over) && (block = atomic_fetch_add(&s->next, 1)) < count)
		if (in_part(block, s->opts) && in_range(store_block_info(s->table, block), s->opts))
			scan_block(s, w->number, block, &batch);
	store_batch_release(&batch);
	return NULL;
}

unsigned store_scan_workers(const struct store_table *t, const struct store_scan_opts *opts)
{
	long cpus = opts->threads ? (long)opts->threads : sysconf(_SC_NPROCESSORS_ONLN);
	size_t blocks = store_table_blocks(t);
	size_t n = cpus > 0 ? (size_t)cpus : 1;

	if (n > blocks)
		n = blocks;
	if (n > WORKERS_MAX)
		n = WORKERS_MAX;
	return n ? (unsigned)n : 1;
}

/* Worker 0 is the calling thread; if a thread cannot be started, the others process its blocks. */
static void run_workers(struct scan *s, unsigned count)
{
	struct worker workers[WORKERS_MAX];
	unsigned started = 1;

	for (unsigned i = 0; i < count; i++)
		workers[i] = (struct worker){ .scan = s, .number = i };
	while (started < count && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
		started++;
	work(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

int store_scan(struct store_table *t, const struct store_scan_opts *opts, store_scan_fn *fn, void *arg,
		struct sonde_err *err)
{
	struct scan s = { .table = t, .opts = opts, .fn = fn, .arg = arg, .err = err };

	pthread_mutex_init(&s.lock, NULL);
	run_workers(&s, store_scan_workers(t, opts));
	pthread_mutex_destroy(&s.lock);
	return s.rc;
}

static int look_only(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	(void)arg, (void)worker, (void)block, (void)batch;
	return 0;
}

int store_table_check(struct store_table *t, struct sonde_err *err)
{
	struct store_scan_opts all = { .cols = NULL };

	return store_scan(t, &all, look_only, NULL, err);
}
