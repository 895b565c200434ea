/*
 * Text profiles of TAU, one file per thread: profile.NODE.CONTEXT.THREAD; with several metrics, one directory
 * MULTI__METRIC per metric.
 *
 *	3 templated_functions_MULTI_TIME
 *	# Name Calls Subrs Excl Incl ProfileCalls # <metadata>...</metadata>
 *	"main" 1 2 120 2000000 0 GROUP="TAU_USER"
 *	"main => work" 2 0 999940 1999880 0 GROUP="TAU_CALLPATH|TAU_USER"
 *	0 aggregates
 *	1 userevents
 *	# eventname numevents max min mean sumsqr
 *	"Bytes read" 4 4096 12 2048 33554576
 *
 * Times are microseconds. Call paths (`=>`) repeat the same functions and are not additional ones.
 */
#include "session/dumps.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "session/profile.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MULTI "_MULTI_"

/* Returns the next line, NUL-terminated; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at, *end = line ? strchr(line, '\n') : NULL;

	if (!line || !*line)
		return NULL;
	if (end)
		*end = '\0';
	*at = end ? end + 1 : NULL;
	return line;
}

static bool parse_number(char **at, double *to)
{
	char *end;

	*to = strtod(*at, &end);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* Parses "NAME" of a line; numbers follow. A name may contain quotes itself. */
static char *parse_name(char *line, char **rest)
{
	char *end = strrchr(line, '"');

	if (line[0] != '"' || end == line)
		return NULL;
	*rest = end + 1;
	while (end > line + 1 && end[-1] == ' ')
		end--;
	*end = '\0';
	return line + 1;
}

static bool parse_function(char *line, struct tau_function *f, double *further)
{
	static char none[] = "";
	char *group = NULL, *at = line, *end;

	while ((at = strstr(at, " GROUP=\"")))
		group = at++;
	f->group = none;
	if (group) {
		*group = '\0';
		f->group = group + strlen(" GROUP=\"");
		end = strchr(f->group, '"');
		if (end)
			*end = '\0';
	}
	f->name = parse_name(line, &at);
	*further = 0;
	if (!f->name || !parse_number(&at, &f->calls) || !parse_number(&at, &f->subroutines) ||
			!parse_number(&at, &f->exclusive) || !parse_number(&at, &f->inclusive))
		return false;
	parse_number(&at, further);
	return true;
}

static bool parse_event(char *line, struct tau_event *e)
{
	char *at;

	e->name = parse_name(line, &at);
	return e->name && parse_number(&at, &e->count) && parse_number(&at, &e->max) && parse_number(&at, &e->min) &&
			parse_number(&at, &e->mean);
}

/* "12 WORD": the number of lines that follow; -1 if the line does not match. */
static int64_t count_of(const char *line, const char *word)
{
	char *end;
	int64_t n = line ? strtoll(line, &end, 10) : -1;

	return line && end > line && *end == ' ' && strncmp(end + 1, word, strlen(word)) == 0 ? n : -1;
}

static bool parse_functions(char **at, int64_t count, const struct tau_taker *taker)
{
	struct tau_function f;
	double further;

	for (int64_t i = 0; i < count; i++) {
		char *line = next_line(at);

		if (!line || !parse_function(line, &f, &further))
			return false;
		taker->function(taker->arg, &f);
		while (further-- > 0) /* ProfileCalls rows; current versions of TAU do not write them */
			if (!next_line(at))
				return false;
	}
	return true;
}

bool tau_parse(char *text, const struct tau_taker *taker)
{
	char *at = text, *line = next_line(&at), *metric;
	int64_t count = count_of(line, "templated_functions");
	struct tau_event e;

	if (count < 0)
		return false;
	metric = strstr(line, MULTI);
	taker->metric(taker->arg, metric ? metric + strlen(MULTI) : "TIME");
	if (!next_line(&at) || !parse_functions(&at, count, taker))
		return false;
	count = count_of(next_line(&at), "aggregates");
	if (count < 0)
		return false;
	while (count-- > 0)
		if (!next_line(&at))
			return false;
	count = count_of(next_line(&at), "userevents");
	if (count > 0)
		next_line(&at); /* skip the heading */
	for (; count > 0; count--) {
		line = next_line(&at);
		if (!line || !parse_event(line, &e))
			return false;
		taker->event(taker->arg, &e);
	}
	return true;
}

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
			{ { "tau_calls", "Function calls counted by TAU, all threads" },
					{ "tau_subroutines", "Calls made by the function" },
					{ "tau_exclusive_seconds", "Exclusive time of the function, all threads" },
					{ "tau_inclusive_seconds", "Inclusive time of the function, all threads" } } },
	[COUNTED] = { "counted", 2,
			{ [2] = { "tau_exclusive", "Exclusive value of another TAU metric" },
					[3] = { "tau_inclusive", "Inclusive value of another TAU metric" } } },
	[GROUPS] = { "group", 2, { [2] = { "tau_group_seconds", "Exclusive time of a group's functions" } } },
	[EVENTS] = { "event", 0,
			{ { "tau_event_count", "TAU user event count" }, { "tau_event_min", "TAU user event minimum" },
					{ "tau_event_max", "TAU user event maximum" },
					{ "tau_event_mean", "TAU user event mean" } } },
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
	uint64_t *at = VEC_GROW(t->sums, t->cap, t->names.count + 1, NAMES_MAX)
			? map_put(&t->names, name, strlen(name), &is_new)
			: map_get(&t->names, name, strlen(name));

	if (!at) {
		dump_reason(r->dump, "too many names");
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

static void on_metric(void *arg, const char *metric)
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

static void on_function(void *arg, const struct tau_function *f)
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

static void on_event(void *arg, const struct tau_event *e)
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
	struct tau_taker taker = { on_metric, on_function, on_event, r };
	struct sonde_err err;

	buf_init(&text, DUMP_FILE_BYTES_MAX + 1);
	buf_addf(&path, "%s/%s", dir, name);
	r->dump->files++;
	if (fs_read_file(AT_FDCWD, path.data, DUMP_FILE_BYTES_MAX, &text, &err) < 0)
		dump_reason(r->dump, "%s", err.text);
	else if (!text.len || !tau_parse(text.data, &taker))
		dump_reason(r->dump, "'%s' is not a TAU profile, or is truncated", name);
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
		struct ranking ranking = { &r.tables[kind], kinds[kind].rank };
		size_t *rows = calloc(r.tables[kind].names.count + 1, sizeof(*rows));

		for (size_t i = 0; rows && i < r.tables[kind].names.count; i++)
			rows[i] = i;
		if (rows)
			qsort_r(rows, r.tables[kind].names.count, sizeof(*rows), by_rank, &ranking);
		for (size_t i = 0; rows && i < r.tables[kind].names.count && i < SESSION_DUMP_ROWS; i++) {
			char of[SESSION_LABEL_BYTES];
			size_t bytes;

			dump_name(of, map_key(&r.tables[kind].names, rows[i], &bytes));
			for (size_t k = 0; k < COLUMNS; k++)
				if (kinds[kind].columns[k].name)
					session_put(p, kinds[kind].columns[k].name, kinds[kind].label, of,
							kinds[kind].columns[k].help,
							r.tables[kind].sums[rows[i]].columns[k]);
		}
		free(rows);
		map_release(&r.tables[kind].names);
		free(r.tables[kind].sums);
	}
}
