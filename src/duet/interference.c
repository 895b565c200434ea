#include "duet/interference.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/procfs.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { TEXT_MAX = 1 << 20, LINE_BYTES = 512, STEAL_COLUMN = 7 };

/* The sum of all CPUs: user nice system idle iowait irq softirq steal, in ticks. */
static void read_ticks(double *steal, double *total)
{
	char text[LINE_BYTES];
	uint64_t ticks = 0;

	proc_read(AT_FDCWD, "/proc/stat", text, sizeof(text));
	*total = 0;
	for (unsigned i = 0; i <= STEAL_COLUMN; i++)
		*total += proc_number(text, "cpu", i, &ticks) ? (double)ticks : NAN;
	*steal = isnan(*total) ? NAN : (double)ticks;
}

/* "some avg10=... avg60=... avg300=... total=123" in microseconds */
static double read_pressure(void)
{
	char text[LINE_BYTES];
	uint64_t us;

	proc_read(AT_FDCWD, "/proc/pressure/cpu", text, sizeof(text));
	return proc_number(text, "some", 3, &us) ? (double)us : NAN;
}

void duet_machine(struct buf *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *model = NULL;
	struct utsname name;

	if (uname(&name))
		return;
	buf_addf(out, "%s %s %s", name.sysname, name.release, name.machine);
	/* All CPUs have the model of the first; some architectures have no such line. */
	if (!fs_read_file(AT_FDCWD, "/proc/cpuinfo", TEXT_MAX, &text, NULL))
		model = strstr(text.data, "model name");
	model = model ? strstr(model, ": ") : NULL;
	if (model)
		buf_addf(out, ", %.*s", (int)strcspn(model + 2, "\n"), model + 2);
	buf_addf(out, ", %zu CPU%s", duet_cpu_count(), duet_cpu_count() == 1 ? "" : "s");
}

void duet_interference_start(struct duet_interference *a)
{
	*a = (struct duet_interference){ .steal_share = NAN, .pressure_share = NAN, .start_ns = clock_mono_ns() };
	read_ticks(&a->steal, &a->total);
	a->waited_us = read_pressure();
}

void duet_interference_stop(struct duet_interference *a)
{
	double us = (double)(clock_mono_ns() - a->start_ns) / 1e3, steal, total;

	read_ticks(&steal, &total);
	a->steal_share = total > a->total ? (steal - a->steal) / (total - a->total) : NAN;
	a->pressure_share = us > 0 ? (read_pressure() - a->waited_us) / us : NAN;
}

/*
 * cpus: assigns CPUs to the two sides. CPUs with adjacent numbers are often two threads of one core or share a cache;
 * halves cut in the middle keep a side's CPUs together and the sides separate.
 */

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
