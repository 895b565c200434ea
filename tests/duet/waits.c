/*
 * What the original's JVM agent does: waits NAME COUNT [STATUS]. Waits COUNT times at the barrier of that name, prints
 * each time when the iteration behind it began and ended, and exits with STATUS.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct timespec work = { .tv_nsec = 2000000 };
	char object[300];
	pthread_barrier_t *barrier;
	int fd;

	if (argc < 3)
		return 100;
	snprintf(object, sizeof(object), "/java-ubench-agent%s", argv[1]);
	fd = shm_open(object, O_RDWR, 0);
	barrier = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (barrier == MAP_FAILED)
		return 101;
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
		long long start;

		pthread_barrier_wait(barrier);
		start = now_ns();
		nanosleep(&work, NULL);
		printf("%lld %lld\n", start, now_ns());
	}
	return argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
}
