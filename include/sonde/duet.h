/*
 * duet.h: marks iterations of a loop inside a program, for `sonde duet --iterations fd`.
 *
 * 	#include <sonde/duet.h>
 *
 * 	while (sonde_duet_begin()) {	// waits for its turn; 0: enough
 * 		work();
 * 		sonde_duet_end(NAN);	// or a value that is compared with --metric value
 * 	}
 *
 * sonde is the barrier: it starts the iterations of both programs together, alternately or freely, and detects when
 * the other one dies or takes too long. Without sonde, sonde_duet_begin always returns 1, so the program needs its own
 * limit: `for (int i = 0; i < n && sonde_duet_begin(); i++)`.
 *
 * The protocol, for other languages: descriptor $SONDE_DUET_FD is a stream; a program writes the line `begin` and
 * reads the line `go` or `stop`; after the iteration it writes `end START END CPU VALUE`, in CLOCK_MONOTONIC
 * nanoseconds, with `-` for unknown values, or `end` alone. Not thread-safe.
 */
#ifndef SONDE_DUET_H
#define SONDE_DUET_H

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int sonde_duet_fd_ = -2; /* -2: not initialised, -1: not in a duet */
static int64_t sonde_duet_start_, sonde_duet_cpu_;

static inline int64_t sonde_duet_ns_(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int sonde_duet_is_on(void)
{
	if (sonde_duet_fd_ == -2) {
		const char *text = getenv("SONDE_DUET_FD");

		sonde_duet_fd_ = text && *text ? (int)strtol(text, NULL, 10) : -1;
	}
	return sonde_duet_fd_ >= 0;
}

static inline int sonde_duet_send_(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(sonde_duet_fd_, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		text += n;
		left -= (size_t)n;
	}
	return 1;
}

/* Returns 1 to start an iteration, 0 if no more are needed. */
static inline int sonde_duet_begin(void)
{
	char answer[16] = "";
	size_t n = 0;

	if (sonde_duet_is_on()) {
		if (!sonde_duet_send_("begin\n"))
			return 0;
		while (n < sizeof(answer) - 1 && (!n || answer[n - 1] != '\n')) {
			ssize_t got = read(sonde_duet_fd_, answer + n, 1);

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return 0;
			n++;
		}
		if (strncmp(answer, "go", 2) != 0)
			return 0;
	}
	sonde_duet_cpu_ = sonde_duet_ns_(CLOCK_PROCESS_CPUTIME_ID);
	sonde_duet_start_ = sonde_duet_ns_(CLOCK_MONOTONIC);
	return 1;
}

/* Ends the iteration; value NAN: none. */
static inline void sonde_duet_end(double value)
{
	int64_t end = sonde_duet_ns_(CLOCK_MONOTONIC), cpu = sonde_duet_ns_(CLOCK_PROCESS_CPUTIME_ID);
	char line[160];

	if (!sonde_duet_is_on())
		return;
	if (value == value)
		snprintf(line, sizeof(line), "end %lld %lld %lld %.17g\n", (long long)sonde_duet_start_, (long long)end,
				(long long)(cpu - sonde_duet_cpu_), value);
	else
		snprintf(line, sizeof(line), "end %lld %lld %lld -\n", (long long)sonde_duet_start_, (long long)end,
				(long long)(cpu - sonde_duet_cpu_));
	sonde_duet_send_(line);
}

#endif
