#include "probe/proc/delay.h"

#include "base/cleanup.h"
#include "probe/proc/procfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 1024
#define INTERVAL_NS 100000000
#define INTERVAL_OF_ONE_NS 2000000

/* "run delay slices" */
static bool read_one(int dirfd, const char *tid, struct buf *room, uint64_t *ns)
{
	char path[32], *end;
	snprintf(path, sizeof(path), "%.16s/schedstat", tid);
	CLEANUP(cleanup_fd) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !feed_text(fd, room))
		return false;
	strtoull(room->data, &end, 10);
	*ns = strtoull(end, NULL, 10);
	return end != room->data;
}

/* Sums the entries of `before` that are missing in `now`. */
static uint64_t sum_of_gone(const struct delays *before, const struct delay *now, size_t count)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < before->count; i++) {
		size_t k = 0;
		while (k < count && now[k].tid != before->threads[i].tid)
			k++;
		sum_ns += k == count ? before->threads[i].ns : 0;
	}
	return sum_ns;
}

bool delays_read(struct delays *d, int32_t pid, int64_t now_ns, struct buf *room, uint64_t *sum_ns)
{
	char path[32];
	size_t count = 0, cap = 0;
	struct delay *now = NULL;
	if (now_ns < d->due_ns)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && count < THREADS_MAX && (e = readdir(dir));) {
		if (count == cap) {
			cap = cap ? 2 * cap : 4;
			struct delay *more = realloc(now, cap * sizeof(*more));
			if (!more)
				break;
			now = more;
		}
		now[count].tid = (int32_t)strtol(e->d_name, NULL, 10);
		count += now[count].tid > 0 && read_one(dirfd(dir), e->d_name, room, &now[count].ns);
	}
	if (dir)
		closedir(dir);
	d->gone_ns += count ? sum_of_gone(d, now, count) : 0;
	d->due_ns = now_ns + INTERVAL_NS + (int64_t)count * INTERVAL_OF_ONE_NS;
	if (!count || count == THREADS_MAX) {
		free(now);
		return false;
	}
	free(d->threads);
	d->threads = now;
	d->count = count;
	*sum_ns = d->gone_ns;
	for (size_t i = 0; i < count; i++)
		*sum_ns += now[i].ns;
	return true;
}

void delays_release(struct delays *d)
{
	free(d->threads);
	*d = (struct delays){ 0 };
}
