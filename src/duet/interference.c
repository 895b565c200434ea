#include "duet/interference.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "duet/run-commands.h"

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
