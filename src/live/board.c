/* Reading boards; see board.h. */
#include "live/board.h"

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

/* Only the slots that were handed out: a board is large and mostly empty. */
static int read_slots(struct live_board *b, int fd)
{
	const off_t at = SONDE_SEGMENT_HEAD_BYTES;
	struct sonde_board *to = &b->board;
	int rc = read_all(fd, at, to, offsetof(struct sonde_board, metrics));

	if (rc < 0)
		return rc;
	b->metric_count = to->metric_count < SONDE_METRICS_MAX ? to->metric_count : SONDE_METRICS_MAX;
	b->histogram_count = to->histogram_count < SONDE_HISTOGRAMS_MAX ? to->histogram_count : SONDE_HISTOGRAMS_MAX;
	rc = read_all(fd, at + (off_t)offsetof(struct sonde_board, metrics), to->metrics,
			b->metric_count * sizeof(*to->metrics));
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
	rc = read_all(fd, 0, &b->head, sizeof(b->head));
	if (rc == 0)
		rc = read_slots(b, fd);
	if (rc == 0 &&
			(b->head.magic != SONDE_SEGMENT_MAGIC || b->head.version != SONDE_SHM_VERSION ||
					b->head.kind != SONDE_SEGMENT_BOARD))
		rc = -EBADMSG;
	if (rc < 0)
		return err_sys(err, -rc, "cannot read the board '%s'", name);
	return 0;
}

const struct sonde_metric *live_board_metric(struct live_board *b, size_t i)
{
	struct sonde_metric *m = &b->board.metrics[i];

	if (i >= b->metric_count || m->kind == SONDE_METRIC_NONE || m->kind > SONDE_METRIC_STEP)
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
