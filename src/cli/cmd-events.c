/*
 * sonde events: print the rows of a table of a run, sorted by time.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/events.h"
#include "cli/open-run.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The filter options; zero and empty: not set. */
struct event_wants {
	int64_t pid, tid;
	struct cli_list calls;
	const char *path;
	const char *name;
	bool is_failed_only;
	int64_t min_dur_ns;
	int64_t from_ns, to_ns; /* since the start of the run */
};

struct options {
	int table;
	bool is_json;
	int64_t limit;
	int64_t tail;
	struct event_wants wants;
};

static const struct cli_option option_rows[] = {
	{ 't', "table", "TABLE", CLI_CHOICE(struct options, table), .choices = event_table_names, .default_text = "io",
			.help = "Table to print." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print JSON lines, one object per row." },
	{ 'n', "limit", "N", CLI_INT(struct options, limit), .min = 1, .max = INT64_MAX,
			.help = "Print the first N rows." },
	{ 0, "tail", "N", CLI_INT(struct options, tail), .min = 1, .max = INT64_MAX, .help = "Print the last N rows." },
	{ 0, "pid", "PID", CLI_INT(struct options, wants.pid), .min = 1, .max = INT32_MAX, .group = "Filters",
			.help = "Only rows of this process." },
	{ 0, "tid", "TID", CLI_INT(struct options, wants.tid), .min = 1, .max = INT32_MAX, .group = "Filters",
			.help = "Only rows of this thread." },
	{ 0, "call", "NAMES", CLI_WORDS(struct options, wants.calls), .group = "Filters",
			.help = "Only these calls: comma-separated names or shell patterns." },
	{ 0, "path", "PATH", CLI_STRING(struct options, wants.path), .group = "Filters",
			.help = "Only calls on this file or below this directory; a path with *, ? or [ is a pattern, "
				"in which * also matches slashes." },
	{ 0, "name", "NAME", CLI_STRING(struct options, wants.name), .group = "Filters",
			.help = "Only spans, steps, marks, counters, metadata or threads with a name that matches this "
				"pattern." },
	{ 0, "errors", NULL, CLI_FLAG(struct options, wants.is_failed_only), .group = "Filters",
			.help = "Only failed calls." },
	{ 0, "min-duration", "TIME", CLI_DURATION(struct options, wants.min_dur_ns), .group = "Filters",
			.help = "Only rows with at least this duration." },
	{ 0, "from", "TIME", CLI_DURATION(struct options, wants.from_ns), .group = "Filters",
			.help = "Only rows that start at this time since the start of the run, or later." },
	{ 0, "to", "TIME", CLI_DURATION(struct options, wants.to_ns), .group = "Filters",
			.help = "Only rows that start before this time since the start of the run." },
	CLI_OPTIONS_END,
};

/*
 * Filters. Names and patterns are converted to sets of string ids once; each path is compared once. A filter tests a
 * column of the store; a table without that column rejects the filter.
 */

struct event_filter {
	struct model_run *run;
	const struct event_wants *wants;
	/* private */
	int pid, tid, call, name, file, file2, errnum, dur; /* column indexes, -1: not used */
	bool *is_call, *is_name;                            /* indexed by string id */
	size_t name_count;
	const char *path;
	bool is_glob;
	char *paths; /* indexed by path number: 0 not compared yet, 'y', 'n' */
	size_t path_count;
};

static bool is_pattern(const char *text)
{
	return text[strcspn(text, "*?[")] != '\0';
}

/* The set of string ids that match one of the words; a word may be a pattern. */
static bool *ids_of(const struct event_filter *f, const char *const *words, size_t count)
{
	bool *is_one = calloc(f->name_count + 1, sizeof(*is_one));

	for (size_t id = 1; is_one && id < f->name_count; id++) {
		const char *text = model_cname(f->run, (int64_t)id);

		for (size_t i = 0; text && i < count && !is_one[id]; i++)
			is_one[id] = is_pattern(words[i]) ? fnmatch(words[i], text, 0) == 0
							  : strcmp(words[i], text) == 0;
	}
	return is_one;
}

/* Makes a path absolute, unless it is a pattern; removes trailing slashes. */
static const char *whole_path(struct cli_context *ctx, const char *path)
{
	char cwd[4096];
	size_t len = strlen(path);
	char *copy;

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (strncmp(path, "./", 2) == 0 && len > 2) {
		path += 2;
		len -= 2;
	}
	copy = arena_copy(ctx->arena, path, len);
	if (!copy || path[0] == '/' || is_pattern(path) || !getcwd(cwd, sizeof(cwd)))
		return copy;
	return strcmp(copy, ".") == 0 ? arena_strdup(ctx->arena, cwd) : arena_printf(ctx->arena, "%s/%s", cwd, copy);
}

/* An option, whether it was given, the column it needs (or an equivalent one), and where to store its index. */
struct need {
	const char *option;
	bool is_given;
	const char *column, *other;
	int *place;
};

static int find_columns(struct event_filter *f, struct cli_context *ctx, const struct event_table *table)
{
	const struct event_wants *w = f->wants;
	const struct store_schema *schema = store_schemas[table->id];
	int unused;
	const struct need needs[] = {
		{ "--pid", w->pid, "pid", "", &f->pid },
		{ "--tid", w->tid, "tid", "", &f->tid },
		{ "--call", w->calls.count, "call", "", &f->call },
		{ "--name", w->name, "name", "key", &f->name },
		{ "--path", w->path, "file", "", &f->file },
		{ "--errors", w->is_failed_only, "errnum", "", &f->errnum },
		{ "--min-duration", w->min_dur_ns, "dur_ns", "", &f->dur },
		{ "--from and --to", w->from_ns || w->to_ns, "ts_ns", "start_ns", &unused },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		int col = store_schema_column(schema, needs[i].column);

		if (col < 0)
			col = store_schema_column(schema, needs[i].other);
		if (needs[i].is_given && col < 0)
			return cli_usage(ctx, "%s does not apply to the table '%s'", needs[i].option, schema->name);
		*needs[i].place = needs[i].is_given ? col : -1;
	}
	f->file2 = f->file < 0 ? -1 : store_schema_column(schema, "file2");
	return 0;
}

static void event_filter_release(struct event_filter *f)
{
	free(f->is_call);
	free(f->is_name);
	free(f->paths);
	f->is_call = f->is_name = NULL;
	f->paths = NULL;
}

/* The caller has loaded the dimensions of the run. -EINVAL, as a usage error, if the table has no such column. */
static int event_filter_init(struct event_filter *f, struct cli_context *ctx, struct model_run *run,
		const struct event_table *table, const struct event_wants *wants)
{
	*f = (struct event_filter){ .run = run, .wants = wants, .name_count = model_name_count(run) };
	int rc = find_columns(f, ctx, table);

	if (rc < 0)
		return rc;
	if (f->call >= 0)
		f->is_call = ids_of(f, wants->calls.items, wants->calls.count);
	if (f->name >= 0)
		f->is_name = ids_of(f, &wants->name, 1);
	if (f->file >= 0) {
		f->path = whole_path(ctx, wants->path);
		f->is_glob = is_pattern(wants->path);
	}
	if ((f->call >= 0 && !f->is_call) || (f->name >= 0 && !f->is_name) || (f->file >= 0 && !f->path)) {
		event_filter_release(f);
		return err_sys(ctx->err, ENOMEM, "cannot filter the events");
	}
	return 0;
}

/* Matches the path itself and everything below it, or the pattern. */
static bool compare_path(const struct event_filter *f, uint32_t number)
{
	struct store_text path = model_path(f->run, number);
	size_t n = strlen(f->path);

	if (f->is_glob)
		return fnmatch(f->path, path.data, 0) == 0;
	if (path.bytes < n || memcmp(path.data, f->path, n) != 0)
		return false;
	return path.bytes == n || path.data[n] == '/' || f->path[n - 1] == '/';
}

static bool has_path(struct event_filter *f, int64_t file)
{
	uint32_t number = model_file_number(f->run, file);

	if (!number)
		return false;
	if (number >= f->path_count) {
		size_t count = 2 * (size_t)number + 64;
		char *paths = realloc(f->paths, count);

		if (!paths)
			return compare_path(f, number);
		memset(paths + f->path_count, 0, count - f->path_count);
		f->paths = paths;
		f->path_count = count;
	}
	if (!f->paths[number])
		f->paths[number] = compare_path(f, number) ? 'y' : 'n';
	return f->paths[number] == 'y';
}

static int64_t value(const struct store_batch *b, int col, size_t i)
{
	return b->columns[col].ints[i];
}

static bool is_among(const struct event_filter *f, const bool *ids, int64_t id)
{
	return id > 0 && (uint64_t)id < f->name_count && ids[id];
}

static bool is_on_path(struct event_filter *f, const struct store_batch *b, size_t i)
{
	return has_path(f, value(b, f->file, i)) || (f->file2 >= 0 && has_path(f, value(b, f->file2, i)));
}

static bool keep(void *arg, const struct store_batch *b, size_t i)
{
	struct event_filter *f = arg;
	const struct event_wants *w = f->wants;

	return (f->pid < 0 || value(b, f->pid, i) == w->pid) && (f->tid < 0 || value(b, f->tid, i) == w->tid) &&
			(f->errnum < 0 || value(b, f->errnum, i) > 0) &&
			(f->dur < 0 || value(b, f->dur, i) >= w->min_dur_ns) &&
			(f->call < 0 || is_among(f, f->is_call, value(b, f->call, i))) &&
			(f->name < 0 || is_among(f, f->is_name, value(b, f->name, i))) &&
			(f->file < 0 || is_on_path(f, b, i));
}

/* Sets the options of the row reader that implement parts of the filter. */
static void event_filter_apply(struct event_filter *f, struct model_rows_opts *opts)
{
	bool is_any = f->pid >= 0 || f->tid >= 0 || f->call >= 0 || f->name >= 0 || f->file >= 0 || f->errnum >= 0 ||
			f->dur >= 0;

	opts->keep = is_any ? keep : NULL;
	opts->arg = f;
	opts->has_range = f->wants->from_ns || f->wants->to_ns;
	cli_run_range(f->run, f->wants->from_ns, f->wants->to_ns, &opts->from_ns, &opts->to_ns);
}

/* Output. */

typedef void write_fn(struct event_writer *w, const int64_t *row);

/* Skips the first rows, then prints up to limit (0: all). */
static int print(struct event_writer *w, struct model_rows *rows, write_fn *write, uint64_t skip, uint64_t limit,
		struct out *out, struct sonde_err *err)
{
	const void *row;
	int rc = 0;

	for (uint64_t n = 0; !out_is_over(out) && (!limit || n < skip + limit); n++) {
		rc = model_rows_next(rows, &row, err);
		if (rc < 0 || !row)
			break;
		if (n >= skip)
			write(w, row);
	}
	return rc;
}

static int print_table(struct cli_context *ctx, struct event_writer *w, struct event_filter *filter, struct out *out)
{
	const struct options *o = ctx->options;
	struct store_table *t = model_table(w->run, w->table->id);
	struct model_rows_opts opts = { .has_range = false };
	struct model_rows *rows;
	uint64_t skip = 0, count = 0;
	int rc;

	event_filter_apply(filter, &opts);
	rc = o->tail ? model_rows_count(t, &opts, &count, ctx->err) : 0;
	if (o->tail && count > (uint64_t)o->tail)
		skip = count - (uint64_t)o->tail;
	if (rc == 0)
		rc = model_rows_open(&rows, t, &opts, ctx->err);
	if (rc < 0)
		return rc;
	if (!o->is_json)
		event_write_titles(w);
	rc = print(w, rows, o->is_json ? event_write_json : event_write_text, skip, (uint64_t)o->limit, out, ctx->err);
	model_rows_free(rows);
	return rc;
}

static int print_run(struct cli_context *ctx, struct model_run *run, struct out *out)
{
	const struct options *o = ctx->options;
	struct event_writer w;
	struct event_filter filter;
	int rc = model_load(run, MODEL_CALLS | MODEL_FILES, ctx->err);

	if (rc == 0)
		rc = event_filter_init(&filter, ctx, run, &event_tables[o->table], &o->wants);
	if (rc < 0)
		return rc;
	event_writer_init(&w, run, &event_tables[o->table], &out->text);
	rc = print_table(ctx, &w, &filter, out);
	event_filter_release(&filter);
	if (rc == 0 && event_writer_error(&w) < 0)
		rc = err_sys(ctx->err, ENOMEM, "cannot write the events");
	event_writer_release(&w);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(out_release) struct out out = OUT_INIT;
	struct model_run *opened;
	int rc;

	if (o->limit && o->tail)
		return cli_usage(ctx, "--limit and --tail are mutually exclusive");
	rc = cli_open_run(ctx, &opened);
	if (rc < 0)
		return rc;
	out_init(&out);
	rc = print_run(ctx, opened, &out);
	model_run_free(opened);
	return rc < 0 ? rc : out_finish(&out, ctx->err);
}

static const struct cli_example examples[] = {
	{ "sonde events --errors", "Failed calls of the latest run." },
	{ "sonde events --path ./data --min-duration 1ms", "Slow calls on files below ./data." },
	{ "sonde events --table span --name 'epoch*' --json | jq .dur_ns", "The duration of each epoch." },
	{ NULL, NULL },
};

const struct cli_command cmd_events = {
	.name = "events",
	.usage = "[--table TABLE] [--json] [FILTER...] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
