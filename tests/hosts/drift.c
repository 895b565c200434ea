/*
 * A clock that goes wrong, for whatever is started with this preloaded: CLOCK_MONOTONIC is ahead by PPM millionths of
 * the time since BASE, both from SONDE_TEST_DRIFT=BASE_NS,PPM. Every process of a "host" so has the same clock, and
 * another one than the machine's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *t)
{
	static int64_t base_ns, ppm, is_read;
	int rc = (int)syscall(SYS_clock_gettime, id, t);
	if (!is_read) {
		const char *text = getenv("SONDE_TEST_DRIFT");
		char *end = NULL;
		base_ns = text ? strtoll(text, &end, 10) : 0;
		ppm = end && *end == ',' ? strtoll(end + 1, NULL, 10) : 0;
		is_read = 1;
	}
	if (rc || id != CLOCK_MONOTONIC || !ppm)
		return rc;
	int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
	ns += (int64_t)((double)(ns - base_ns) * (double)ppm / 1e6);
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}
