#include "duet/interference.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "duet/run-commands.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { TEXT_MAX = 1 << 20, STEAL_FIELD = 7, FIELDS = 8 };

/* The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. */
static void read_ticks(double *steal, double *total)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	double ticks[FIELDS];

	*steal = *total = NAN;
	if (fs_read_file(AT_FDCWD, "/proc/stat", TEXT_MAX, &text, NULL))
		return;
	if (sscanf(text.data, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
			    &ticks[4], &ticks[5], &ticks[6], &ticks[7]) != FIELDS)
		return;
	*steal = ticks[STEAL_FIELD];
	*total = 0;
	for (size_t i = 0; i < FIELDS; i++)
		*total += ticks[i];
}

/* "some avg10=... total=123" in microseconds */
static double read_pressure(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *total;
	double us;

	if (fs_read_file(AT_FDCWD, "/proc/pressure/cpu", TEXT_MAX, &text, NULL))
		return NAN;
	total = strstr(text.data, "total=");
	return total && sscanf(total, "total=%lf", &us) == 1 ? us : NAN;
}

/* Appends the value of the first line with this key. */
static void add_cpu_model(struct buf *out)
{
	static const char key[] = "model name";
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *line, *value;

	if (fs_read_file(AT_FDCWD, "/proc/cpuinfo", TEXT_MAX, &text, NULL))
		return;
	line = strstr(text.data, key);
	value = line ? strstr(line, ": ") : NULL;
	if (value)
		buf_addf(out, ", %.*s", (int)strcspn(value + 2, "\n"), value + 2);
}

void duet_machine(struct buf *out)
{
	struct utsname name;

	if (uname(&name))
		return;
	buf_addf(out, "%s %s %s", name.sysname, name.release, name.machine);
	add_cpu_model(out);
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
