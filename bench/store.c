/*
 * Encoding and decoding speed of the store on one core, and bytes per row.
 *
 * Two tables: five plain columns, and `io` as filled by the tracer's loop of 16-byte preads. Times are CPU time of
 * this process, the minimum of several rounds; random data is generated beforehand, so that only the store is
 * measured.
 *
 *   store [million rows [rounds]]
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "store/table-read.h"
#include "store/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct store_column_schema plain_columns[] = {
	{ .name = "ts_ns", .kind = STORE_INT, .semantic = STORE_TIME },
	{ .name = "dur_ns", .kind = STORE_INT, .semantic = STORE_DURATION },
	{ .name = "tid", .kind = STORE_INT, .semantic = STORE_PLAIN },
	{ .name = "call", .kind = STORE_INT, .semantic = STORE_STRING },
	{ .name = "size", .kind = STORE_INT, .semantic = STORE_COUNT },
};
static const struct store_schema plain_schema = {
	.name = "plain",
	.version = 1,
	.count = 5,
	.columns = plain_columns,
};

struct plain {
	int64_t ts_ns, dur_ns, tid, call, size;
};

static uint64_t seed = 88172645463325252u;

static uint64_t random_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Duration of a short call in nanoseconds: a narrow bell curve, with occasional interruptions. */
static int64_t some_ns(int64_t typical)
{
	uint64_t r = random_bits();
	int64_t bell = (int64_t)((r & 63) + (r >> 6 & 63) + (r >> 12 & 63) + (r >> 18 & 63));

	return typical + bell + ((r >> 24) % 1000 == 0 ? (int64_t)(r >> 40 & 0xffff) : 0);
}

/* Start and duration of calls, for the rows of one block: blocks are compressed independently. */
static struct {
	int64_t ts_ns, dur_ns;
} calls[STORE_BLOCK_ROWS];

static void make_calls(void)
{
	int64_t now = 1000000000000;

	for (size_t i = 0; i < STORE_BLOCK_ROWS; i++) {
		calls[i].ts_ns = now;
		calls[i].dur_ns = some_ns(250);
		now += calls[i].dur_ns + some_ns(60);
	}
}

static void fill_plain(size_t i, void *place)
{
	struct plain *row = place;

	row->ts_ns = calls[i % STORE_BLOCK_ROWS].ts_ns;
	row->dur_ns = calls[i % STORE_BLOCK_ROWS].dur_ns;
	row->tid = 1000 + (i / 512) % 2;
	row->call = 3 + (int64_t)(i * 0x9e3779b97f4a7c15u >> 63);
	row->size = 16;
}

static void fill_io(size_t i, void *place)
{
	struct store_io *row = place;

	row->ts_ns = calls[i % STORE_BLOCK_ROWS].ts_ns;
	row->dur_ns = calls[i % STORE_BLOCK_ROWS].dur_ns;
	row->process = 1;
	row->pid = row->tid = 4711;
	row->call = i % 2 ? 17 : 18; /* pread, pwrite */
	row->file = (int64_t)1 << 32 | 3;
	row->file2 = STORE_NULL;
	row->fd = 3;
	row->ret = row->size = 16;
	row->errnum = row->flags = 0;
	row->offset = (int64_t)(i / 2 % 4096) * 16;
	row->arg0 = row->arg1 = row->arg2 = row->arg3 = STORE_NULL;
	row->id = row->parent = row->depth = STORE_NULL;
	row->text = row->args = row->extra = NULL;
}

static void die(const struct sonde_err *err)
{
	fprintf(stderr, "store: %s\n", err->text);
	exit(1);
}

/* CPU nanoseconds of writing `rows`; bytes receives the size of the file. */
static int64_t encode(int dirfd, const struct store_schema *schema, void (*fill)(size_t, void *), size_t rows,
		uint64_t *bytes)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_writer *w;
	union {
		struct plain plain;
		struct store_io io;
	} row;
	int64_t start = clock_cpu_ns();

	if (store_writer_open(&w, dirfd, schema, &err) < 0)
		die(&err);
	for (size_t i = 0; i < rows; i++) {
		fill(i, &row);
		if (store_writer_add(w, &row, &err) < 0)
			die(&err);
	}
	if (store_writer_flush(w, &err) < 0)
		die(&err);
	*bytes = store_writer_bytes(w);
	if (store_writer_close(w, &err) < 0)
		die(&err);
	return clock_cpu_ns() - start;
}

static int add_up(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	(void)worker, (void)block;
	*(size_t *)arg += batch->rows;
	return 0;
}

static int64_t decode(int dirfd, const char *name, const int *cols, size_t ncols, size_t rows)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_scan_opts opts = { .cols = cols, .ncols = ncols, .threads = 1 };
	struct store_table *t;
	size_t seen = 0;
	int64_t start = clock_cpu_ns();

	if (store_table_open(&t, dirfd, name, &err) < 0 || store_scan(t, &opts, add_up, &seen, &err) < 0)
		die(&err);
	store_table_free(t);
	if (seen != rows) {
		fprintf(stderr, "store: %zu rows written, %zu read\n", rows, seen);
		exit(1);
	}
	return clock_cpu_ns() - start;
}

struct result {
	int64_t encode_ns, decode_ns, some_ns;
	uint64_t bytes;
};

static int64_t least(int64_t a, int64_t b)
{
	return a == 0 || b < a ? b : a;
}

static void measure(int dirfd, const struct store_schema *schema, void (*fill)(size_t, void *), size_t rows,
		unsigned rounds)
{
	static const int two[] = { 0, 1 };
	struct result r = { .bytes = 0 };
	char name[64];

	snprintf(name, sizeof(name), "%s.tbl", schema->name);
	for (unsigned i = 0; i < rounds; i++) {
		unlinkat(dirfd, name, 0);
		r.encode_ns = least(r.encode_ns, encode(dirfd, schema, fill, rows, &r.bytes));
		r.decode_ns = least(r.decode_ns, decode(dirfd, schema->name, NULL, 0, rows));
		r.some_ns = least(r.some_ns, decode(dirfd, schema->name, two, 2, rows));
	}
	printf("%-6s %2u columns  encode %6.1f M rows/s  decode %6.1f M rows/s  time and duration %6.1f M rows/s"
	       "  %5.2f bytes/row\n",
			schema->name, schema->count, (double)rows * 1e3 / (double)r.encode_ns,
			(double)rows * 1e3 / (double)r.decode_ns, (double)rows * 1e3 / (double)r.some_ns,
			(double)r.bytes / (double)rows);
}

int main(int argc, char **argv)
{
	size_t rows = (argc > 1 ? strtoul(argv[1], NULL, 10) : 4) * 1000000;
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
	char dir[] = "/tmp/sonde-bench-XXXXXX";
	int dirfd = mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (dirfd < 0 || rows == 0 || rounds == 0) {
		fprintf(stderr, "usage: store [million rows [rounds]]\n");
		return 2;
	}
	make_calls();
	measure(dirfd, &plain_schema, fill_plain, rows, rounds);
	measure(dirfd, &store_io_schema, fill_io, rows, rounds);
	close(dirfd);
	fs_remove_tree(AT_FDCWD, dir);
	return 0;
}
