/*
 * summary-text: a summary on one screen: thread time, issues, and a line per area with its largest items. The full form
 * has all sections.
 *
 * A line is truncated to the width of the screen, except for a command to copy.
 */
#include "result/result.h"

#include "base/cleanup.h"
#include "base/shell-words.h"

#include <stdlib.h>
#include <string.h>

#define FINDINGS 3  /* of the diagnosis */
#define ITEMS 4     /* maximum per area */
#define ITEM_MAX 40 /* bytes of a name */
#define ITEM_MIN 6  /* minimum columns of a useful name */
#define LABEL_WIDTH 14
#define BAR_WIDTH 20
#define CELL_MAX 60 /* columns of a cell, in full */

static const struct analyze_table *find_table(const struct analyze_section *s, const char *key)
{
	for (const struct analyze_table *t = s ? s->tables : NULL; t; t = t->next)
		if (strcmp(t->name.key, key) == 0)
			return t;
	return NULL;
}

/* NULL if the table has no such column. */
static const struct analyze_value *find_cell(const struct analyze_table *t, size_t row, const char *key,
		enum analyze_unit *unit)
{
	for (size_t c = 0; c < t->column_count; c++)
		if (strcmp(t->columns[c].key, key) == 0) {
			*unit = t->columns[c].unit;
			return &t->values[row * t->column_count + c];
		}
	return NULL;
}

/* "name value" in at most so many columns; false if they are too few. */
static bool make_item(struct buf *item, const struct analyze_table *t, size_t row, const char *name, const char *value,
		size_t room)
{
	CLEANUP(buf_release) struct buf amount = BUF_INIT;
	enum analyze_unit unit = ANALYZE_TEXT;
	const struct analyze_value *v = find_cell(t, row, value, &unit);

	if (v && !v->is_null) {
		buf_addc(&amount, ' ');
		result_add_value(&amount, unit, v);
	}
	v = find_cell(t, row, name, &unit);
	if (!v || v->is_null || buf_error(&amount) || room < amount.len + ITEM_MIN)
		return false;
	room -= amount.len;
	result_add_value(item, unit, v);
	result_truncate(item, room < ITEM_MAX ? room : ITEM_MAX);
	buf_add(item, amount.data, amount.len);
	return buf_error(item) == 0;
}

/* Appends `before`, then "name value, name value" as far as they fit. */
static void add_items(const struct result_page *p, struct buf *line, const char *before, const struct analyze_table *t,
		const char *name, const char *value)
{
	for (size_t row = 0; row < t->rows && row < ITEMS; row++) {
		CLEANUP(buf_release) struct buf item = BUF_INIT;
		size_t used = LABEL_WIDTH + term_columns(line->data) + strlen(before);

		if (used >= p->term->width || !make_item(&item, t, row, name, value, p->term->width - used))
			return;
		buf_addf(line, "%s%s", before, item.data);
		before = ", ";
	}
}

static void add_line(const struct result_page *p, const char *label, struct buf *line)
{
	size_t blanks = LABEL_WIDTH - strlen(label);

	if (!line->len)
		return;
	result_truncate(line, p->term->width > 2 * LABEL_WIDTH ? p->term->width - LABEL_WIDTH : 2 * LABEL_WIDTH);
	term_add(p->out, p->term, TERM_BOLD, label);
	buf_addf(p->out, "%*s%s\n", (int)blanks, "", line->data);
}

/* Thread time. */

static const struct state {
	const char *field, *words;
	bool is_wait; /* wait reasons are printed next to it */
} states[] = {
	{ "running_ns", "running", false },
	{ "runnable_ns", "runnable", false },
	{ "disk_ns", "disk", false },
	{ "sleep_ns", "waiting", true },
	{ "wait_ns", "waiting", true },
	{ "stopped_ns", "stopped", false },
};
enum { STATES = sizeof(states) / sizeof(*states) };

struct share {
	const struct state *state;
	int64_t ns;
};

static int by_size(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->ns < y->ns ? 1 : -(x->ns > y->ns);
}

static void add_share(const struct result_page *p, const struct share *one, int64_t life_ns,
		const struct analyze_table *reasons)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	double part = (double)one->ns / (double)life_ns;
	char text[TERM_TEXT], bar[BAR_WIDTH + 1];
	size_t filled = (size_t)(part * BAR_WIDTH + 0.5);

	memset(bar, '#', BAR_WIDTH);
	bar[filled < BAR_WIDTH ? filled : BAR_WIDTH] = '\0';
	buf_addf(&line, "%10s %6.1f %%  %-*s", term_ns(text, one->ns), 100 * part, BAR_WIDTH, bar);
	if (one->state->is_wait && reasons)
		add_items(p, &line, "  for ", reasons, "reason", "share");
	while (line.len && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';
	add_line(p, one->state->words, &line);
}

static void add_states(const struct result_page *p, const struct analyze_result *r)
{
	const struct analyze_section *s = analyze_find(r, "states");
	const struct analyze_value *life = analyze_find_field(s, "life_ns");
	struct share shares[STATES];
	size_t count = 0;
	char text[TERM_TEXT];

	if (!life || life->is_null || life->integer <= 0)
		return;
	for (size_t i = 0; i < STATES; i++) {
		const struct analyze_value *v = analyze_find_field(s, states[i].field);

		if (v && !v->is_null && v->integer > 0)
			shares[count++] = (struct share){ &states[i], v->integer };
	}
	qsort(shares, count, sizeof(*shares), by_size);
	result_add_heading(p, "Thread time");
	for (size_t i = 0; i < count; i++)
		add_share(p, &shares[i], life->integer, find_table(analyze_find(r, "offcpu"), "by_reason"));
	buf_addf(p->out, "%-*s%10s\n", LABEL_WIDTH, "total", term_ns(text, life->integer));
}

/* Issues. */

static void add_finding(const struct result_page *p, size_t number, const struct analyze_value *v)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char won[TERM_TEXT];

	buf_addf(&text, "%zu. %s", number, v[1].text.data);
	if (!v[5].is_null)
		buf_addf(&text, ": up to %s could be saved", term_ns(won, v[5].integer));
	result_truncate(&text, p->term->width);
	term_add(p->out, p->term, TERM_YELLOW, text.data);
	buf_adds(p->out, "\n   ");
	buf_reset(&text);
	result_add_value(&text, ANALYZE_TEXT, &v[2]);
	term_wrap(p->out, text.data, 3, 3, p->term->width);
	buf_adds(p->out, "\n   try: ");
	result_add_value(p->out, ANALYZE_TEXT, &v[6]);
	buf_addc(p->out, '\n');
}

/* Areas. */

#define AREA_FIELDS 4

static const struct area {
	const char *label, *section;
	struct {
		const char *key, *words; /* words precede the value */
	} fields[AREA_FIELDS];
	const char *table, *name, *value;
	const char *needs[2]; /* shown only if one of these fields is not zero; none: always */
} areas[] = {
	{ "CPU", "cpu", { { "cpu_ns", "" }, { "samples", "samples " } }, "by_function", "function", "self", { NULL } },
	{ "Files", "io", { { "read_bytes", "read " }, { "write_bytes", "written " }, { "total_ns", "in " } }, "by_file",
			"path", "total_ns", { "total_ns" } },
	{ "Calls", "io", { { "calls", "" }, { "errors", "failed " } }, "by_call", "call", "total_ns", { "calls" } },
	{ "Layers", "layers",
			{ { "io_ns", "I/O " }, { "unoverlapped_io_ns", "not overlapped " },
					{ "compute_ns", "compute " },
					{ "unoverlapped_compute_ns", "not overlapped " } },
			NULL, NULL, NULL, { "io_ns", "compute_ns" } },
	{ "Network", "network", { { "sent_bytes", "sent " }, { "received_bytes", "received " }, { "total_ns", "in " } },
			"by_socket", "socket", "bytes", { "sent_bytes", "received_bytes" } },
	{ "GPU", "gpu", { { "busy_ns", "busy " }, { "kernel_ns", "kernels " }, { "copy_ns", "copies " } }, "kernels",
			"kernel", "total_ns", { NULL } },
	{ "Spans", "spans", { { NULL, NULL } }, "by_name", "name", "self_ns", { NULL } },
	{ "Iterations", "iterations", { { "count", "" }, { "source", "" } }, "by_name", "name", "median_ns", { NULL } },
	{ "Swarms", "swarms", { { "count", "" } }, "by_swarm", "caption", "share", { NULL } },
};

static bool is_needed(const struct analyze_section *s, const struct area *area)
{
	bool is_known = false;

	for (size_t i = 0; i < sizeof(area->needs) / sizeof(*area->needs) && area->needs[i]; i++) {
		const struct analyze_value *v = analyze_find_field(s, area->needs[i]);

		if (v && !v->is_null && v->integer)
			return true;
		is_known = true;
	}
	return !is_known;
}

static void add_area(const struct result_page *p, const struct analyze_result *r, const struct area *area)
{
	const struct analyze_section *s = analyze_find(r, area->section);
	const struct analyze_table *t = find_table(s, area->table ? area->table : "");
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	if (!s || s->absent || !is_needed(s, area))
		return;
	for (size_t i = 0; i < AREA_FIELDS && area->fields[i].key; i++)
		for (const struct analyze_field *f = s->fields; f; f = f->next)
			if (strcmp(f->column.key, area->fields[i].key) == 0 && f->column.title && !f->value.is_null)
				result_add_field(p, &line, area->fields[i].words, f);
	if (t)
		add_items(p, &line, line.len ? ": " : "", t, area->name, area->value);
	add_line(p, area->label, &line);
}

/* Sections without data, and losses of the recording. */
static void add_gaps(const struct result_page *p, const struct analyze_result *r)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT, lost = BUF_INIT;
	const struct analyze_section *losses = analyze_find(r, "losses");

	for (const struct analyze_section *s = r->sections; s; s = s->next)
		if (s->absent)
			buf_addf(&line, "%s%s", line.len ? ", " : "", s->title);
	if (losses && losses->tables && losses->tables->rows) {
		result_add_value(&lost, ANALYZE_TEXT, &losses->tables->values[0]);
		if (losses->tables->rows > 1)
			buf_addf(&lost, "; %zu more (--full)", losses->tables->rows - 1);
	}
	add_line(p, "Lost", &lost);
	add_line(p, "Not recorded", &line);
}

static int write_brief(const struct result_page *p, const struct analyze_result *r)
{
	const struct analyze_value *run = analyze_find_field(analyze_find(r, "overview"), "run");
	const struct analyze_section *diagnosis = analyze_find(r, "diagnosis");
	const struct analyze_table *t = diagnosis ? diagnosis->tables : NULL;
	CLEANUP(buf_release) struct buf name = BUF_INIT, safe = BUF_INIT;

	add_states(p, r);
	result_add_heading(p, "What to change");
	for (size_t row = 0; t && row < t->rows && row < FINDINGS; row++)
		add_finding(p, row + 1, &t->values[row * t->column_count]);
	if (!t || !t->rows)
		buf_adds(p->out, "No issues found.\n");
	else if (t->rows > FINDINGS)
		buf_addf(p->out, "... and %zu more (--full)\n", t->rows - FINDINGS);
	buf_addc(p->out, '\n');
	for (size_t i = 0; i < sizeof(areas) / sizeof(*areas); i++)
		add_area(p, r, &areas[i]);
	add_gaps(p, r);
	words_quote(&name, run && !run->is_null ? run->text.data : "RUN");
	term_safe(&safe, name.data);
	buf_addf(p->out, "\nMore: sonde summary --full %s; in a browser: sonde view %s\n", safe.data, safe.data);
	return buf_error(p->out);
}

/* The full form. */

/* Issues are printed first: rule, what, evidence, range, recoverable, next. */
static void add_diagnosis(const struct result_page *p, const struct analyze_section *s)
{
	const struct analyze_table *t = s ? s->tables : NULL;

	for (size_t row = 0; t && row < t->rows; row++) {
		const struct analyze_value *v = &t->values[row * t->column_count];
		char text[TERM_TEXT];

		if (row == 0)
			result_add_heading(p, s->title);
		term_add(p->out, p->term, TERM_YELLOW, v[1].text.data);
		if (!v[5].is_null)
			buf_addf(p->out, " (up to %s could be saved)", term_ns(text, v[5].integer));
		buf_adds(p->out, "\n  ");
		result_add_value(p->out, ANALYZE_TEXT, &v[2]);
		buf_adds(p->out, "\n  try: ");
		result_add_value(p->out, ANALYZE_TEXT, &v[6]);
		buf_addc(p->out, '\n');
	}
}

static int write_full(const struct result_page *p, const struct analyze_result *r)
{
	bool has_heading = false;
	int rc = 0;

	add_diagnosis(p, analyze_find(r, "diagnosis"));
	for (const struct analyze_section *s = r->sections; s && rc == 0; s = s->next)
		if (strcmp(s->key, "diagnosis") != 0 && !s->is_top)
			rc = result_add_section(p, s);
	for (const struct analyze_section *s = r->sections; s; s = s->next) {
		if (!s->absent)
			continue;
		if (!has_heading)
			result_add_heading(p, "Not recorded");
		has_heading = true;
		buf_addf(p->out, "%s: %s\n", s->title, s->absent);
	}
	return rc < 0 ? rc : buf_error(p->out);
}

int summary_write_text(const struct analyze_result *r, bool is_full, struct buf *out, const struct term *term)
{
	const struct analyze_section *overview = analyze_find(r, "overview");
	const struct analyze_value *wall = analyze_find_field(overview, "wall_ns");
	struct result_page p = { .out = out, .term = term, .wall_ns = STORE_NULL, .cell_columns = CELL_MAX };

	if (overview)
		result_add_fields(&p, overview);
	p.wall_ns = wall && !wall->is_null ? wall->integer : STORE_NULL;
	return is_full ? write_full(&p, r) : write_brief(&p, r);
}
