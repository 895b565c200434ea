/*
 * cpus: assigns CPUs to the two sides. CPUs with adjacent numbers are often two threads of one core or share a cache;
 * halves cut in the middle keep a side's CPUs together and the sides separate.
 */
#include "duet/run-commands.h"

static size_t allowed_cpus(cpu_set_t *set)
{
	if (sched_getaffinity(0, sizeof(*set), set))
		CPU_ZERO(set);
	return (size_t)CPU_COUNT(set);
}

size_t duet_cpu_count(void)
{
	cpu_set_t all;
	size_t n = allowed_cpus(&all);

	return n ? n : 1;
}

bool duet_split_cpus(cpu_set_t cpus[DUET_SIDES])
{
	cpu_set_t all;
	size_t n = allowed_cpus(&all), half = n / 2, seen = 0;

	CPU_ZERO(&cpus[DUET_A]);
	CPU_ZERO(&cpus[DUET_B]);
	if (n < 2)
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE && seen < 2 * half; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &cpus[seen++ < half ? DUET_A : DUET_B]);
	return true;
}
