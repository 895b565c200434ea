/*
 * import-pool: the threads of an import, and their shared state.
 *
 * The work is a list of parts, processed in order. The reader of a part processes its pieces itself, unless other
 * threads are idle: then it queues pieces for them. So a single gzip member, which must be inflated sequentially, still
 * uses all threads. The queue holds only a few pieces.
 */
#ifndef SONDE_PFW_IMPORT_POOL_H
#define SONDE_PFW_IMPORT_POOL_H

#include "pfw/event-parse.h"
#include "pfw/import-part.h"
#include "pfw/line-template.h"
#include "pfw/name-tables.h"
#include "store/writer.h"

/*
 * import-worker: converts trace text to rows.
 *
 * A worker reads pieces of trace text, each of whole lines, and adds the rows to its own parts of the tables. Several
 * workers run in parallel on one import. A worker counts what it reads and reports lines that are not records.
 */

/* X(name, description): counted by workers, added up at the end, shown by `sonde import --json`. */
#define PFW_COUNTS(X) \
	X(lines, "lines, excluding blank lines") \
	X(events, "timed events") \
	X(calls, "of these, POSIX and STDIO calls") \
	X(metadata, "metadata records") \
	X(counters, "counter and aggregate records") \
	X(other, "other records (kept)") \
	X(brackets, "lines of brackets and commas") \
	X(invalid, "lines that are not JSON objects (skipped)") \
	X(too_long, "lines longer than 16 MiB (skipped)") \
	X(odd_durations, "events with a negative or overflowing duration (kept as text)") \
	X(quick, "lines read by the template fast path")

struct pfw_counts {
#define PFW_COUNT_FIELD(name, what) uint64_t name;
	PFW_COUNTS(PFW_COUNT_FIELD)
#undef PFW_COUNT_FIELD
};

void pfw_counts_add(struct pfw_counts *to, const struct pfw_counts *from);

/* The tables that all workers write. */
struct pfw_tables {
	int tablesfd;
	size_t text_max; /* limit for the texts of a block */
	pthread_mutex_t lock;
	struct store_writer *whole[STORE_TABLE_COUNT]; /* opened with the first row */
	uint64_t rows[STORE_TABLE_COUNT];              /* total, set at the end */
	uint64_t lost;
	struct sonde_err err; /* the first error */
};

/* The threads share the memory for texts. */
void pfw_tables_init(struct pfw_tables *t, int tablesfd, unsigned threads);
/* Closes the tables. Errors are in err; the affected rows are lost. */
void pfw_tables_close(struct pfw_tables *t);

/* A line that could not be read; `reason` is static, `where` an offset in the line, from 0. */
struct pfw_problem {
	uint64_t line; /* within the piece, from 0 */
	const char *reason;
	size_t where;
	const char *text;
	size_t bytes;
};

struct pfw_worker {
	struct pfw_counts counts;
	/* Called for each line that could not be read; the text is valid during the call. May be NULL. */
	void (*tell)(void *arg, const struct pfw_problem *problem);
	void *arg;
	/* private */
	struct pfw_tables *tables;
	struct pfw_dims *dims;
	struct pfw_cache cache;
	struct pfw_shapes *shapes; /* NULL if not used */
	struct pfw_context ctx;
	struct pfw_line line;
	struct pfw_event event;
	struct store_writer *parts[STORE_TABLE_COUNT];
	size_t text_bytes[STORE_TABLE_COUNT];
	struct buf scratch;
	struct sonde_err row_err;
};

/* has_shapes false: the general parser reads all lines. */
int pfw_worker_init(struct pfw_worker *w, struct pfw_dims *dims, struct pfw_tables *tables, bool has_shapes);
/* Flushes rows and threads; w must not be used afterwards. */
void pfw_worker_release(struct pfw_worker *w);
/*
 * Reads whole lines: text[0..n) ends in a newline, and PFW_PADDING readable bytes follow. Returns the number of lines.
 */
uint64_t pfw_worker_text(struct pfw_worker *w, const struct pfw_context *ctx, const char *text, size_t n);

#define PFW_QUEUE_MAX 64

struct import_pool {
	struct pfw_dims *dims;
	struct pfw_tables *tables;
	bool is_general;
	unsigned threads;
	struct pfw_part *parts;
	size_t part_count;
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
	uint64_t all_bytes;
	/* results */
	struct pfw_counts counts;
	uint64_t text_bytes;
	struct pfw_lost lost;
	bool is_misplit; /* an input was split in the wrong place; the import must be repeated */
	int error;
	/* private */
	pthread_mutex_t lock, long_lock, seam_lock;
	pthread_cond_t changed;
	size_t next_part;
	unsigned reading, idle;
	struct pfw_piece *queue[PFW_QUEUE_MAX];
	unsigned queued;
	struct pfw_piece *spare[PFW_QUEUE_MAX];
	unsigned spare_count;
	uint64_t done_bytes;
	atomic_size_t seam_bytes;
	size_t sewn;       /* parts with joined seams */
	struct buf seam;   /* start of the line that continues in the next part; guarded by seam_lock, as is: */
	bool is_seam_lost; /* some of it is missing */
};

/* Processes all parts with c->threads threads, including the caller. 0 or -ENOMEM; errors of a part are in the part. */
int import_pool_run(struct import_pool *c);
void import_pool_release(struct import_pool *c);

#endif
