/* sonde diff: compare two runs, or two sets of runs. */
#include "analyze/analyze.h"
#include "analyze/diff.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "result/term.h"

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
		return err_set(err, EINVAL, "'%s' is no share: write 5%% or 0.05", value);
	o->threshold = *end ? number / 100 : number;
	return 0;
}

static const struct cli_option option_rows[] = {
	{ 't', "threshold", "SHARE", CLI_SETTER(set_threshold), .default_text = "5%",
			.help = "Changes of the wall time up to this are none; beyond it, slower exits with 3." },
	{ 'n', "top", "N", CLI_INT(struct options, top), .min = 1, .max = INT64_MAX,
			.default_words = "15, all with --json", .help = "Rows at most." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print one JSON object." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde diff before after", "Two runs: what changed, without intervals." },
	{ "sonde diff a1,a2,a3 b1,b2,b3", "Two sets of runs: changes with 95 % intervals." },
	{ "sonde diff before after --threshold 10% --json", "For a script; exit 3 when more than 10 % slower." },
	{ NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "All went well." },
	{ "1", "It failed; the reason is on standard error." },
	{ "2", "The command line is wrong." },
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
		rc = diff_take(d, is_b, i, result, err);
	analyze_free(a);
	model_run_free(run);
	return rc;
}

static void number_cell(struct term_table *t, enum analyze_unit unit, double v, bool is_change)
{
	char text[TERM_TEXT];
	const char *sign = !is_change ? "" : v < 0 ? "-" : "+";
	double size = is_change ? fabs(v) : v;
	if (isnan(v))
		term_table_cell(t, TERM_PLAIN, "-");
	else if (unit == ANALYZE_NS || unit == ANALYZE_SUM_NS)
		term_table_cellf(t, "%s%s", sign, term_ns(text, (int64_t)size));
	else if (unit == ANALYZE_BYTES)
		term_table_cellf(t, "%s%s", sign, term_bytes(text, (uint64_t)size));
	else
		term_table_cellf(t, "%s%.4g", sign, size);
}

static void interval_cell(struct term_table *t, const struct diff_item *item)
{
	char lo[TERM_TEXT], hi[TERM_TEXT];
	if (isnan(item->lo))
		term_table_cell(t, TERM_PLAIN, "-");
	else if (item->unit == ANALYZE_NS || item->unit == ANALYZE_SUM_NS)
		term_table_cellf(t, "%s%s to %s%s", item->lo < 0 ? "-" : "", term_ns(lo, (int64_t)fabs(item->lo)),
				item->hi < 0 ? "-" : "", term_ns(hi, (int64_t)fabs(item->hi)));
	else if (item->unit == ANALYZE_BYTES)
		term_table_cellf(t, "%s%s to %s%s", item->lo < 0 ? "-" : "", term_bytes(lo, (uint64_t)fabs(item->lo)),
				item->hi < 0 ? "-" : "", term_bytes(hi, (uint64_t)fabs(item->hi)));
	else
		term_table_cellf(t, "%.4g to %.4g", item->lo, item->hi);
}

/* The name of a row of each list, and the measure that is compared. */
static const struct {
	const char *list, *what, *measure;
} words[] = {
	{ "counters.by_name", "counter", ", mean" },
	{ "counters.of_probes", "counter", "" },
	{ "cpu.by_function", "function", ", own CPU time" },
	{ "gpu.copies", "GPU copies", "" },
	{ "gpu.kernels", "GPU kernel", "" },
	{ "io.by_call", "call", "" },
	{ "io.by_file", "file", "" },
	{ "iterations.by_name", "iterations of", ", median" },
	{ "network.matrix", "traffic", "" },
	{ "spans.by_name", "span", "" },
	{ "states.by_thread", "thread", ", on CPUs" },
	{ "swarms.by_swarm", "swarm", "" },
};

static void what_cell(struct term_table *t, const struct diff_item *item)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].list, item->list)) {
			term_table_cellf(t, "%s %s%s", words[i].what, item->name, words[i].measure);
			return;
		}
	term_table_cellf(t, "%s%s%s%s%s", item->list, *item->list ? ": " : "", item->name, *item->name ? ", " : "",
			item->title ? item->title : item->key);
}

static int print_items(const struct diff *d, size_t top)
{
	static const struct term_column columns[] = { { .title = "CHANGE", .align = TERM_RIGHT },
		{ .title = "INTERVAL" }, { .title = "A", .align = TERM_RIGHT }, { .title = "B", .align = TERM_RIGHT },
		{ .title = "WHAT" } };
	struct term_table t;
	size_t shown = 0;
	term_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < d->count && shown < top; i++) {
		const struct diff_item *item = &d->items[i];
		if (isnan(item->change) || item->change == 0 || (!*item->name && !item->title))
			continue; /* columns without a title are details */
		number_cell(&t, item->unit, item->change, true);
		interval_cell(&t, item);
		number_cell(&t, item->unit, item->mean_a, false);
		number_cell(&t, item->unit, item->mean_b, false);
		what_cell(&t, item);
		shown++;
	}
	int rc = term_table_print(&t, stdout);
	term_table_release(&t);
	return rc;
}

static int print_text(const struct diff *d, double threshold, size_t top)
{
	const char *word = diff_verdict_word(d->verdict);
	if (d->verdict == DIFF_UNKNOWN)
		printf("Whether B is slower is %s", word);
	else if (d->verdict == DIFF_SAME)
		printf("B is %s within %g %%", word, 100 * threshold);
	else
		printf("B is %s", word);
	printf(": wall time %+.1f %%", 100 * (d->ratio - 1));
	if (isnan(d->lo))
		printf(" (one run each, no interval)\n\n");
	else
		printf(" (95 %% interval %+.1f to %+.1f %%, %zu and %zu runs)\n\n", 100 * (d->lo - 1),
				100 * (d->hi - 1), d->count_a, d->count_b);
	return print_items(d, top);
}

static void real_or_null(struct json *j, const char *key, double v)
{
	json_key(j, key);
	if (isfinite(v))
		json_real(j, v);
	else
		json_null(j);
}

static void write_item(struct json *j, const struct diff_item *item)
{
	json_object(j);
	json_kstr(j, "list", item->list);
	json_kstr(j, "name", item->name);
	json_kstr(j, "quantity", item->key);
	real_or_null(j, "a", item->mean_a);
	real_or_null(j, "b", item->mean_b);
	real_or_null(j, "change", item->change);
	real_or_null(j, "lo", item->lo);
	real_or_null(j, "hi", item->hi);
	json_kbool(j, "sure", item->is_sure);
	json_end(j);
}

static int print_json(const struct diff *d, size_t top)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct json j;
	json_init(&j, &out, false);
	json_object(&j);
	json_kstr(&j, "verdict", diff_verdict_word(d->verdict));
	real_or_null(&j, "ratio", d->ratio);
	real_or_null(&j, "lo", d->lo);
	real_or_null(&j, "hi", d->hi);
	json_kint(&j, "runs_a", (int64_t)d->count_a);
	json_kint(&j, "runs_b", (int64_t)d->count_b);
	json_kstr(&j, "note", isnan(d->lo) ? "one run each, no interval" : NULL);
	json_key(&j, "items");
	json_array(&j);
	for (size_t i = 0; i < d->count && i < top; i++)
		write_item(&j, &d->items[i]);
	json_end(&j);
	json_end(&j);
	buf_addc(&out, '\n');
	int rc = buf_error(&out);
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
		rc = o->is_json ? print_json(&d, o->top ? (size_t)o->top : SIZE_MAX)
				: print_text(&d, o->threshold, o->top ? (size_t)o->top : ROWS_TEXT);
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
			.help = "Two runs, or two sets of runs with commas between them." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
