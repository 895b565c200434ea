/*
 * sonde info: show the contents of a run, and what is missing from it.
 *
 * JSON has the keys of run.json, and values from the tables.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/shell-words.h"
#include "cli/cli.h"
#include "cli/events.h"
#include "cli/open-run.h"
#include "engine/call-sums.h"
#include "model/dimensions.h"
#include "result/result.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND_COLUMNS_MAX 60
#define ROWS_SHOWN 10      /* of calls and files */
#define PROCESSES_SHOWN 20 /* of processes */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct options {
	bool is_json;
	bool is_all;
	bool is_check;
};

static const struct cli_option option_rows[] = {
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print one JSON object." },
	{ 'a', "all", NULL, CLI_FLAG(struct options, is_all),
			.help = "Do not truncate the lists of processes, calls and files." },
	{ 0, "check", NULL, CLI_FLAG(struct options, is_check),
			.help = "Verify all data; exit status 1 if any is damaged." },
	CLI_OPTIONS_END,
};

struct info {
	struct model_run *run;
	const struct options *options;
	struct model_tree_row *processes;
	size_t process_count;
	struct call_sums totals;
	struct analyze_result result;
};

static size_t shown(const struct info *info, size_t count, size_t usual)
{
	return info->options->is_all || count < usual ? count : usual;
}

/* The run. */

/* Appends the arguments quoted for a shell, or the program's path. */
static void add_command(struct buf *out, const struct info *info, const struct store_process *process)
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

/* "exit 0", "SIGKILL"; nothing if neither is known. */
static void add_exit(struct buf *out, int64_t code, int64_t signal)
{
	const char *name = signal > 0 && signal < 128 ? sigabbrev_np((int)signal) : NULL;

	if (code != STORE_NULL)
		buf_addf(out, "exit %" PRId64, code);
	else if (name)
		buf_addf(out, "SIG%s", name);
	else if (signal != STORE_NULL)
		buf_addf(out, "signal %" PRId64, signal);
}

static void add_program(struct info *info, struct analyze_section *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const json_t *argv = json_object_get(model_run_json(info->run), "argv");

	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		buf_adds(&text, i ? " " : "");
		words_quote(&text, word ? word : "?");
	}
	/* A run of attached processes or of an import has no command line of its own. */
	if (!text.len && info->process_count)
		add_command(&text, info, info->processes[0].process);
	analyze_text(s, NULL, "program", text.len ? text.data : "unknown");
	analyze_text(s, NULL, "in", model_run_str(info->run, "cwd"));
}

static void add_time(const struct info *info, struct analyze_section *s)
{
	int64_t real_ns = model_run_int(info->run, "clock.start_real_ns");
	time_t seconds = (time_t)(real_ns / 1000000000);
	char text[64];
	struct tm tm;
	bool is_known = real_ns != STORE_NULL && localtime_r(&seconds, &tm) &&
			strftime(text, sizeof(text), "%F %T %Z", &tm);

	analyze_text(s, NULL, "when", is_known ? text : "unknown");
}

static void add_host(const struct info *info, struct analyze_section *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct model_run *run = info->run;
	int64_t cpus = model_run_int(run, "host.cpus"), memory = model_run_int(run, "host.memory_bytes");
	const char *name = model_run_str(run, "host.name"), *kernel = model_run_str(run, "host.kernel");
	const char *machine = model_run_str(run, "host.machine");
	char bytes[TERM_TEXT];

	buf_adds(&text, name ? name : "unknown");
	if (kernel)
		buf_addf(&text, ", Linux %s", kernel);
	if (machine)
		buf_addf(&text, ", %s", machine);
	if (cpus > 0)
		buf_addf(&text, ", %" PRId64 " CPU%s", cpus, cpus == 1 ? "" : "s");
	if (memory > 0)
		buf_addf(&text, ", %s", term_bytes(bytes, (uint64_t)memory));
	analyze_text(s, NULL, "host", text.data);
}

static void add_end(const struct info *info, struct analyze_section *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct model_run *run = info->run;
	int64_t code = model_run_int(run, "exit.code"), signal = model_run_int(run, "exit.signal");
	int64_t kills = model_run_int(run, "exit.oom_kills"), limit = model_run_int(run, "exit.memory_max_bytes");
	int64_t wall_ns = model_run_int(run, "wall_ns");
	char number[TERM_TEXT];

	if (signal != STORE_NULL)
		buf_adds(&text, "killed by ");
	add_exit(&text, code, signal);
	/* The OOM killer sent the SIGKILL, or killed other processes of the program. */
	if (kills != STORE_NULL && signal == SIGKILL)
		buf_adds(&text, " (out-of-memory killer)");
	else if (kills != STORE_NULL)
		buf_addf(&text, ", %" PRId64 " of its processes killed by the out-of-memory killer", kills);
	if (kills != STORE_NULL && limit != STORE_NULL)
		buf_addf(&text, " (limit %s)", term_bytes(number, (uint64_t)limit));
	if (!text.len)
		buf_adds(&text, model_run_is_unfinished(run) ? "still running, or the recorder was killed" : "unknown");
	if (wall_ns != STORE_NULL)
		buf_addf(&text, ", after %s", term_ns(number, wall_ns));
	analyze_text(s, NULL, "ended", text.data);
}

static void add_clock(const struct info *info, struct analyze_section *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *id = model_run_str(info->run, "clock.id"), *source = model_run_str(info->run, "clock.source");
	double error_ns = model_run_real(info->run, "clock.error_ns");

	buf_adds(&text, id ? id : "unknown");
	if (source)
		buf_addf(&text, ", source %s", source);
	if (!isnan(error_ns))
		buf_addf(&text, ", within %.3g ns", error_ns);
	analyze_text(s, NULL, "clock", text.data);
}

/* The result of a probe: its state, the reason, and its counters; a zero is printed for events only. */
static void add_probe(struct analyze_section *s, json_t *probe)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *name = json_string_value(json_object_get(probe, "name"));
	const char *state = json_string_value(json_object_get(probe, "state"));
	const char *reason = json_string_value(json_object_get(probe, "reason"));

	buf_addf(&text, "%s %s", name ? name : "?", state ? state : "?");
	if (reason)
		buf_addf(&text, ": %s", reason);
	for (void *at = json_object_iter(probe); at; at = json_object_iter_next(probe, at)) {
		const char *key = json_object_iter_key(at);
		const json_t *value = json_object_iter_value(at);

		if (json_integer_value(value) || (json_is_integer(value) && strcmp(key, "events") == 0))
			buf_addf(&text, ", %s %" JSON_INTEGER_FORMAT, key, json_integer_value(value));
	}
	for (char *c = text.data; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	analyze_text(s, NULL, "probe", text.data);
}

static int add_run(struct info *info)
{
	struct analyze_section *s = analyze_section(&info->result, "run", NULL);
	json_t *all = model_run_json(info->run), *probes = json_object_get(all, "probes");

	if (!s)
		return -ENOMEM;
	s->is_top = s->is_lines = true;
	for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at)) {
		CLEANUP(cleanup_free)
		char *text = json_dumps(json_object_iter_value(at),
				JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

		if (!text)
			return -ENOMEM;
		if (strcmp(json_object_iter_key(at), "tables") != 0) /* below, from the tables themselves */
			analyze_json(s, json_object_iter_key(at), text, strlen(text));
	}
	analyze_text(s, "path", "run", model_run_path(info->run));
	add_program(info, s);
	add_time(info, s);
	add_host(info, s);
	add_end(info, s);
	add_clock(info, s);
	for (size_t i = 0; i < json_array_size(probes); i++)
		add_probe(s, json_array_get(probes, i));
	return 0;
}

/* Processes: a tree as text; in JSON as `sonde events --table process --json` prints them. */

static int write_processes(struct json *j, const struct info *info)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct event_writer w;
	int rc;

	event_writer_init(&w, info->run, event_table_find(STORE_TABLE_PROCESS), &line);
	json_array(j);
	for (size_t i = 0; i < info->process_count; i++) {
		buf_reset(&line);
		event_write_json(&w, (const int64_t *)info->processes[i].process);
		json_raw(j, line.data, line.len - 1);
	}
	json_end(j);
	rc = event_writer_error(&w);
	event_writer_release(&w);
	return rc;
}

static int64_t between(int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	return from_ns == STORE_NULL || to_ns == STORE_NULL || __builtin_sub_overflow(to_ns, from_ns, &ns) ? STORE_NULL
													   : ns;
}

static void add_process(struct analyze_table *t, const struct info *info, const struct model_tree_row *row)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT, end = BUF_INIT;
	const struct store_process *process = row->process;
	const char *state = model_cname(info->run, process->state);

	buf_addf(&command, "%*s", 2 * (int)(row->depth < 20 ? row->depth : 20), "");
	add_command(&command, info, process);
	if (!info->options->is_all && command.len > COMMAND_COLUMNS_MAX) {
		command.len = COMMAND_COLUMNS_MAX - 3;
		buf_adds(&command, "...");
	}
	add_exit(&end, process->exit_code, process->exit_signal);
	analyze_cell_int(t, process->process);
	analyze_cell_int(t, process->pid);
	analyze_cell_int(t, process->parent);
	analyze_cell_int(t, between(model_run_start_ns(info->run), process->start_ns));
	analyze_cell_int(t, between(process->start_ns, process->end_ns));
	analyze_cell_int(t, process->events);
	analyze_cell_text(t, command.data);
	analyze_cell_text(t, end.len ? end.data : state ? state : "?");
}

static int add_processes(struct info *info)
{
	static const struct analyze_column columns[] = { { NULL, "NUMBER", ANALYZE_ID }, { NULL, "PID", ANALYZE_ID },
		{ NULL, "PARENT", ANALYZE_ID }, { NULL, "START", ANALYZE_NS }, { NULL, "DURATION", ANALYZE_NS },
		{ NULL, "EVENTS", ANALYZE_ID }, { NULL, "COMMAND", ANALYZE_TEXT },
		{ NULL, "END", ANALYZE_TEXT, ANALYZE_WRAP } };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct analyze_section *s = analyze_section(&info->result, "processes", "Processes");
	struct analyze_table *t = analyze_table(s, NULL, "Processes", columns, COUNT(columns), 0);
	struct json j;
	int rc;

	if (!t)
		return -ENOMEM;
	s->is_top = true;
	json_init(&j, &text, false);
	rc = write_processes(&j, info);
	analyze_json(s, "processes", text.data, text.len);
	for (size_t i = 0; i < shown(info, info->process_count, PROCESSES_SHOWN); i++)
		add_process(t, info, &info->processes[i]);
	t->all_rows = info->process_count;
	return rc < 0 ? rc : buf_error(&text);
}

/* Tables: in JSON an object with their names as keys. */

static void write_table(struct json *j, const struct model_table *t)
{
	struct store_loss loss = { .text = "" };

	json_key(j, t->name);
	json_object(j);
	json_kuint(j, "rows", t->table ? store_table_rows(t->table) : 0);
	json_kuint(j, "bytes", t->bytes);
	json_kuint(j, "blocks", t->table ? store_table_blocks(t->table) : 0);
	if (t->table)
		store_table_loss(t->table, &loss);
	json_key(j, "loss");
	if (loss.text[0] || t->trouble[0]) {
		json_object(j);
		json_kuint(j, "rows", loss.rows);
		json_kuint(j, "blocks", loss.blocks);
		json_kuint(j, "bytes", t->table ? loss.bytes : t->bytes);
		json_kbool(j, "is_open", loss.is_open);
		json_kstr(j, "text", t->trouble[0] ? t->trouble : loss.text);
		json_end(j);
	} else {
		json_null(j);
	}
	json_end(j);
}

static int add_tables(struct info *info)
{
	static const struct analyze_column columns[] = { { NULL, "TABLE", ANALYZE_TEXT }, { NULL, "ROWS", ANALYZE_ID },
		{ NULL, "BYTES", ANALYZE_ID }, { NULL, "BYTES/ROW", ANALYZE_REAL } };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct analyze_section *s = analyze_section(&info->result, "tables", "Tables");
	struct analyze_table *t = analyze_table(s, NULL, "Tables", columns, COUNT(columns), 0);
	size_t count;
	const struct model_table *tables = model_tables(info->run, &count);
	struct json j;

	if (!t)
		return -ENOMEM;
	s->is_top = true;
	json_init(&j, &text, false);
	json_object(&j);
	for (size_t i = 0; i < count; i++) {
		uint64_t rows = tables[i].table ? store_table_rows(tables[i].table) : 0;

		write_table(&j, &tables[i]);
		analyze_cell_text(t, tables[i].name);
		analyze_cell_int(t, (int64_t)rows);
		analyze_cell_int(t, (int64_t)tables[i].bytes);
		analyze_cell_real(t, rows ? (double)tables[i].bytes / (double)rows : NAN);
	}
	json_end(&j);
	analyze_json(s, "tables", text.data, text.len);
	return buf_error(&text);
}

/* Calls and files. */

static void add_totals(struct info *info, struct analyze_section *s, const char *key,
		const struct analyze_column *columns, const struct call_sum *totals, size_t count, size_t rows)
{
	struct analyze_table *t = analyze_table(s, key, "", columns, 5, 0);

	for (size_t i = 0; i < rows; i++) {
		analyze_cell_bytes(t, &totals[i].name);
		analyze_cell_int(t, (int64_t)totals[i].calls);
		analyze_cell_int(t, (int64_t)totals[i].errors);
		analyze_cell_int(t, totals[i].total_ns);
		analyze_cell_int(t, (int64_t)totals[i].bytes);
	}
	if (t)
		t->all_rows = count;
	if (s)
		s->is_top = true;
}

static void add_calls_and_files(struct info *info)
{
#define TOTAL_COLUMNS(key, title) \
	{ \
		{ key, title, ANALYZE_TEXT, ANALYZE_LAST }, { "count", "COUNT", ANALYZE_ID }, \
				{ "errors", "ERRORS", ANALYZE_ID }, { "total_ns", "TIME", ANALYZE_NS }, \
		{ \
			"bytes", "BYTES", ANALYZE_BYTES \
		} \
	}
	static const struct analyze_column calls[] = TOTAL_COLUMNS("call", "CALL");
	static const struct analyze_column files[] = TOTAL_COLUMNS("path", "FILE");
	const struct call_sums *t = &info->totals;
	struct analyze_result *r = &info->result;
	size_t rows = shown(info, t->path_count, ROWS_SHOWN);
	struct analyze_section *s = analyze_section(r, "calls", "Calls by time");

	/* A script gets all calls, but no more files than a reader: there may be millions. */
	add_totals(info, s, "calls", calls, t->calls, t->call_count,
			info->options->is_json ? t->call_count : shown(info, t->call_count, ROWS_SHOWN));
	s = analyze_section(r, "files_by_bytes", "Files by bytes");
	analyze_int(s, "file_count", NULL, ANALYZE_COUNT, (int64_t)t->path_count);
	call_sums_by_bytes(t->paths, t->path_count);
	if (t->has_too_many_paths)
		analyze_note(s, "too many different files");
	add_totals(info, s, "files_by_bytes", files, t->paths, t->path_count, rows);
	call_sums_by_time(t->paths, t->path_count);
	s = analyze_section(r, "files_by_time", "Files by time");
	add_totals(info, s, "files_by_time", files, t->paths, t->path_count, rows);
}

/* Losses. */

struct losses {
	struct analyze_table *table;
	struct json *json;
};

static void add_loss(void *arg, const char *sentence)
{
	struct losses *losses = arg;

	analyze_cell_text(losses->table, sentence);
	json_str(losses->json, sentence);
}

static int add_losses(struct info *info, struct sonde_err *err)
{
	static const struct analyze_column column = { NULL, "", ANALYZE_TEXT };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct analyze_section *s = analyze_section(&info->result, "loss", "Missing");
	struct json j;
	struct losses losses = { analyze_table(s, NULL, "", &column, 1, 0), &j };
	int rc;

	if (!losses.table)
		return -ENOMEM;
	s->is_top = true;
	json_init(&j, &text, false);
	json_array(&j);
	rc = model_losses(info->run, add_loss, &losses, err);
	json_end(&j);
	analyze_json(s, "loss", text.data, text.len);
	if (!losses.table->rows)
		analyze_note(s, "nothing known");
	return rc < 0 ? rc : buf_error(&text);
}

/* Losses last: reading detects damage. */
static int read_run(struct info *info, struct sonde_err *err)
{
	static const struct engine_run_opts every_row;
	int rc = info->options->is_check ? model_run_check(info->run, err) : 0;

	if (rc == 0)
		rc = model_load(info->run, MODEL_ALL, err);
	if (rc == 0)
		rc = model_tree(info->run, &info->processes, &info->process_count, err);
	if (rc == 0)
		rc = call_sums_read(&info->totals, info->run, &every_row, err);
	if (rc < 0)
		return rc;
	rc = add_run(info);
	if (rc == 0)
		rc = add_processes(info);
	if (rc == 0)
		rc = add_tables(info);
	add_calls_and_files(info);
	if (rc == -ENOMEM)
		return err_sys(err, ENOMEM, "cannot read the run");
	return add_losses(info, err);
}

static int print(struct cli_context *ctx, const struct info *info)
{
	CLEANUP(out_release) struct out out = OUT_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(jsonline_release) struct jsonline line = JSONLINE_INIT;
	struct term term = term_of(stdout);
	const struct result_page page = { .out = &out.text, .term = &term, .wall_ns = STORE_NULL, .all = "--all" };
	int rc;

	out_init(&out);
	if (info->options->is_json) {
		rc = result_write_json(&info->result, &text);
		jsonline_json(&line, text.data, text.len); /* names in a run may be no UTF-8 */
		buf_add(&out.text, line.data, line.len);
	} else {
		rc = result_write_text(&info->result, &page);
	}
	if (rc < 0 || line.is_failed)
		return err_sys(ctx->err, ENOMEM, "cannot print the run");
	return out_finish(&out, ctx->err);
}

static int run(struct cli_context *ctx)
{
	struct info info = { .options = ctx->options };
	int rc = cli_open_run(ctx, &info.run);

	if (rc < 0)
		return rc;
	rc = read_run(&info, ctx->err);
	if (rc == 0)
		rc = print(ctx, &info);
	if (rc == 0 && info.options->is_check && model_run_is_damaged(info.run))
		ctx->exit_code = CLI_EXIT_FAILED;
	free(info.processes);
	call_sums_release(&info.totals);
	analyze_result_release(&info.result);
	model_run_free(info.run);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde info", "Show the contents of the latest run." },
	{ "sonde info --check sonde-runs/20260131-120000-train", "Verify a run." },
	{ "sonde info --json | jq '.tables.io.rows'", "Print the number of recorded calls." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "The run is readable." },
	{ "1", "The run is not readable, or with --check, damaged." },
	{ "2", "Usage error." },
	{ NULL, NULL },
};

const struct cli_command cmd_info = {
	.name = "info",
	.usage = "[--json] [--all] [--check] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
