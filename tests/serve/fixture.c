/*
 * A program that knows what it did: nested spans, calls, marks, steps, a counter, threads, a name that would be
 * markup. With an argument it goes on until its input ends, for runs that are looked at while they grow.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEPS 20

static void work_us(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000 < us);
}

static void inner(const char *name, long us)
{
	struct sonde_span span;

	sonde_span_begin(&span, name);
	work_us(us);
	sonde_span_end(&span);
}

static void write_some(void)
{
	static char block[4096];
	int fd = open("data", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 10; i++)
		if (write(fd, block, sizeof(block)) < 0)
			break;
	close(fd);
}

static void *other(void *arg)
{
	for (int i = 0; i < STEPS; i++)
		inner("helper", 500);
	return NULL;
}

static void step(int i)
{
	struct sonde_span span;

	sonde_span_begin(&span, "outer");
	inner("first half", 600);
	write_some();
	inner("second half", 400);
	sonde_span_end(&span);
	sonde_step("loop", i, 100.0 / (i + 1));
	sonde_counter("level", i % 5);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char byte;

	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < STEPS; i++)
		step(i);
	inner("needle", 3000);
	inner("<img src=x onerror=alert(1)>", 2000);
	sonde_instant("half way");
	pthread_join(thread, NULL);
	while (argc > 1 && read(0, &byte, 1) > 0)
		step(STEPS);
	return 0;
}
