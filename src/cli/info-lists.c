/* The lists of `sonde info` as text: processes, tables, calls, files. */
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "cli/info.h"

#include <inttypes.h>
#include <string.h>

#define COMMAND_COLUMNS_MAX 60
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void add_table(struct info_page *p, struct term_table *t)
{
	int rc = term_table_write(t, p->out, p->term);

	p->error = p->error ? p->error : rc;
	term_table_release(t);
}

static void add_more(struct info_page *p, size_t shown, size_t count)
{
	if (shown < count)
		buf_addf(p->out, "... and %zu more, --all shows them\n", count - shown);
}

static void cell_int(struct term_table *t, int64_t value)
{
	if (value == STORE_NULL)
		term_table_cell(t, TERM_DIM, "-");
	else
		term_table_cellf(t, "%" PRId64, value);
}

static void cell_time(struct term_table *t, int64_t from_ns, int64_t to_ns)
{
	char text[TERM_TEXT];
	int64_t ns;

	if (from_ns == STORE_NULL || to_ns == STORE_NULL || __builtin_sub_overflow(to_ns, from_ns, &ns))
		term_table_cell(t, TERM_DIM, "-");
	else
		term_table_cell(t, TERM_PLAIN, term_ns(text, ns));
}

/* Processes. */

void info_command(struct buf *out, const struct info *info, const struct store_process *process)
{
	const struct store_text *argv = process->argv;
	const char *exe = model_cname(info->run, process->exe), *at = argv ? argv->data : NULL;

	for (const char *end = argv ? at + argv->bytes : NULL; at < end; at += strlen(at) + 1) {
		buf_adds(out, at > argv->data ? " " : "");
		words_quote(out, at);
	}
	if (!argv)
		buf_adds(out, exe ? exe : "?");
}

/* Truncated, and indented as a process tree. */
static void cell_command(struct term_table *t, const struct info *info, const struct model_tree_row *row)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "%*s", 2 * (int)(row->depth < 20 ? row->depth : 20), "");
	info_command(&text, info, row->process);
	if (!info->is_all && text.len > COMMAND_COLUMNS_MAX) {
		text.len = COMMAND_COLUMNS_MAX - 3;
		buf_adds(&text, "...");
	}
	term_table_cell(t, TERM_PLAIN, text.data);
}

static void cell_end(struct term_table *t, const struct info *info, const struct store_process *process)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *state = model_cname(info->run, process->state);

	info_exit_words(&text, process->exit_code, process->exit_signal);
	term_table_cell(t, TERM_PLAIN, text.len ? text.data : state ? state : "?");
}

static void add_processes(struct info_page *p)
{
	static const struct term_column columns[] = {
		{ "NUMBER", TERM_RIGHT, false },
		{ "PID", TERM_RIGHT, false },
		{ "PARENT", TERM_RIGHT, false },
		{ "START", TERM_RIGHT, false },
		{ "DURATION", TERM_RIGHT, false },
		{ "EVENTS", TERM_RIGHT, false },
		{ "COMMAND", TERM_LEFT, false },
		{ "END", TERM_LEFT, true },
	};
	const struct info *info = p->info;
	size_t shown = info_shown(info, info->process_count, INFO_PROCESSES_SHOWN);
	int64_t start_ns = model_run_start_ns(info->run);
	struct term_table t;

	if (!info->process_count)
		return;
	info_add_heading(p, "Processes");
	term_table_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < shown; i++) {
		const struct store_process *process = info->processes[i].process;

		cell_int(&t, process->process);
		cell_int(&t, process->pid);
		cell_int(&t, process->parent);
		cell_time(&t, start_ns, process->start_ns);
		cell_time(&t, process->start_ns, process->end_ns);
		cell_int(&t, process->events);
		cell_command(&t, info, &info->processes[i]);
		cell_end(&t, info, process);
	}
	add_table(p, &t);
	add_more(p, shown, info->process_count);
}

/* Tables. */

static void add_tables(struct info_page *p)
{
	static const struct term_column columns[] = {
		{ "TABLE", TERM_LEFT, false },
		{ "ROWS", TERM_RIGHT, false },
		{ "BYTES", TERM_RIGHT, false },
		{ "BYTES/ROW", TERM_RIGHT, false },
	};
	size_t count;
	const struct model_table *tables = model_tables(p->info->run, &count);
	struct term_table t;

	info_add_heading(p, "Tables");
	term_table_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		uint64_t rows = tables[i].table ? store_table_rows(tables[i].table) : 0;

		term_table_cell(&t, TERM_PLAIN, tables[i].name);
		term_table_cellf(&t, "%" PRIu64, rows);
		term_table_cellf(&t, "%" PRIu64, tables[i].bytes);
		if (rows)
			term_table_cellf(&t, "%.1f", (double)tables[i].bytes / (double)rows);
		else
			term_table_cell(&t, TERM_DIM, "-");
	}
	add_table(p, &t);
}

/* Calls and files. */

static void add_totals(struct info_page *p, const char *heading, const char *what, const struct model_total *totals,
		size_t count)
{
	const struct term_column columns[] = {
		{ "COUNT", TERM_RIGHT, false },
		{ "ERRORS", TERM_RIGHT, false },
		{ "TIME", TERM_RIGHT, false },
		{ "BYTES", TERM_RIGHT, false },
		{ what, TERM_LEFT, false },
	};
	size_t shown = info_shown(p->info, count, INFO_ROWS_SHOWN);
	char ns[TERM_TEXT], bytes[TERM_TEXT];
	struct term_table t;

	if (!count)
		return;
	info_add_heading(p, heading);
	term_table_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < shown; i++) {
		term_table_cellf(&t, "%" PRIu64, totals[i].calls);
		term_table_cellf(&t, "%" PRIu64, totals[i].errors);
		term_table_cell(&t, TERM_PLAIN, term_ns(ns, totals[i].total_ns));
		term_table_cell(&t, TERM_PLAIN, term_bytes(bytes, totals[i].bytes));
		term_table_cell(&t, TERM_PLAIN, totals[i].name.data);
	}
	add_table(p, &t);
	add_more(p, shown, count);
}

void info_add_lists(struct info_page *p)
{
	const struct model_totals *t = &p->info->totals;

	add_processes(p);
	add_tables(p);
	add_totals(p, "Calls by time", "CALL", t->calls, t->call_count);
	model_sort_by_bytes(t->paths, t->path_count);
	add_totals(p, "Files by bytes", "FILE", t->paths, t->path_count);
	model_sort_by_time(t->paths, t->path_count);
	add_totals(p, "Files by time", "FILE", t->paths, t->path_count);
}
