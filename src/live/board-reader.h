/*
 * board-reader: a validated copy of a process's board (sonde/shm.h).
 *
 * The program owns the file and may write anything to it or truncate it at any time. So it is read, not mapped, and
 * every index and name of the copy is checked.
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
	size_t metric_count, histogram_count; /* that were read: up to SONDE_METRICS_MAX, SONDE_HISTOGRAMS_MAX */
};

/* Reads the board file `name` in a ring directory; -EBADMSG if it is not a board. */
int live_board_read(struct live_board *b, int dirfd, const char *name, struct sonde_err *err);
/*
 * The same for an open file: the header, which does not change; and the current values, with or without histograms.
 * One read suffices for up to the expected number of metrics.
 */
int live_board_head(int fd, struct sonde_segment *head);
int live_board_poll(struct live_board *b, int fd, size_t expected, bool has_histograms);
/* Metric i; NULL if it does not exist (yet) or is invalid. Its name is NUL-terminated. */
const struct sonde_metric *live_board_metric(struct live_board *b, size_t i);
/* The histogram of a metric; NULL if it has none. */
const struct sonde_histogram *live_board_histogram(const struct live_board *b, const struct sonde_metric *m);
double live_real(uint64_t bits);

#endif
