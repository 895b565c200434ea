/* sonde query: query a run with SQL. */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "query/query.h"
#include "result/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SQL_BYTES_MAX ((size_t)1 << 20)

struct options {
	bool is_json, is_csv;
	int64_t rows;
	int64_t time_ns;
	uint64_t memory;
};

static const struct cli_option option_rows[] = {
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print a JSON array with one object per row." },
	{ 0, "csv", NULL, CLI_FLAG(struct options, is_csv),
			.help = "Print CSV (RFC 4180) with a header line; null is empty." },
	{ 0, "rows", "N", CLI_INT(struct options, rows), .min = 0, .max = INT64_MAX, .default_text = "1000000",
			.group = "Limits",
			.help = "Maximum number of rows (0 = unlimited); exit status 1 if truncated." },
	{ 0, "timeout", "TIME", CLI_DURATION(struct options, time_ns), .default_text = "60s", .group = "Limits",
			.help = "Time limit (0 = unlimited)." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct options, memory), .default_text = "1GiB", .group = "Limits",
			.help = "Memory limit of the statement (0 = unlimited). Large sorts use temporary files." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde query 'SELECT kind, name, meaning FROM tables WHERE \"column\" IS NULL'",
			"List all tables, views and functions." },
	{ "sonde query training 'SELECT call, count(*) n, sum(dur_ns) ns FROM calls GROUP BY call ORDER BY ns DESC'",
			"The calls of a run, sorted by total time." },
	{ "sonde query \"SELECT * FROM quantile('io', 'dur_ns', 0.99, 'call')\" --csv",
			"The 99th percentile of each call's duration, computed by the engine." },
	{ "sonde query \"SELECT function, self_ns FROM functions LIMIT 10\" --json",
			"The top functions, for a script." },
	{ NULL },
};

/* Output formats. */

struct answer {
	struct out out;
	struct json json;
	struct term_table table;
	struct term_column columns[2000];
	struct arena arena;
	const char **names;
	size_t count;
	const struct options *options;
};

static void csv_text(struct buf *out, const char *text, size_t n)
{
	bool is_quoted = n == 0; /* distinguishes empty text from null */

	for (size_t i = 0; i < n && !is_quoted; i++)
		is_quoted = strchr(",\"\r\n", text[i]) != NULL;
	if (is_quoted)
		buf_addc(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			buf_addc(out, '"');
		buf_addc(out, text[i]);
	}
	if (is_quoted)
		buf_addc(out, '"');
}

/* A value as text, for all formats but JSON. Returns false for null. */
static bool add_value(struct buf *out, const struct query_value *v)
{
	struct json j;

	if (v->kind == QUERY_INT) {
		buf_addf(out, "%" PRId64, v->integer);
	} else if (v->kind == QUERY_REAL) { /* the shortest text that reads back as the same number */
		json_init(&j, out, false);
		json_real(&j, v->real);
	} else if (v->kind == QUERY_TEXT) {
		buf_add(out, v->text.data, v->text.bytes);
	} else if (v->kind == QUERY_BLOB) {
		for (size_t i = 0; i < v->text.bytes; i++)
			buf_addf(out, "%02x", (unsigned char)v->text.data[i]);
	} else {
		return false;
	}
	return true;
}

static int take_columns(void *arg, const char *const *names, size_t count)
{
	struct answer *a = arg;

	a->count = count;
	a->names = arena_alloc(&a->arena, (count + 1) * sizeof(*a->names));
	for (size_t i = 0; a->names && i < count; i++)
		if (!(a->names[i] = arena_strdup(&a->arena, names[i])))
			return -ENOMEM;
	if (!a->names || count > sizeof(a->columns) / sizeof(*a->columns))
		return -ENOMEM;
	if (a->options->is_json) {
		buf_addc(&a->out.text, '[');
	} else if (a->options->is_csv) {
		for (size_t i = 0; i < count; i++) {
			buf_adds(&a->out.text, i ? "," : "");
			csv_text(&a->out.text, names[i], strlen(names[i]));
		}
		buf_adds(&a->out.text, "\r\n");
	} else {
		for (size_t i = 0; i < count; i++)
			a->columns[i].title = a->names[i];
		term_table_init(&a->table, a->columns, count);
	}
	return 0;
}

static void json_row(struct answer *a, const struct query_value *values)
{
	struct json j;

	buf_adds(&a->out.text, a->out.text.len && a->out.text.data[a->out.text.len - 1] == '[' ? "\n" : ",\n");
	json_init(&j, &a->out.text, false);
	json_object(&j);
	for (size_t i = 0; i < a->count; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		const struct query_value *v = &values[i];

		json_key(&j, a->names[i]);
		if (v->kind == QUERY_INT)
			json_int(&j, v->integer);
		else if (v->kind == QUERY_REAL)
			json_real(&j, v->real);
		else if (add_value(&text, v))
			json_strn(&j, text.data, text.len);
		else
			json_null(&j);
	}
	json_end(&j);
}

static void csv_row(struct answer *a, const struct query_value *values)
{
	struct buf *out = &a->out.text;

	for (size_t i = 0; i < a->count; i++) {
		buf_adds(out, i ? "," : "");
		if (values[i].kind == QUERY_TEXT)
			csv_text(out, values[i].text.data, values[i].text.bytes);
		else
			add_value(out, &values[i]);
	}
	buf_adds(out, "\r\n");
}

static void text_row(struct answer *a, const struct query_value *values)
{
	for (size_t i = 0; i < a->count; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		if (!add_value(&text, &values[i]))
			buf_addc(&text, '-');
		if (values[i].kind == QUERY_INT || values[i].kind == QUERY_REAL)
			a->columns[i].align = TERM_RIGHT;
		term_table_cell(&a->table, TERM_PLAIN, text.data);
	}
}

static int take_row(void *arg, const struct query_value *values, size_t count)
{
	struct answer *a = arg;

	(void)count;
	if (a->options->is_json)
		json_row(a, values);
	else if (a->options->is_csv)
		csv_row(a, values);
	else
		text_row(a, values);
	return out_is_over(&a->out) ? -EPIPE : 0;
}

static int finish(struct cli_context *ctx, struct answer *a)
{
	int rc = 0;

	if (a->options->is_json)
		buf_adds(&a->out.text,
				a->out.text.len && a->out.text.data[a->out.text.len - 1] == '[' ? "]\n" : "\n]\n");
	else if (!a->options->is_csv && a->count)
		rc = term_table_print(&a->table, stdout);
	if (rc < 0)
		return err_sys(ctx->err, -rc, "cannot print the result");
	return out_finish(&a->out, ctx->err);
}

static int answer(struct cli_context *ctx, struct model_run *run, const char *sql)
{
	const struct options *o = ctx->options;
	const struct query_limits limits = { .rows = (uint64_t)o->rows,
		.time_ns = o->time_ns,
		.memory_bytes = o->memory };
	struct answer *a = arena_alloc(ctx->arena, sizeof(*a));
	struct query_sink sink = { .columns = take_columns, .row = take_row, .arg = a };
	struct query_end end = { .rows = 0 };
	struct query *q = NULL;
	int rc;

	if (!a)
		return err_sys(ctx->err, ENOMEM, "cannot run the query");
	rc = query_open(&q, run, ctx->err);
	if (rc < 0)
		return rc;
	a->options = o;
	out_init(&a->out);
	arena_init(&a->arena);
	rc = query_run(q, sql, &limits, &sink, &end, ctx->err);
	if (rc == -EPIPE)
		rc = 0;
	if (rc == 0)
		rc = finish(ctx, a);
	for (const char *at = end.notes; rc == 0 && *at;) { /* one per line */
		size_t n = strcspn(at, "\n");

		cli_message("note", "%.*s", (int)n, at);
		at += n + (at[n] == '\n');
	}
	if (rc == 0 && end.is_cut) {
		rc = err_set(ctx->err, E2BIG, "the result was truncated after %" PRIu64 " rows, the limit", end.rows);
		err_hint(ctx->err, "use --rows 0 for no limit");
	}
	if (a->count && !o->is_json && !o->is_csv)
		term_table_release(&a->table);
	out_release(&a->out);
	arena_release(&a->arena);
	query_free(q);
	return rc;
}

/* Reads one statement from stdin. */
static int read_sql(struct cli_context *ctx, struct buf *sql)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, piece, sizeof(piece))) > 0 && sql->len <= SQL_BYTES_MAX)
		buf_add(sql, piece, (size_t)n);
	if (n < 0)
		return err_sys(ctx->err, errno, "cannot read the statement");
	return buf_error(sql) < 0 || sql->len > SQL_BYTES_MAX
			? err_set(ctx->err, E2BIG, "the statement is longer than %zu bytes", SQL_BYTES_MAX)
			: 0;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *sql = ctx->arg_count ? ctx->args[ctx->arg_count - 1] : "-";
	struct model_run *opened = NULL;
	int rc = 0;

	if (o->is_json && o->is_csv)
		return cli_usage(ctx, "--json and --csv are mutually exclusive");
	/* A single word without blanks is the name of a run, not a statement. */
	if (ctx->arg_count == 1 && strcmp(sql, "-") != 0 && !sql[strcspn(sql, " \t\n;(")]) {
		rc = cli_usage(ctx, "missing SQL statement: '%.60s' is not SQL", sql);
		err_hint(ctx->err, "sonde query '%.60s' 'SELECT * FROM tables'", sql);
		return rc;
	}
	if (strcmp(sql, "-") == 0) {
		if (isatty(STDIN_FILENO))
			return cli_usage(ctx, "missing SQL statement");
		rc = read_sql(ctx, &text);
		sql = text.data;
	}
	ctx->arg_count = ctx->arg_count > 1;
	if (rc == 0)
		rc = cli_open_run(ctx, &opened);
	if (rc == 0)
		rc = answer(ctx, opened, sql);
	model_run_free(opened);
	return rc;
}

const struct cli_command cmd_query = {
	.name = "query",
	.usage = "[--json|--csv] [--rows N] [--timeout TIME] [--memory SIZE] [RUN] [SQL]",
	.positional = { .name = "RUN",
			.min = 0,
			.max = 2,
			.type = CLI_TYPE_RUN,
			.help = "Run directory or name (default: latest), and one SQL statement; '-' reads the "
				"statement from standard input." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
