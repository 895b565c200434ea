/* See process.h. */
#include "live/process.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STAT_BYTES_MAX 4096
#define SLACK_SECONDS 0.05 /* the kernel tells the start in ticks of 10 ms */

/* Boot time now minus monotonic time now: how long the machine has slept. */
static double slept_seconds(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (double)(boot.tv_sec - mono.tv_sec) + (double)(boot.tv_nsec - mono.tv_nsec) / 1e9;
}

static int parse(struct live_process *p, const char *text)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user, system, child_user, child_system, start, virtual_bytes;
	double tick = (double)sysconf(_SC_CLK_TCK);
	char state;
	long long pages;

	if (!open || !close || close < open ||
			sscanf(close + 1,
					" %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d "
					"%*d %llu %llu %lld",
					&state, &user, &system, &child_user, &child_system, &start, &virtual_bytes,
					&pages) != 8)
		return -EBADMSG;
	if (state == 'Z' || state == 'X')
		return -ESRCH;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	p->cpu_seconds = (double)(user + system + child_user + child_system) / tick;
	p->start_seconds = (double)start / tick;
	p->virtual_bytes = virtual_bytes;
	p->resident_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

int live_process_read(struct live_process *p, pid_t pid, int64_t begun_mono_ns)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (pid <= 0 || fs_read_file(AT_FDCWD, path, STAT_BYTES_MAX, &text, NULL) < 0)
		return -ESRCH;
	rc = parse(p, text.data);
	if (rc == 0 && begun_mono_ns != INT64_MAX &&
			p->start_seconds > (double)begun_mono_ns / 1e9 + slept_seconds() + SLACK_SECONDS)
		return -ESRCH;
	return rc;
}
