/* To preload: the time of day is set back by an hour, and forth again, each time that somebody looks. */
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long step(void)
{
	static long looks;

	return __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) % 2 ? -3600 : 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	if (!rc && clock == CLOCK_REALTIME)
		ts->tv_sec += step();
	return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}
