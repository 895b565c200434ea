#include "cli/events.h"

#include "cli/open-run.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_pattern(const char *text)
{
	return text[strcspn(text, "*?[")] != '\0';
}

static bool is_same(const char *wanted, const char *text)
{
	return is_pattern(wanted) ? fnmatch(wanted, text, 0) == 0 : strcmp(wanted, text) == 0;
}

/* The set of string ids that match one of the words; a word may be a pattern. */
static bool *ids_of(const struct event_filter *f, const char *const *words, size_t count)
{
	bool *is_one = calloc(f->name_count + 1, sizeof(*is_one));

	for (size_t id = 1; is_one && id < f->name_count; id++) {
		const char *text = model_cname(f->run, (int64_t)id);

		for (size_t i = 0; text && i < count && !is_one[id]; i++)
			is_one[id] = is_same(words[i], text);
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

int event_filter_init(struct event_filter *f, struct cli_context *ctx, struct model_run *run,
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

void event_filter_release(struct event_filter *f)
{
	free(f->is_call);
	free(f->is_name);
	free(f->paths);
	f->is_call = f->is_name = NULL;
	f->paths = NULL;
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

void event_filter_apply(struct event_filter *f, struct model_rows_opts *opts)
{
	bool is_any = f->pid >= 0 || f->tid >= 0 || f->call >= 0 || f->name >= 0 || f->file >= 0 || f->errnum >= 0 ||
			f->dur >= 0;

	opts->keep = is_any ? keep : NULL;
	opts->arg = f;
	opts->has_range = f->wants->from_ns || f->wants->to_ns;
	cli_run_range(f->run, f->wants->from_ns, f->wants->to_ns, &opts->from_ns, &opts->to_ns);
}
