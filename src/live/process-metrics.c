#include "live/process-metrics.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STAT_BYTES_MAX 4096
#define SLACK_SECONDS 0.05 /* the kernel reports the start time in ticks of 10 ms */

/* Boot time now minus monotonic time now: how long the machine was suspended. */
static double slept_seconds(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (double)(boot.tv_sec - mono.tv_sec) + (double)(boot.tv_nsec - mono.tv_nsec) / 1e9;
}

/* The fields after the name are numbers except the first; those that we use, numbered as in proc(5). */
enum field { USER = 14, SYSTEM, CHILD_USER, CHILD_SYSTEM, START = 22, VIRTUAL, PAGES, FIELDS };

/* Parsed by hand: this runs for every process at every scrape. Only unused fields can be negative. */
static bool take_fields(const char *at, uint64_t n[FIELDS])
{
	for (int i = 4; i < FIELDS; i++) {
		while (*at == ' ' || *at == '-')
			at++;
		if (*at < '0' || *at > '9')
			return false;
		for (n[i] = 0; *at >= '0' && *at <= '9'; at++)
			n[i] = 10 * n[i] + (uint64_t)(*at - '0');
	}
	return true;
}

static void take_name(struct live_process *p, const char *name, size_t n)
{
	n = n < sizeof(p->name) ? n : sizeof(p->name) - 1;
	memcpy(p->name, name, n);
	p->name[n] = '\0';
}

static int parse(struct live_process *p, const char *text)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	static double tick;
	static uint64_t page_bytes;
	uint64_t n[FIELDS];

	if (!page_bytes) {
		tick = (double)sysconf(_SC_CLK_TCK);
		page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return -EBADMSG;
	if (close[2] == 'Z' || close[2] == 'X')
		return -ESRCH;
	if (!take_fields(close + 3, n))
		return -EBADMSG;
	take_name(p, open + 1, (size_t)(close - open - 1));
	p->cpu_seconds = (double)(n[USER] + n[SYSTEM] + n[CHILD_USER] + n[CHILD_SYSTEM]) / tick;
	p->start_seconds = (double)n[START] / tick;
	p->virtual_bytes = n[VIRTUAL];
	p->resident_bytes = n[PAGES] * page_bytes;
	return 0;
}

int live_process_poll(struct live_process *p, int fd, int64_t begun_mono_ns)
{
	char text[STAT_BYTES_MAX];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int rc;

	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	rc = parse(p, text);
	if (rc == 0 && begun_mono_ns != INT64_MAX &&
			p->start_seconds > (double)begun_mono_ns / 1e9 + slept_seconds() + SLACK_SECONDS)
		return -ESRCH;
	return rc;
}

int live_process_read(struct live_process *p, pid_t pid, int64_t begun_mono_ns)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	CLEANUP(cleanup_fd) int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return fd < 0 ? -ESRCH : live_process_poll(p, fd, begun_mono_ns);
}
