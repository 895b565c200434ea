/* The control groups that applications have of their own: processors, memory, pressure. See metrics.h. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "live/exposition.h"
#include "live/metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 16)
#define TICK_S 0.01 /* of times that the kernel tells in ticks, whatever its own are */

/* The number behind `key`, or the whole file's. */
static bool number_of(const struct buf *text, const char *key, double *value)
{
	const char *at = key ? strstr(text->data, key) : text->data;
	char *end;

	if (!at)
		return false;
	at += key ? strlen(key) : 0;
	*value = strtod(at, &end);
	return end != at;
}

struct row {
	const char *file, *key;
	double scale;
	const char *name, *help;
	enum exposition_type type;
	const char *label, *label_value, *label2, *label2_value;
};

/* Rows of one family stand together. */
static const struct row rows[] = {
	{ "cpu.stat", "user_usec ", 1e-6, "sonde_group_cpu_seconds", "Processor time of the control group.",
			EXPOSITION_COUNTER, "mode", "user", NULL, NULL },
	{ "cpu.stat", "system_usec ", 1e-6, "sonde_group_cpu_seconds", NULL, EXPOSITION_COUNTER, "mode", "system", NULL,
			NULL },
	{ "cpuacct.stat", "user ", TICK_S, "sonde_group_cpu_seconds", NULL, EXPOSITION_COUNTER, "mode", "user", NULL,
			NULL },
	{ "cpuacct.stat", "system ", TICK_S, "sonde_group_cpu_seconds", NULL, EXPOSITION_COUNTER, "mode", "system",
			NULL, NULL },
	{ "cpu.stat", "throttled_usec ", 1e-6, "sonde_group_throttled_seconds", "Time for which its limit held it.",
			EXPOSITION_COUNTER, NULL, NULL, NULL, NULL },
	{ "memory.current", NULL, 1, "sonde_group_memory_bytes", "Memory of the control group, with its caches.",
			EXPOSITION_GAUGE, NULL, NULL, NULL, NULL },
	{ "memory.usage_in_bytes", NULL, 1, "sonde_group_memory_bytes", NULL, EXPOSITION_GAUGE, NULL, NULL, NULL,
			NULL },
	{ "cpu.pressure", "total=", 1e-6, "sonde_group_pressure_seconds",
			"Time in which some of its tasks waited for a resource.", EXPOSITION_COUNTER, "resource", "cpu",
			"kind", "some" },
	{ "memory.pressure", "total=", 1e-6, "sonde_group_pressure_seconds", NULL, EXPOSITION_COUNTER, "resource",
			"memory", "kind", "some" },
	{ "io.pressure", "total=", 1e-6, "sonde_group_pressure_seconds", NULL, EXPOSITION_COUNTER, "resource", "io",
			"kind", "some" },
};

static bool read_row(const struct live_group *g, const struct row *row, struct buf *text, double *value)
{
	char path[600];

	snprintf(path, sizeof(path), "%.500s/%s", g->dir, row->file);
	buf_reset(text);
	return fs_read_file(AT_FDCWD, path, TEXT_MAX, text, NULL) == 0 && number_of(text, row->key, value);
}

/* Those of applications that have one of their own, and of the named ones those that are not among them. */
static size_t list_groups(const struct live_scan *s, const struct live_options *o, struct live_group *all)
{
	size_t n = 0, own;

	for (size_t i = 0; i < s->app_count && n < LIVE_APPS_MAX; i++)
		if (s->apps[i].first && *s->apps[i].first->cgroup)
			all[n++] = (struct live_group){ s->apps[i].name, s->apps[i].first->cgroup };
	own = n;
	for (size_t i = 0; i < o->group_count && i < LIVE_GROUPS_MAX; i++) {
		size_t k = 0;

		while (k < own && strcmp(all[k].app, o->groups[i].app) != 0)
			k++;
		if (k == own)
			all[n++] = o->groups[i];
	}
	return n;
}

void live_groups(struct exposition *x, const struct live_scan *s, const struct live_options *o)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct live_group groups[LIVE_APPS_MAX + LIVE_GROUPS_MAX];
	size_t count = list_groups(s, o, groups);
	const char *family = "";
	double value;

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		for (size_t i = 0; i < count; i++) {
			if (!read_row(&groups[i], &rows[k], &text, &value))
				continue;
			if (strcmp(family, rows[k].name) != 0)
				exposition_family(x, rows[k].name, rows[k].type,
						rows[k].help ? rows[k].help : "As above.");
			family = rows[k].name;
			exposition_sample(x, value * rows[k].scale, "app", groups[i].app,
					rows[k].label ? rows[k].label : "", rows[k].label_value,
					rows[k].label2 ? rows[k].label2 : "", rows[k].label2_value, NULL);
		}
}
