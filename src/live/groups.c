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

struct family {
	const char *name, *help;
	enum exposition_type type;
};

struct row {
	enum live_place place;
	bool is_else; /* where the row before has nothing */
	const char *file, *key;
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

/* Rows of one family stand together. */
static const struct row rows[] = {
	{ LIVE_CORE, false, "cpu.stat", "user_usec ", 1e-6, &cpu, "mode", "user", "", NULL },
	{ LIVE_CPUACCT, true, "cpuacct.stat", "user ", TICK_S, &cpu, "mode", "user", "", NULL },
	{ LIVE_CORE, false, "cpu.stat", "system_usec ", 1e-6, &cpu, "mode", "system", "", NULL },
	{ LIVE_CPUACCT, true, "cpuacct.stat", "system ", TICK_S, &cpu, "mode", "system", "", NULL },
	{ LIVE_CORE, false, "cpu.stat", "throttled_usec ", 1e-6, &throttled, "", NULL, "", NULL },
	{ LIVE_CPU, true, "cpu.stat", "throttled_time ", 1e-9, &throttled, "", NULL, "", NULL },
	{ LIVE_CORE, false, "memory.current", NULL, 1, &memory, "", NULL, "", NULL },
	{ LIVE_MEMORY, true, "memory.usage_in_bytes", NULL, 1, &memory, "", NULL, "", NULL },
	{ LIVE_CORE, false, "cpu.pressure", "total=", 1e-6, &pressure, "resource", "cpu", "kind", "some" },
	{ LIVE_CORE, false, "memory.pressure", "total=", 1e-6, &pressure, "resource", "memory", "kind", "some" },
	{ LIVE_CORE, false, "io.pressure", "total=", 1e-6, &pressure, "resource", "io", "kind", "some" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* A group that is shown. */
struct group {
	const char *app;
	const char *dir[LIVE_PLACES];
};

static bool read_row(const struct group *g, const struct row *row, struct buf *text, double *value)
{
	char path[600];

	if (!*g->dir[row->place])
		return false;
	snprintf(path, sizeof(path), "%.500s/%s", g->dir[row->place], row->file);
	buf_reset(text);
	return fs_read_file(AT_FDCWD, path, TEXT_MAX, text, NULL) == 0 && number_of(text, row->key, value);
}

/* The first of the rows that has a value; `end`: none has. */
static const struct row *read_first(const struct group *g, const struct row *from, const struct row *end,
		struct buf *text, double *value)
{
	while (from < end && !read_row(g, from, text, value))
		from++;
	return from;
}

static struct group own_group(const struct live_app *app)
{
	struct group g = { .app = app->name };

	for (size_t i = 0; i < LIVE_PLACES; i++)
		g.dir[i] = app->first ? app->first->cgroup.dir[i] : "";
	return g;
}

static bool has_place(const struct group *g)
{
	for (size_t i = 0; i < LIVE_PLACES; i++)
		if (*g->dir[i])
			return true;
	return false;
}

/* Those of applications that have one of their own, and of the named ones those that are not among them. */
static size_t list_groups(const struct live_scan *s, const struct live_options *o, struct group *all)
{
	size_t n = 0, own;

	for (size_t i = 0; i < s->app_count && n < LIVE_APPS_MAX; i++) {
		all[n] = own_group(&s->apps[i]);
		n += has_place(&all[n]);
	}
	own = n;
	for (size_t i = 0; i < o->group_count && i < LIVE_GROUPS_MAX; i++) {
		const struct live_group *named = &o->groups[i];
		size_t k = 0;

		while (k < own && strcmp(all[k].app, named->app) != 0)
			k++;
		if (k == own)
			all[n++] = (struct group){ named->app, { named->dir, named->dir, named->dir, named->dir } };
	}
	return n;
}

void live_groups(struct exposition *x, const struct live_scan *s, const struct live_options *o)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct group groups[LIVE_APPS_MAX + LIVE_GROUPS_MAX];
	size_t count = list_groups(s, o, groups);
	const struct family *family = NULL;
	double value = 0;

	for (const struct row *row = rows, *next; row < rows + ROWS; row = next) {
		for (next = row + 1; next < rows + ROWS && next->is_else; next++)
			;
		for (size_t i = 0; i < count; i++) {
			const struct row *found = read_first(&groups[i], row, next, &text, &value);

			if (found == next)
				continue;
			if (family != row->family)
				exposition_family(x, row->family->name, row->family->type, row->family->help);
			family = row->family;
			exposition_sample(x, value * found->scale, "app", groups[i].app, row->label, row->label_value,
					row->label2, row->label2_value, NULL);
		}
	}
}
