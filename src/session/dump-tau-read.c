/* Reads the profiles that TAU left, summed over all threads; see dumps.h and dump-tau.h. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"
#include "session/dump-tau.h"
#include "session/dumps-private.h"
#include "session/profile-private.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536 /* per kind; exceeding it is reported */
#define NAME_BYTES 1024
#define MICROSECONDS 1e-6
#define COLUMNS 4

enum kind { FUNCTIONS, COUNTED, GROUPS, EVENTS, KINDS };

/* The profile values made from the sums of a kind: one per column. */
static const struct {
	const char *label;
	size_t rank; /* the column to sort by */
	struct {
		const char *name, *help;
	} columns[COLUMNS];
} kinds[KINDS] = {
	[FUNCTIONS] = { "function", 2,
			{ { "tau_calls", "Calls of a function as TAU counted them, of all threads" },
					{ "tau_subroutines", "Calls that it made itself" },
					{ "tau_exclusive_seconds", "Time in the function itself, of all threads" },
					{ "tau_inclusive_seconds",
							"Time in it and what it called, of all threads" } } },
	[COUNTED] = { "counted", 2,
			{ [2] = { "tau_exclusive",
					  "What another metric of TAU than time counted in the function itself" },
					[3] = { "tau_inclusive", "The same with what it called" } } },
	[GROUPS] = { "group", 2, { [2] = { "tau_group_seconds", "Time in the functions of a group themselves" } } },
	[EVENTS] = { "event", 0,
			{ { "tau_event_count", "How often the program told an event to TAU" },
					{ "tau_event_min", "The least that it told" },
					{ "tau_event_max", "The most that it told" },
					{ "tau_event_mean", "Mean of what it told" } } },
};

struct sums {
	double columns[COLUMNS];
};

struct table {
	struct map names;
	struct sums *sums;
	size_t cap;
};

struct reading {
	struct table tables[KINDS];
	struct session_dump *dump;
	char metric[64]; /* of the current file; "": time */
	bool wants_events;
};

/* NULL: the table is full, and the dump reports it. */
static struct sums *sums_of(struct reading *r, enum kind kind, const char *name)
{
	struct table *t = &r->tables[kind];
	bool is_new = false;
	uint64_t *at = t->names.count < NAMES_MAX ? map_put(&t->names, name, strlen(name), &is_new)
						  : map_get(&t->names, name, strlen(name));

	if (at && is_new && t->names.count > t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		struct sums *grown = realloc(t->sums, cap * sizeof(*grown));

		if (grown) {
			t->sums = grown;
			t->cap = cap;
		}
	}
	if (!at || t->names.count > t->cap) {
		dump_reason(r->dump, "there is no room for all its names");
		return NULL;
	}
	if (is_new) {
		*at = t->names.count - 1;
		t->sums[*at] = (struct sums){ { 0 } };
	}
	return &t->sums[*at];
}

static void add(struct reading *r, enum kind kind, const char *name, const double columns[COLUMNS])
{
	struct sums *s = sums_of(r, kind, name);

	for (size_t i = 0; s && i < COLUMNS; i++)
		s->columns[i] += columns[i];
}

static void take_metric(void *arg, const char *metric)
{
	/* Clocks of TAU, all in microseconds. */
	static const char *const clocks[] = { "TIME", "GET_TIME_OF_DAY", "GETTIMEOFDAY", "CPU_TIME", "LINUX_TIMERS",
		"LINUXTIMERS", "P_WALL_CLOCK_TIME", "P_VIRTUAL_TIME" };
	struct reading *r = arg;

	snprintf(r->metric, sizeof(r->metric), "%s", metric);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (strcmp(clocks[i], metric) == 0)
			r->metric[0] = '\0';
}

static void add_groups(struct reading *r, const char *groups, double exclusive)
{
	while (*groups) {
		char word[128];
		size_t n = strcspn(groups, "| ");

		snprintf(word, sizeof(word), "%.*s", (int)n, groups);
		if (n)
			add(r, GROUPS, word, (double[COLUMNS]){ [2] = exclusive });
		groups += n + (groups[n] != '\0');
	}
}

static void take_function(void *arg, const struct tau_function *f)
{
	struct reading *r = arg;
	char name[NAME_BYTES];

	r->dump->rows++;
	if (strstr(f->group, "TAU_CALLPATH"))
		return;
	snprintf(name, sizeof(name), "%s%s%s", r->metric, *r->metric ? " " : "", f->name);
	if (*r->metric) {
		add(r, COUNTED, name, (double[COLUMNS]){ 0, 0, f->exclusive, f->inclusive });
		return;
	}
	add(r, FUNCTIONS, name,
			(double[COLUMNS]){ f->calls, f->subroutines, f->exclusive * MICROSECONDS,
					f->inclusive * MICROSECONDS });
	add_groups(r, f->group, f->exclusive * MICROSECONDS);
}

static void take_event(void *arg, const struct tau_event *e)
{
	struct reading *r = arg;
	struct sums *s = r->wants_events && e->count > 0 ? sums_of(r, EVENTS, e->name) : NULL;
	double *all;

	if (!s)
		return;
	r->dump->rows++;
	all = s->columns;
	all[1] = all[0] > 0 ? fmin(all[1], e->min) : e->min;
	all[2] = all[0] > 0 ? fmax(all[2], e->max) : e->max;
	all[3] += (e->mean - all[3]) * e->count / (all[0] + e->count);
	all[0] += e->count;
}

static bool is_profile(const char *name)
{
	int length = 0;
	const char *base = dump_base(name);

	return sscanf(base, "profile.%*[0-9].%*[0-9].%*[0-9]%n", &length) == 0 && length > 0 && !base[length];
}

static void read_file(struct reading *r, const char *dir, const char *name)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, text = BUF_INIT;
	struct tau_taker taker = { take_metric, take_function, take_event, r };
	struct sonde_err err;

	buf_init(&text, DUMP_FILE_BYTES_MAX + 1);
	buf_addf(&path, "%s/%s", dir, name);
	r->dump->files++;
	if (fs_read_file(AT_FDCWD, path.data, DUMP_FILE_BYTES_MAX, &text, &err) < 0)
		dump_reason(r->dump, "%s", err.text);
	else if (!text.len || !tau_parse(text.data, &taker))
		dump_reason(r->dump, "'%s' is no profile of TAU, or is cut short", name);
}

struct ranking {
	const struct table *table;
	size_t column;
};

static int by_rank(const void *a, const void *b, void *arg)
{
	const struct ranking *k = arg;
	double x = k->table->sums[*(const size_t *)a].columns[k->column];
	double y = k->table->sums[*(const size_t *)b].columns[k->column];

	return (x < y) - (x > y);
}

static void put_row(struct session_profile *p, enum kind kind, const struct table *t, size_t row)
{
	char of[SESSION_LABEL_BYTES];
	size_t bytes;

	dump_name(of, map_key(&t->names, row, &bytes));
	for (size_t i = 0; i < COLUMNS; i++)
		if (kinds[kind].columns[i].name)
			session_put(p, kinds[kind].columns[i].name, kinds[kind].label, of, kinds[kind].columns[i].help,
					t->sums[row].columns[i]);
}

/* Adds the top rows to the profile. */
static void put_table(struct session_profile *p, enum kind kind, const struct table *t)
{
	struct ranking ranking = { t, kinds[kind].rank };
	size_t *rows = calloc(t->names.count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < t->names.count; i++)
		rows[i] = i;
	if (rows)
		qsort_r(rows, t->names.count, sizeof(*rows), by_rank, &ranking);
	for (size_t i = 0; rows && i < t->names.count && i < SESSION_DUMP_ROWS; i++)
		put_row(p, kind, t, rows[i]);
	free(rows);
}

/* Events are in the files of every metric, but count once. */
void dump_read_tau(struct session_profile *p, struct session_dump *d, const struct dump_files *f)
{
	struct reading r = { .dump = d };
	const char *first = NULL;

	for (size_t i = 0; i < f->count; i++) {
		const char *name = f->names[i];

		if (!is_profile(name))
			continue;
		first = first ? first : name;
		r.wants_events = dump_base(name) - name == dump_base(first) - first &&
				strncmp(name, first, (size_t)(dump_base(name) - name)) == 0;
		read_file(&r, f->dir, name);
	}
	for (enum kind kind = 0; kind < KINDS; kind++) {
		put_table(p, kind, &r.tables[kind]);
		map_release(&r.tables[kind].names);
		free(r.tables[kind].sums);
	}
}
