/* CPU time, memory and pressure of the cgroups of applications. */
#include "base/cleanup.h"
#include "live/exposition.h"
#include "live/scrape.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_S 0.01 /* of times that the kernel reports in USER_HZ */

/* The number that follows `key`, or the whole file's number. */
static double number_of(const char *text, const char *key)
{
	const char *at = key ? strstr(text, key) : text;
	char *end;
	double value;

	if (!at)
		return NAN;
	at += key ? strlen(key) : 0;
	value = strtod(at, &end);
	return end != at ? value : NAN;
}

struct family {
	const char *name, *help;
	enum exposition_type type;
};

struct row {
	enum live_group_file file;
	bool is_else; /* used if the previous row has no value */
	const char *key;
	double scale;
	const struct family *family;
	const char *label, *label_value, *label2, *label2_value;
};

static const struct family cpu = { "sonde_group_cpu_seconds", "Processor time of the control group.",
	EXPOSITION_COUNTER };
static const struct family throttled = { "sonde_group_throttled_seconds", "Time for which its limit held it.",
	EXPOSITION_COUNTER };
static const struct family memory = { "sonde_group_memory_bytes", "Memory of the control group, with its caches.",
	EXPOSITION_GAUGE };
static const struct family pressure = { "sonde_group_pressure_seconds",
	"Time in which some of its tasks waited for a resource.", EXPOSITION_COUNTER };

/* Rows of a family are adjacent. */
static const struct row rows[] = {
	{ GROUP_CPU_STAT, false, "user_usec ", 1e-6, &cpu, "mode", "user", "", NULL },
	{ GROUP_V1_CPUACCT_STAT, true, "user ", TICK_S, &cpu, "mode", "user", "", NULL },
	{ GROUP_CPU_STAT, false, "system_usec ", 1e-6, &cpu, "mode", "system", "", NULL },
	{ GROUP_V1_CPUACCT_STAT, true, "system ", TICK_S, &cpu, "mode", "system", "", NULL },
	{ GROUP_CPU_STAT, false, "throttled_usec ", 1e-6, &throttled, "", NULL, "", NULL },
	{ GROUP_V1_CPU_STAT, true, "throttled_time ", 1e-9, &throttled, "", NULL, "", NULL },
	{ GROUP_MEMORY, false, NULL, 1, &memory, "", NULL, "", NULL },
	{ GROUP_V1_MEMORY, true, NULL, 1, &memory, "", NULL, "", NULL },
	{ GROUP_CPU_PRESSURE, false, "total=", 1e-6, &pressure, "resource", "cpu", "kind", "some" },
	{ GROUP_MEMORY_PRESSURE, false, "total=", 1e-6, &pressure, "resource", "memory", "kind", "some" },
	{ GROUP_IO_PRESSURE, false, "total=", 1e-6, &pressure, "resource", "io", "kind", "some" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* A cgroup to export and the values of its rows; NaN if unavailable. */
struct group {
	const char *app;
	double values[ROWS];
};

/* Pressure of the machine; NaN if unavailable. */
static void read_node(struct live_named_groups *n, double node[LIVE_PRESSURES])
{
	static const char *const paths[LIVE_PRESSURES] = { "/proc/pressure/cpu", "/proc/pressure/memory",
		"/proc/pressure/io" };
	char text[LIVE_GROUP_TEXT_BYTES];

	for (size_t i = 0; i < LIVE_PRESSURES; i++) {
		ssize_t bytes;

		if (!n->node_fds[i])
			n->node_fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
		bytes = n->node_fds[i] < 0 ? -1 : pread(n->node_fds[i], text, sizeof(text) - 1, 0);
		text[bytes > 0 ? bytes : 0] = '\0';
		node[i] = number_of(text, "total=");
	}
}

/*
 * Pressure files are the slowest to read. A cgroup's stall time cannot grow while the machine's does not: if the
 * machine's value, which was read first, is unchanged, so is the cgroup's.
 */
static bool is_known(const struct live_group_files *files, enum live_group_file file, const double *node)
{
	size_t i = (size_t)file - GROUP_CPU_PRESSURE;

	return i < LIVE_PRESSURES && files->pressure[i].node_at == node[i] + 1;
}

static void remember(struct live_group_files *files, enum live_group_file file, const double *node, double seconds)
{
	size_t i = (size_t)file - GROUP_CPU_PRESSURE;

	if (i < LIVE_PRESSURES) {
		files->pressure[i].seconds = seconds;
		files->pressure[i].node_at = isnan(node[i]) ? 0 : node[i] + 1;
	}
}

static void read_rows(struct group *g, struct live_group_files *files, const struct live_cgroup *dirs,
		const double node[LIVE_PRESSURES])
{
	char text[LIVE_GROUP_FILES][LIVE_GROUP_TEXT_BYTES];
	bool is_read[LIVE_GROUP_FILES] = { false };

	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		g->values[i] = NAN;
		if (row->is_else && !isnan(g->values[i - 1]))
			continue;
		if (is_known(files, row->file, node)) {
			g->values[i] = files->pressure[row->file - GROUP_CPU_PRESSURE].seconds;
			continue;
		}
		if (!is_read[row->file])
			live_group_read(files, dirs, row->file, text[row->file]);
		is_read[row->file] = true;
		g->values[i] = number_of(text[row->file], row->key) * row->scale;
		remember(files, row->file, node, g->values[i]);
	}
}

static bool has_place(const struct live_cgroup *dirs)
{
	for (size_t i = 0; i < LIVE_PLACES; i++)
		if (*dirs->dir[i])
			return true;
	return false;
}

static bool is_listed(const struct group *all, size_t count, const char *app)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].app, app) == 0)
			return true;
	return false;
}

/* The separate cgroups of applications, then the named ones that are not among them. */
static size_t read_groups(const struct live_scan *s, struct live_named_groups *named, struct group *all)
{
	double node[LIVE_PRESSURES];
	size_t n = 0, own;

	read_node(named, node);
	for (size_t i = 0; i < s->app_count; i++) {
		struct live_entry *e = s->apps[i].first;

		if (!e || !has_place(&e->cgroup))
			continue;
		all[n].app = s->apps[i].name;
		read_rows(&all[n++], &e->group_files, &e->cgroup, node);
	}
	own = n;
	for (size_t i = 0; i < named->count; i++) {
		if (is_listed(all, own, named->groups[i].app))
			continue;
		all[n].app = named->groups[i].app;
		read_rows(&all[n++], &named->files[i], &named->dirs[i], node);
	}
	return n;
}

void live_groups(struct exposition *x, const struct live_scan *s, struct live_named_groups *named)
{
	CLEANUP(cleanup_free) struct group *groups = calloc(s->app_count + named->count + 1, sizeof(*groups));
	size_t count = groups ? read_groups(s, named, groups) : 0;
	const struct family *family = NULL;

	for (size_t r = 0; r < ROWS; r++)
		for (size_t i = 0; i < count; i++) {
			const struct row *row = &rows[r];

			if (isnan(groups[i].values[r]))
				continue;
			if (family != row->family)
				exposition_family(x, row->family->name, row->family->type, row->family->help);
			family = row->family;
			exposition_sample(x, groups[i].values[r], "app", groups[i].app, row->label, row->label_value,
					row->label2, row->label2_value, NULL);
		}
}

void live_named_groups_init(struct live_named_groups *n, const struct live_group *groups, size_t count)
{
	*n = (struct live_named_groups){ .groups = groups, .count = count };
	n->files = calloc(count + 1, sizeof(*n->files));
	n->dirs = calloc(count + 1, sizeof(*n->dirs));
	if (!n->files || !n->dirs)
		n->count = 0;
	for (size_t i = 0; i < n->count; i++)
		for (size_t k = 0; k < LIVE_PLACES; k++)
			snprintf(n->dirs[i].dir[k], sizeof(n->dirs[i].dir[k]), "%s", groups[i].dir);
}

void live_named_groups_release(struct live_named_groups *n)
{
	for (size_t i = 0; i < n->count; i++)
		live_group_close(&n->files[i]);
	for (size_t i = 0; i < LIVE_PRESSURES; i++)
		if (n->node_fds[i] > 0)
			close(n->node_fds[i]);
	free(n->files);
	free(n->dirs);
}
