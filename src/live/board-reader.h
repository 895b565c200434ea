/*
 * board: a copy of a process's board (sonde/shm.h), safe to look at.
 *
 * The file is the program's, which may write anything into it and cut it at any time: it is
 * read, not mapped, and every index and name of the copy is checked.
 */
#ifndef SONDE_LIVE_BOARD_READER_H
#define SONDE_LIVE_BOARD_READER_H

#include "base/err.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>

struct live_board {
	struct sonde_segment head;
	struct sonde_board board;
	size_t metric_count, histogram_count; /* that were read: at most SONDE_METRICS_MAX, SONDE_HISTOGRAMS_MAX */
};

/* The board file `name` in a ring directory; -EBADMSG when it is none. */
int live_board_read(struct live_board *b, int dirfd, const char *name, struct sonde_err *err);
/* The same by an open file: its head, which does not change; and what is on it now, with its histograms or without. One
 * read does when there are no more metrics than expected. */
int live_board_head(int fd, struct sonde_segment *head);
int live_board_poll(struct live_board *b, int fd, size_t expected, bool has_histograms);
/* Metric i; NULL when it is not there (yet) or makes no sense. Its name ends in a NUL. */
const struct sonde_metric *live_board_metric(struct live_board *b, size_t i);
/* Of a metric; NULL: it has none. */
const struct sonde_histogram *live_board_histogram(const struct live_board *b, const struct sonde_metric *m);
double live_real(uint64_t bits);

#endif
