/*
 * Opening a table: map the file, validate its header, match its columns with the schema.
 */
#include "store/table-read.h"

#include "base/cleanup.h"
#include "store/table-private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORKERS_MAX 256u

/* Use the columns of the file. Kinds of a newer version cannot be read and count as missing INTs. */
static void use_own_schema(struct store_table *t)
{
	t->own = (struct store_schema){
		.name = t->file.name,
		.doc = "",
		.version = t->file.schema_version,
		.count = t->file.columns,
		.columns = t->own_columns,
	};
	for (unsigned c = 0; c < t->file.columns; c++) {
		const struct store_file_column *f = &t->file.column[c];
		bool is_known = f->kind >= STORE_INT && f->kind <= STORE_TEXT;

		t->own_columns[c] = (struct store_column_schema){ .name = f->name,
			.doc = "",
			.kind = is_known ? f->kind : STORE_INT,
			.semantic = f->semantic <= STORE_STACK ? f->semantic : STORE_PLAIN };
	}
	t->schema = &t->own;
}

static int read_head(struct store_table *t, struct sonde_err *err)
{
	int rc = store_parse_head(t->bytes, t->size, &t->file);

	if (rc == -ENOTSUP)
		return err_set(err, ENOTSUP, "the table '%s' has format %u, this program reads up to %u", t->name,
				t->file.version, STORE_FORMAT_VERSION);
	if (rc < 0)
		return err_set(err, EBADMSG, "the table '%s' cannot be read: its head is damaged or cut off", t->name);
	t->schema = store_schema_find(t->file.name);
	if (!t->schema)
		use_own_schema(t);
	/* Columns are matched by name: an older or newer program wrote the file. */
	int stream = 0;

	for (unsigned c = 0; c < t->schema->count; c++)
		t->stream_of[c] = -1;
	for (unsigned f = 0; f < t->file.columns; f++) {
		const struct store_file_column *column = &t->file.column[f];
		int c = store_schema_column(t->schema, column->name);

		if (c >= 0 && t->schema->columns[c].kind == column->kind)
			t->stream_of[c] = stream;
		stream += column->streams;
	}
	return 0;
}

static struct store_table *table_new(const char *name)
{
	struct store_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	snprintf(t->name, sizeof(t->name), "%s", name);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

/* Reads what is needed before any block. On failure the table is freed. */
static int table_start(struct store_table *t, struct store_table **out, struct sonde_err *err)
{
	int rc = read_head(t, err);

	if (rc == 0 && store_table_find_blocks(t) < 0)
		rc = err_sys(err, ENOMEM, "cannot read the table '%s'", t->name);
	if (rc < 0)
		store_table_free(t);
	else
		*out = t;
	return rc;
}

static int map_file(struct store_table *t, int dirfd, struct sonde_err *err)
{
	char path[300];
	CLEANUP(cleanup_fd) int fd = -1;

	snprintf(path, sizeof(path), "%s.tbl", t->name);
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "cannot open the table '%s'", path);
	struct stat st;
	void *bytes;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "cannot read the table '%s'", t->name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EBADMSG, "the table '%s' is not a file", t->name);
	if (st.st_size == 0)
		return 0;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return err_sys(err, errno, "cannot map the table '%s'", t->name);
	t->bytes = bytes;
	t->size = (size_t)st.st_size;
	t->is_mapped = true;
	return 0;
}

int store_table_open(struct store_table **out, int dirfd, const char *name, struct sonde_err *err)
{
	struct store_table *t = table_new(name);
	int rc;

	if (!t)
		return err_sys(err, ENOMEM, "cannot open the table '%s'", name);
	rc = map_file(t, dirfd, err);
	if (rc < 0) {
		store_table_free(t);
		return rc;
	}
	return table_start(t, out, err);
}

int store_table_open_memory(struct store_table **out, const void *bytes, size_t n, const char *name,
		struct sonde_err *err)
{
	struct store_table *t = table_new(name);

	if (!t)
		return err_sys(err, ENOMEM, "cannot open the table '%s'", name);
	t->bytes = bytes;
	t->size = n;
	return table_start(t, out, err);
}

void store_table_free(struct store_table *t)
{
	if (!t)
		return;
	if (t->is_mapped)
		munmap((void *)(uintptr_t)t->bytes, t->size);
	pthread_mutex_destroy(&t->lock);
	free(t->blocks);
	free(t->is_damaged);
	free(t);
}

const struct store_schema *store_table_schema(const struct store_table *t)
{
	return t->schema;
}

uint64_t store_table_rows(const struct store_table *t)
{
	return t->rows;
}

size_t store_table_blocks(const struct store_table *t)
{
	return t->count;
}

const struct store_block_info *store_block_info(const struct store_table *t, size_t block)
{
	return &t->blocks[block];
}

/* Scans: each worker processes the next block in range until none is left. */

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

static void finish_scan(struct scan *s, int rc, const struct sonde_err *err)
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
		finish_scan(s, rc, &err);
		return;
	}
	rc = s->fn(s->arg, worker, block, batch);
	if (rc)
		finish_scan(s, rc, NULL);
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

int store_scan(struct store_table *t, const struct store_scan_opts *opts, store_scan_fn *fn, void *arg,
		struct sonde_err *err)
{
	struct scan s = { .table = t, .opts = opts, .fn = fn, .arg = arg, .err = err };

	pthread_mutex_init(&s.lock, NULL);
	/* Worker 0 is the calling thread; if a thread cannot be started, the others process its blocks. */
	unsigned count = store_scan_workers(t, opts);
	struct worker workers[WORKERS_MAX];
	unsigned started = 1;

	for (unsigned i = 0; i < count; i++)
		workers[i] = (struct worker){ .scan = &s, .number = i };
	while (started < count && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
		started++;
	work(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
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
