/*
 * The smallest traced call: alternating 16-byte pwrite and pread, on a file with one page per thread.
 *
 *   loop FILE THREADS CALLS
 *
 * Prints nanoseconds per call: CPU time of this process, and wall time. With -DLTTNG each call is followed by an
 * LTTng tracepoint with the same data.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef LTTNG
#include "loop-lttng.h"
#define NOTE(at, result) lttng_ust_tracepoint(sonde_bench, io, fd, 16, at, result)
#else
#define NOTE(at, result) (void)(result)
#endif

#define THREADS_MAX 64

static int fd;
static long calls;

static double now_ns(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *work(void *first)
{
	char bytes[16] = "sixteen bytes..";
	off_t at = (off_t)(size_t)first;
	for (long i = 0; i < calls; i += 2) {
		ssize_t n = pwrite(fd, bytes, sizeof(bytes), at + i % 256 * 16);
		NOTE(at + i % 256 * 16, n);
		n = pread(fd, bytes, sizeof(bytes), at + i % 256 * 16);
		NOTE(at + i % 256 * 16, n);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	if (argc != 4)
		return 2;
	size_t count = strtoul(argv[2], NULL, 10);
	calls = strtol(argv[3], NULL, 10);
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || count > THREADS_MAX || ftruncate(fd, (off_t)(count * 4096)))
		return 1;
	double cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall = now_ns(CLOCK_MONOTONIC);
	for (size_t i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i * 4096)))
			return 1;
	work(NULL);
	for (size_t i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	double all = (double)calls * (double)count;
	printf("%.2f %.2f\n", (now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / all, (now_ns(CLOCK_MONOTONIC) - wall) / all);
	return 0;
}
