#include "live/board-reader.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int read_all(int fd, off_t at, void *to, size_t n)
{
	char *into = to;

	while (n) {
		ssize_t got = pread(fd, into, n, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EBADMSG;
		into += got;
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

int live_board_head(int fd, struct sonde_segment *head)
{
	int rc = read_all(fd, 0, head, sizeof(*head));

	if (rc == 0 &&
			(head->magic != SONDE_SEGMENT_MAGIC || head->version != SONDE_SHM_VERSION ||
					head->kind != SONDE_SEGMENT_BOARD))
		rc = -EBADMSG;
	return rc;
}

/* Reads only allocated slots: a board is large and mostly empty. */
int live_board_poll(struct live_board *b, int fd, size_t expected, bool has_histograms)
{
	const off_t at = SONDE_SEGMENT_HEAD_BYTES;
	const size_t first = expected < SONDE_METRICS_MAX ? expected : SONDE_METRICS_MAX;
	const size_t guess = offsetof(struct sonde_board, metrics) + first * sizeof(struct sonde_metric);
	struct sonde_board *to = &b->board;
	int rc = read_all(fd, at, to, guess);

	if (rc < 0)
		return rc;
	b->metric_count = to->metric_count < SONDE_METRICS_MAX ? to->metric_count : SONDE_METRICS_MAX;
	b->histogram_count = to->histogram_count < SONDE_HISTOGRAMS_MAX ? to->histogram_count : SONDE_HISTOGRAMS_MAX;
	if (!has_histograms)
		b->histogram_count = 0;
	if (b->metric_count > first)
		rc = read_all(fd, at + (off_t)guess, &to->metrics[first],
				(b->metric_count - first) * sizeof(*to->metrics));
	return rc < 0 ? rc
		      : read_all(fd, at + (off_t)offsetof(struct sonde_board, histograms), to->histograms,
					b->histogram_count * sizeof(*to->histograms));
}

int live_board_read(struct live_board *b, int dirfd, const char *name, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return err_sys(err, errno, "cannot open the board '%s'", name);
	rc = live_board_head(fd, &b->head);
	if (rc == 0)
		rc = live_board_poll(b, fd, 0, true);
	if (rc < 0)
		return err_sys(err, -rc, "cannot read the board '%s'", name);
	return 0;
}

const struct sonde_metric *live_board_metric(struct live_board *b, size_t i)
{
	struct sonde_metric *m = &b->board.metrics[i];

	if (i >= b->metric_count || m->kind == SONDE_METRIC_NONE || m->kind >= SONDE_METRIC_KINDS)
		return NULL;
	m->name[sizeof(m->name) - 1] = '\0';
	return m->name[0] ? m : NULL;
}

const struct sonde_histogram *live_board_histogram(const struct live_board *b, const struct sonde_metric *m)
{
	return m->histogram >= 1 && m->histogram <= b->histogram_count ? &b->board.histograms[m->histogram - 1] : NULL;
}

double live_real(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
