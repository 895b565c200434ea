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
#include <stdint.h>

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

/*
 * Events per second, from a counter or a rate on a board (sonde/shm.h).
 *
 * Boards have timestamps in ticks; a clock converts them. live_current_rate covers the last LIVE_RATE_SECONDS, only
 * for rates, and is also right after the last event. A live_rate covers a whole run: all processes that
 * count under one name, from the first update to the last, or from a marked time (the end of a warm-up).
 */

#define LIVE_RATE_SECONDS 10.0

struct live_clock { /* of a ring directory */
	bool is_monotonic;
	uint64_t start_ticks;
	int64_t start_mono_ns;
	double tick_s; /* NaN if unknown */
};

/* Reads the ring directory's control file; if it is unreadable, tick_s is unknown. */
void live_clock_read(struct live_clock *c, int dirfd);
/* Measures the length of a tick, from the ring's start to now. */
void live_clock_set(struct live_clock *c);
uint64_t live_clock_ticks(const struct live_clock *c); /* now */

/* NaN if it is too young or invalid. h: the metric's histogram; NULL if it has none. */
double live_current_rate(const struct sonde_metric *m, const struct sonde_histogram *h, const struct live_clock *c,
		uint64_t now_ticks);

struct live_rate {
	double total;
	double first_value, first_s, last_s; /* of the first process; of the last one */
	double marked_total, marked_s;
	bool has_any, is_marked;
};

/* Adds the final values of a process. */
void live_rate_add(struct live_rate *p, const struct sonde_metric *m, const struct live_clock *c);
/* Counts only later updates from now on. Call it for each running process, with its current values. */
void live_rate_mark(struct live_rate *p, const struct sonde_metric *m, const struct live_clock *c, double now_s);
double live_rate_per_second(const struct live_rate *p); /* NaN if no time has passed */

#endif
