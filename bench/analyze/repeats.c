/*
 * The cost of detecting iterations and function clusters: 10^6 tokens with planted iterations, noise and jitter, and
 * 10^6 samples of 2 000 functions, clustered.
 *
 *   repeats [TOKENS [ROUNDS]]
 */
#include "analyze/swarm.h"
#include "base/clock.h"
#include "stats/loop-detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static uint64_t state = 88172645463325252u;

static uint32_t next(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16) % below;
}

static void *need(void *memory)
{
	if (!memory)
		exit(1);
	return memory;
}

/* Twenty iterations: one token in twenty is noise, lengths vary by a tenth. */
static size_t plant(uint32_t *tokens, size_t n)
{
	size_t length = n / 22, count = 0;
	uint32_t *pattern = need(calloc(length, sizeof(*pattern)));

	for (size_t i = 0; i < length; i++)
		pattern[i] = next(200);
	for (int k = 0; k < 20; k++)
		for (size_t i = 0, end = length - next((uint32_t)(length / 10) + 1); i < end && count < n; i++)
			tokens[count++] = next(20) ? pattern[i] : next(400);
	free(pattern);
	return count;
}

static void measure_repeats(size_t n, unsigned rounds)
{
	uint32_t *tokens = need(calloc(n, sizeof(*tokens)));
	size_t count = plant(tokens, n);
	struct stats_repeats r = { .count = 0 };
	int64_t best_ns = INT64_MAX;

	for (unsigned i = 0; i < rounds; i++) {
		int64_t start = clock_cpu_ns(), ns;

		stats_repeats_release(&r);
		if (stats_repeats_find(&r, tokens, count) < 0)
			exit(1);
		ns = clock_cpu_ns() - start;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	printf("iterations in %zu tokens: %zu of 20 found, %.3f s CPU, best of %u\n", count, r.count,
			(double)best_ns / 1e9, rounds);
	stats_repeats_release(&r);
	free(tokens);
}

static int by_samples(const void *a, const void *b)
{
	int64_t x = ((const struct swarm_function *)a)->samples, y = ((const struct swarm_function *)b)->samples;

	return (x < y) - (x > y);
}

/* Ten clusters of functions, each active in different intervals. */
static void measure_swarms(size_t samples, unsigned rounds)
{
	enum { FUNCTIONS = 2000, GROUPS = 10 };
	struct swarm_function *f = need(calloc(FUNCTIONS, sizeof(*f)));
	int64_t best_ns = INT64_MAX;
	int swarms = 0;

	for (unsigned round = 0; round < rounds; round++) {
		int64_t start = clock_cpu_ns(), ns;

		for (size_t i = 0; i < FUNCTIONS; i++)
			f[i] = (struct swarm_function){ .name = "" };
		for (size_t i = 0; i < samples; i++) {
			size_t bucket = i * SWARM_BUCKETS / samples, group = bucket * GROUPS / SWARM_BUCKETS;
			size_t which = (size_t)next(FUNCTIONS / GROUPS) * next(FUNCTIONS / GROUPS) /
					(FUNCTIONS / GROUPS);
			struct swarm_function *at = &f[which * GROUPS + group];

			at->samples++;
			at->profile[bucket]++;
		}
		qsort(f, FUNCTIONS, sizeof(*f), by_samples);
		swarms = swarm_group(f, FUNCTIONS);
		ns = clock_cpu_ns() - start;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	printf("swarms of %zu samples in %d functions: %d found of %d planted, %.3f s CPU, best of %u\n", samples,
			FUNCTIONS, swarms, GROUPS, (double)best_ns / 1e9, rounds);
	free(f);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
	struct rusage used;

	measure_repeats(n, rounds);
	measure_swarms(n, rounds);
	getrusage(RUSAGE_SELF, &used);
	printf("memory at most %ld MiB\n", used.ru_maxrss / 1024);
	return 0;
}
