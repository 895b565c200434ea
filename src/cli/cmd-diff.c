/* sonde diff: compare two runs, or two sets of runs. */
#include "analyze/analyze.h"
#include "analyze/diff.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_TEXT 15
#define RUNS_MAX 1000

struct options {
	double threshold; /* ratio */
	bool is_json;
	int64_t top;
};

static int set_threshold(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	struct options *o = options;
	char *end;
	double number = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%")) || !(number >= 0) || !isfinite(number))
		return err_set(err, EINVAL, "invalid threshold '%s': expected 5%% or 0.05", value);
	o->threshold = *end ? number / 100 : number;
	return 0;
}

static const struct cli_option option_rows[] = {
	{ 't', "threshold", "SHARE", CLI_SETTER(set_threshold), .default_text = "5%",
			.help = "Relative change of the wall time that is tolerated; a larger slowdown exits with 3." },
	{ 'n', "top", "N", CLI_INT(struct options, top), .min = 1, .max = INT64_MAX,
			.default_words = "15, all with --json", .help = "Maximum number of rows." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print one JSON object." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde diff before after", "Compare two runs, without confidence intervals." },
	{ "sonde diff a1,a2,a3 b1,b2,b3", "Compare two sets of runs, with 95 % confidence intervals." },
	{ "sonde diff before after --threshold 10% --json",
			"JSON output; exits with 3 if B is more than 10 % slower." },
	{ NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "Success." },
	{ "1", "Failure; the reason is on standard error." },
	{ "2", "Usage error." },
	{ "3", "B is slower by more than the threshold." },
	{ NULL },
};

/* Splits "a,b,c" into *count names. */
static char **names_of(struct arena *arena, const char *text, size_t *count)
{
	char **names = arena_alloc(arena, RUNS_MAX * sizeof(*names));
	*count = 0;
	for (const char *end; names && *text && *count < RUNS_MAX; text = *end ? end + 1 : end) {
		end = strchrnul(text, ',');
		if (end == text)
			continue;
		if (!(names[*count] = arena_copy(arena, text, (size_t)(end - text))))
			return NULL;
		++*count;
	}
	return names;
}

static int take_run(struct diff *d, bool is_b, size_t i, const char *name, struct sonde_err *err)
{
	const struct analyze_opts opts = { .rules = "posix" };
	const struct analyze_result *result = NULL;
	struct model_run *run = NULL;
	struct analyze *a = NULL;
	int rc = model_run_open(&run, name, err);
	if (!rc)
		rc = analyze_new(&a, run, &opts, err);
	if (!rc)
		rc = analyze_scan(a, err);
	if (!rc)
		rc = analyze_finish(a, &result, err);
	if (!rc)
		rc = diff_add(d, is_b, i, result, err);
	analyze_free(a);
	model_run_free(run);
	return rc;
}

/* The name of a row of each list, and the measure that is compared. */
static const struct {
	const char *list, *what, *measure;
} words[] = {
	{ "counters.by_name", "counter", ", mean" },
	{ "counters.of_probes", "counter", "" },
	{ "cpu.by_function", "function", ", self CPU time" },
	{ "gpu.copies", "GPU copies", "" },
	{ "gpu.kernels", "GPU kernel", "" },
	{ "io.by_call", "call", "" },
	{ "io.by_file", "file", "" },
	{ "iterations.by_name", "iterations of", ", median" },
	{ "network.matrix", "traffic", "" },
	{ "spans.by_name", "span", "" },
	{ "states.by_thread", "thread", ", running" },
	{ "swarms.by_swarm", "swarm", "" },
};

static void add_item(struct analyze_table *t, const struct diff_item *item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !text.len; i++)
		if (!strcmp(words[i].list, item->list))
			buf_addf(&text, "%s %s%s", words[i].what, item->name, words[i].measure);
	if (!text.len)
		buf_addf(&text, "%s%s%s%s%s", item->list, *item->list ? ": " : "", item->name, *item->name ? ", " : "",
				item->title ? item->title : item->key);
	analyze_cell_text(t, item->list);
	analyze_cell_text(t, item->name);
	analyze_cell_text(t, item->key);
	analyze_cell_interval(t, (struct analyze_interval){ item->unit, item->mean_a, NAN, NAN });
	analyze_cell_interval(t, (struct analyze_interval){ item->unit, item->mean_b, NAN, NAN });
	analyze_cell_interval(t, (struct analyze_interval){ item->unit, item->change, item->lo, item->hi });
	analyze_cell_int(t, item->is_sure);
	analyze_cell_text(t, text.data);
}

static void add_verdict(struct analyze_result *r, const struct diff *d, double threshold)
{
	struct analyze_section *s = analyze_section(r, "verdict", NULL);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *word = diff_verdict_word(d->verdict);
	bool has_interval = !isnan(d->lo);
	if (d->verdict == DIFF_UNKNOWN)
		buf_addf(&text, "The comparison is %s", word);
	else if (d->verdict == DIFF_SAME)
		buf_addf(&text, "B is %s within %g %%", word, 100 * threshold);
	else
		buf_addf(&text, "B is %s", word);
	buf_addf(&text, ": wall time %+.1f %%", 100 * (d->ratio - 1));
	if (has_interval)
		buf_addf(&text, " (95 %% interval %+.1f to %+.1f %%, %zu and %zu runs)\n", 100 * (d->lo - 1),
				100 * (d->hi - 1), d->count_a, d->count_b);
	else
		buf_adds(&text, " (one run each, no interval)\n");
	analyze_text(s, "verdict", NULL, word);
	analyze_interval(s, "ratio", NULL, (struct analyze_interval){ ANALYZE_REAL, d->ratio, d->lo, d->hi });
	analyze_int(s, "runs_a", NULL, ANALYZE_COUNT, (int64_t)d->count_a);
	analyze_int(s, "runs_b", NULL, ANALYZE_COUNT, (int64_t)d->count_b);
	analyze_text(s, "note", NULL, has_interval ? NULL : "one run each, no interval");
	analyze_note(s, "%s", text.data);
	if (s)
		s->is_top = true;
}

static int print(const struct diff *d, const struct options *o)
{
	static const struct analyze_column columns[] = { { "list", NULL, ANALYZE_TEXT }, { "name", NULL, ANALYZE_TEXT },
		{ "quantity", NULL, ANALYZE_TEXT }, { "a", "A", ANALYZE_ESTIMATE }, { "b", "B", ANALYZE_ESTIMATE },
		{ "change", "CHANGE", ANALYZE_INTERVAL, ANALYZE_FIRST | ANALYZE_SIGNED },
		{ "sure", NULL, ANALYZE_BOOL }, { NULL, "WHAT", ANALYZE_TEXT } };
	CLEANUP(analyze_result_release) struct analyze_result r = { .error = 0 };
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct term term = term_of(stdout);
	const struct result_page page = { .out = &out, .term = &term, .wall_ns = STORE_NULL };
	size_t top = o->top ? (size_t)o->top : o->is_json ? SIZE_MAX : ROWS_TEXT;
	add_verdict(&r, d, o->threshold);
	struct analyze_section *s = analyze_section(&r, "items", NULL);
	struct analyze_table *t = analyze_table(s, "items", "", columns, sizeof(columns) / sizeof(*columns), 0);
	if (!t)
		return -ENOMEM;
	s->is_list = true;
	for (size_t i = 0; i < d->count && t->rows < top; i++) {
		const struct diff_item *item = &d->items[i];
		/* A reader gets what changed, and no details: columns without a title. */
		if (!o->is_json && (isnan(item->change) || item->change == 0 || (!*item->name && !item->title)))
			continue;
		add_item(t, item);
	}
	int rc = o->is_json ? result_write_json(&r, &out) : result_write_text(&r, &page);
	if (!rc)
		fwrite(out.data, 1, out.len, stdout);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	size_t counts[2];
	char **names[2];
	struct diff d;
	int rc = 0;
	for (int side = 0; side < 2; side++)
		if (!(names[side] = names_of(ctx->arena, ctx->args[side], &counts[side])))
			return err_sys(ctx->err, ENOMEM, "cannot compare the runs");
	if (!counts[0] || !counts[1])
		return cli_usage(ctx, "a set of runs is empty");
	diff_init(&d, counts[0], counts[1]);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < counts[side] && !rc; i++)
			rc = take_run(&d, side, i, names[side][i], ctx->err);
	if (!rc)
		rc = diff_finish(&d, o->threshold, ctx->err);
	if (!rc)
		rc = print(&d, o);
	if (!rc && d.verdict == DIFF_SLOWER)
		ctx->exit_code = CLI_EXIT_VERDICT;
	diff_release(&d);
	return rc;
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.usage = "[--threshold SHARE] [-n N] [--json] A B",
	.positional = { .name = "RUNS",
			.min = 2,
			.max = 2,
			.type = CLI_TYPE_RUN,
			.help = "Two runs, or two comma-separated sets of runs." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
