/*
 * duet-history: sonde duet history FILE: results over time, and change points of B.
 */
#include "base/cleanup.h"
#include "cli/duet-cli.h"
#include "duet/history.h"

#include <math.h>

/* The change, as a ratio, if a segment other than the first begins here. */
static double change_at(const struct duet_series *s, size_t i)
{
	for (size_t k = 1; k < s->segment_count; k++)
		if (s->segments[k].first == i)
			return exp(s->segments[k].median - s->segments[k - 1].median);
	return NAN;
}

static void print_series(const struct duet_series *s)
{
	static const struct term_column columns[] = { { "at", TERM_LEFT }, { "label", TERM_LEFT }, { "B", TERM_RIGHT },
		{ "B / A", TERM_RIGHT }, { "verdict", TERM_LEFT }, { "level of B", TERM_LEFT } };
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	struct term_table table;

	term_safe(&name, s->name);
	printf("%s, %s: %zu result%s, %zu change%s\n", name.data, s->metric, s->count, s->count == 1 ? "" : "s",
			s->segment_count - 1, s->segment_count == 2 ? "" : "s");
	term_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < s->count; i++) {
		const struct duet_point *p = &s->points[i];
		CLEANUP(buf_release) struct buf change = BUF_INIT;

		if (isfinite(change_at(s, i)))
			duet_say_change(&change, change_at(s, i));
		term_table_cell(&table, TERM_PLAIN, p->at ? p->at : "");
		term_table_cell(&table, TERM_PLAIN, p->label ? p->label : "");
		term_table_cellf(&table, "%.6g", p->b);
		term_table_cellf(&table, "%.4f", p->ratio);
		term_table_cell(&table, TERM_PLAIN, p->verdict ? p->verdict : "");
		term_table_cell(&table, TERM_BOLD, change.data);
	}
	term_table_print(&table, stdout);
	term_table_release(&table);
}

static void write_series(struct json *j, const struct duet_series *s)
{
	json_object(j);
	json_kstr(j, "benchmark", s->name);
	json_kstr(j, "metric", s->metric);
	json_key(j, "results");
	json_array(j);
	for (size_t i = 0; i < s->count; i++) {
		json_object(j);
		json_kstr(j, "at", s->points[i].at);
		json_kstr(j, "label", s->points[i].label);
		json_kstr(j, "verdict", s->points[i].verdict);
		json_kreal(j, "ratio", s->points[i].ratio);
		json_kreal(j, "lo", s->points[i].lo);
		json_kreal(j, "hi", s->points[i].hi);
		json_kreal(j, "b", s->points[i].b);
		if (isfinite(change_at(s, i)))
			json_kreal(j, "change", change_at(s, i));
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

int duet_run_history(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct duet_series *series;
	struct json j;
	size_t count;
	int rc;

	if (ctx->arg_count != 2)
		return cli_usage(ctx, "history takes one FILE, that --history has written");
	rc = duet_history_read(ctx->args[1], &series, &count, ctx->arena, ctx->err);
	if (rc)
		return rc;
	json_init(&j, &text, false);
	json_array(&j);
	for (size_t i = 0; i < count; i++) {
		if (o->is_json)
			write_series(&j, &series[i]);
		else
			print_series(&series[i]);
	}
	json_end(&j);
	if (o->is_json)
		puts(text.data);
	return 0;
}
