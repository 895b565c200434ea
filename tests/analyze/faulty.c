/* Programs with one fault each, and the same work done well: what diagnosis must say of them is known. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile unsigned long sink;

/* So much CPU time of this thread. */
static void burn(double seconds)
{
	for (double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds; now(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (int i = 0; i < 10000; i++)
			sink = sink * 31 + (unsigned long)i;
}

static void rest(double seconds)
{
	usleep((useconds_t)(seconds * 1e6));
}

static void team(int n, void *(*body)(void *))
{
	pthread_t threads[16];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, body, NULL) != 0)
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Locks: everybody holds the only one for long, or hardly at all. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold_long(void *arg)
{
	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(&mutex);
		rest(0.004);
		pthread_mutex_unlock(&mutex);
		rest(0.00001);
	}
	return arg;
}

static void *hold_short(void *arg)
{
	for (int i = 0; i < 30; i++) {
		rest(0.015);
		pthread_mutex_lock(&mutex);
		sink++;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

/* Memory: made anew for each round, or once. */
#define BYTES ((size_t)32 << 20)

static void touch(int is_new)
{
	char *memory = NULL;

	for (double end = now(CLOCK_PROCESS_CPUTIME_ID) + 1; now(CLOCK_PROCESS_CPUTIME_ID) < end;) {
		if (!memory)
			memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < BYTES; i += 4096)
			memory[i]++;
		if (is_new) {
			munmap(memory, BYTES);
			memory = NULL;
		}
	}
}

static void *burn_some(void *arg)
{
	burn(0.25);
	return arg;
}

static void on_one_cpu(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	sched_setaffinity(0, sizeof(one), &one);
}

/* 240 KB in small pieces, through a buffer. */
static void print_lines(const char *path)
{
	FILE *out = fopen(path, "w");

	for (int i = 0; out && i < 20000; i++)
		fprintf(out, "line %d\n", 100000 + i);
	if (out)
		fclose(out);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "lock_bound") == 0)
		team(4, hold_long);
	else if (strcmp(what, "lock_bound-clean") == 0)
		team(4, hold_short);
	else if (strcmp(what, "page_faults") == 0)
		touch(1);
	else if (strcmp(what, "page_faults-clean") == 0)
		touch(0);
	else if (strcmp(what, "cpu_bound") == 0)
		for (int i = 0; i < 4; i++) { /* four at once: their CPU time is near the wall time on any machine */
			if (fork() == 0) {
				burn(0.5);
				_exit(0);
			}
		}
	else if (strcmp(what, "run_queue") == 0) {
		on_one_cpu();
		team(8, burn_some);
	} else if (strcmp(what, "neighbour") == 0) { /* shares its CPU with whoever is there already */
		on_one_cpu();
		burn(0.4);
	} else if (strcmp(what, "hog") == 0) {
		on_one_cpu();
		burn(60);
	} else if (strcmp(what, "rest") == 0) {
		rest(0.8);
	} else if (strcmp(what, "print") == 0 && argc > 2) {
		print_lines(argv[2]);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
