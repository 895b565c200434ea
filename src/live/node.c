/* Metrics of the machine: CPU time, memory, pressure. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "live/exposition.h"
#include "live/scrape.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROC_BYTES_MAX ((size_t)1 << 20)

static bool read_proc(const char *path, struct buf *text)
{
	buf_reset(text);
	return fs_read_file(AT_FDCWD, path, PROC_BYTES_MAX, text, NULL) == 0;
}

static void add_cpu(struct exposition *x, struct buf *text)
{
	static const char *const modes[] = { "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal" };
	unsigned long long n[8];

	if (!read_proc("/proc/stat", text) ||
			sscanf(text->data, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3],
					&n[4], &n[5], &n[6], &n[7]) != 8)
		return;
	exposition_family(x, "sonde_node_cpu_seconds", EXPOSITION_COUNTER, "Time of all processors, by what they did.");
	for (size_t i = 0; i < 8; i++)
		exposition_sample(x, (double)n[i] / (double)sysconf(_SC_CLK_TCK), "mode", modes[i], NULL);
}

/* A line of /proc/meminfo, in bytes. */
static bool memory_of(const struct buf *text, const char *key, double *bytes)
{
	const char *at = strstr(text->data, key);
	unsigned long long kib;

	if (!at || sscanf(at + strlen(key), " %llu kB", &kib) != 1)
		return false;
	*bytes = (double)kib * 1024;
	return true;
}

static void add_memory(struct exposition *x, struct buf *text)
{
	static const struct {
		const char *key, *name, *help;
	} rows[] = {
		{ "MemTotal:", "sonde_node_memory_size_bytes", "Memory of the machine." },
		{ "MemFree:", "sonde_node_memory_free_bytes", "Memory that nothing uses." },
		{ "MemAvailable:", "sonde_node_memory_available_bytes", "Memory that programs could have." },
	};
	double bytes;

	if (!read_proc("/proc/meminfo", text))
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (memory_of(text, rows[i].key, &bytes)) {
			exposition_family(x, rows[i].name, EXPOSITION_GAUGE, rows[i].help);
			exposition_sample(x, bytes, NULL);
		}
}

/* Stall times (PSI); no metric family if the kernel has none. */
static void add_pressure(struct exposition *x, struct buf *text)
{
	static const char *const resources[] = { "cpu", "memory", "io" };
	static const char *const kinds[] = { "some", "full" };
	bool has_family = false;

	for (size_t i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/pressure/%s", resources[i]);
		if (!read_proc(path, text))
			continue;
		for (size_t k = 0; k < 2; k++) {
			const char *line = strstr(text->data, kinds[k]), *at = line ? strstr(line, "total=") : NULL;
			unsigned long long us;

			if (!at || sscanf(at, "total=%llu", &us) != 1)
				continue;
			if (!has_family)
				exposition_family(x, "sonde_node_pressure_seconds", EXPOSITION_COUNTER,
						"Time in which some or all tasks waited for a resource.");
			has_family = true;
			exposition_sample(x, (double)us / 1e6, "resource", resources[i], "kind", kinds[k], NULL);
		}
	}
}

void live_node(struct exposition *x)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	add_cpu(x, &text);
	add_memory(x, &text);
	add_pressure(x, &text);
}
