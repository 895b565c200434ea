/* io-table: the queries of the io pass and how to read them, also for diagnosis and network. Private to analyze/. */
#ifndef SONDE_ANALYZE_IO_TABLE_H
#define SONDE_ANALYZE_IO_TABLE_H

#include "analyze/columns.h"

struct analyze_io {
	int by_call, by_path, by_target, by_process, by_pattern, by_path_pattern, by_bucket;
};

/*
 * Aggregates of by_path (keys: path, kind), by_target (second path, kind), by_process (process, kind) and by_bucket
 * (bucket, kind).
 */
enum { IO_Q_COUNT, IO_Q_DUR, IO_Q_BYTES, IO_Q_ERRORS, IO_Q_SMALL };
/* Of by_path only. */
enum { IO_Q_BUFFERED = 5 };
/* Further aggregates of by_call, after the first four. */
enum { IO_Q_DURS = 4, IO_Q_SIZES };

/* Sums over groups. */
struct io_sums {
	uint64_t calls, errors, small;
	int64_t dur_ns, bytes;
	uint64_t reads, writes, copies, opens, stats;
	/* A copy is read from the path of its group; by_target has the paths that it is written to. */
	int64_t read_bytes, write_bytes, copied_bytes;
};

void io_sums_add(struct io_sums *sums, const struct engine_groups *g, size_t i, int64_t kind);
/* Sums the groups with the same first key, file kinds only; returns the index of the next group. */
size_t io_sum_key(const struct engine_groups *g, size_t i, struct io_sums *sums);

/* io-paths.c: all paths with file calls, by number; count may be 0. Valid as long as a; NULL: out of memory. */
struct io_path *io_paths_collect(struct analyze *a, const struct analyze_io *io, size_t *count);
/* Adds the tables by_file and by_directory. */
void io_paths_add(struct analyze *a, struct analyze_section *s, const struct io_path *paths, size_t count);

#endif
