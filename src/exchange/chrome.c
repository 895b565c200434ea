/*
 * chrome: the Trace Event format, for Perfetto and chrome://tracing.
 *
 *   call, span         X, a slice with a duration, nested on its thread
 *   span that crosses  b and e, an asynchronous pair with its own track
 *   call without end   i, an instant: a successful exec, _exit
 *   mark               i
 *   counter            C
 *   step               i, and C if it has a value
 *   process, thread    M: names, command line, order
 *
 * Times are microseconds since the start of the run, with three decimals; the start is in otherData. All exec
 * incarnations of a process share its pid, and it has the name of the last.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "exchange/chrome-read.h"
#include "exchange/exchange.h"
#include "exchange/jsonline.h"
#include "exchange/nest.h"
#include "model/dimensions.h"
#include "model/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Writes the events of a Chrome trace one by one.
 *
 * chrome_start opens an event, the others add to it, chrome_end closes it.
 */

struct chrome_line {
	FILE *out;
	struct jsonline line;
	int error; /* the first error, -errno */
	/* private */
	bool has_events;
	bool has_args;
};

static void write_line(struct chrome_line *c)
{
	if (!c->error && c->line.is_failed)
		c->error = -ENOMEM;
	errno = 0;
	if (!c->error && fwrite(c->line.data, 1, c->line.len, c->out) != c->line.len)
		c->error = errno ? -errno : -EIO;
	c->line.len = 0;
}

/* Writes text that is not an event. */
static void chrome_raw(struct chrome_line *c, const char *text)
{
	jsonline_add(&c->line, text, strlen(text));
	write_line(c);
}

static void chrome_int(struct chrome_line *c, const char *key, int64_t value)
{
	jsonline_add(&c->line, key, strlen(key));
	jsonline_int(&c->line, value);
}

/* Keys are written verbatim, with comma, quotes and colon: `,"ts":`. */
static void chrome_time(struct chrome_line *c, const char *key, int64_t ns)
{
	jsonline_add(&c->line, key, strlen(key));
	jsonline_us(&c->line, ns);
}

/* name NULL: "?"; category NULL: none; null ids: 0. */
static void chrome_start(struct chrome_line *c, const char *phase, int64_t pid, int64_t tid,
		const struct store_text *name, const struct store_text *category)
{
	static const struct store_text nameless = { .data = "?", .bytes = 1 };

	jsonline_add(&c->line, ",\n", c->has_events ? 2 : 0);
	c->has_events = true;
	c->has_args = false;
	JSONLINE_ADD(&c->line, "{\"ph\":\"");
	jsonline_add(&c->line, phase, 1);
	chrome_int(c, "\",\"pid\":", pid == STORE_NULL ? 0 : pid);
	chrome_int(c, ",\"tid\":", tid == STORE_NULL ? 0 : tid);
	JSONLINE_ADD(&c->line, ",\"name\":");
	jsonline_text(&c->line, name ? name : &nameless);
	if (category) {
		JSONLINE_ADD(&c->line, ",\"cat\":");
		jsonline_text(&c->line, category);
	}
}

static const char *before_arg(const struct chrome_line *c)
{
	return c->has_args ? "," : ",\"args\":{";
}

static void arg_name(struct chrome_line *c, const char *name)
{
	const char *before = before_arg(c);

	jsonline_add(&c->line, before, strlen(before));
	c->has_args = true;
	jsonline_str(&c->line, name);
	JSONLINE_ADD(&c->line, ":");
}

/* Arguments; nulls are omitted. */
static void chrome_arg_int(struct chrome_line *c, const char *name, int64_t value)
{
	if (value == STORE_NULL)
		return;
	arg_name(c, name);
	jsonline_int(&c->line, value);
}

static void chrome_arg_real(struct chrome_line *c, const char *name, double value)
{
	if (!isfinite(value))
		return;
	arg_name(c, name);
	jsonline_real(&c->line, value);
}

static void chrome_arg_text(struct chrome_line *c, const char *name, const struct store_text *text)
{
	if (!text || !text->data)
		return;
	arg_name(c, name);
	jsonline_text(&c->line, text);
}

static void chrome_arg_str(struct chrome_line *c, const char *name, const char *text)
{
	struct store_text whole = { .data = text, .bytes = text ? strlen(text) : 0 };

	chrome_arg_text(c, name, &whole);
}

/* Writes all members of a JSON object. */
static void chrome_args(struct chrome_line *c, const struct store_text *object)
{
	c->has_args |= jsonline_members(&c->line, object, before_arg(c));
}

static void chrome_end(struct chrome_line *c)
{
	if (c->has_args)
		JSONLINE_ADD(&c->line, "}}");
	else
		JSONLINE_ADD(&c->line, "}");
	write_line(c);
}

#define MACHINE_PID 0 /* not the pid of a process */

struct chrome {
	struct model_run *run;
	int64_t start_ns;
	struct chrome_line l;
	struct nest nest;
	int64_t async_count;
};

/* Common to events of one kind. */
struct event {
	int64_t ts_ns, dur_ns, pid, tid;
	const struct store_text *name, *category;
	void (*args)(struct chrome *c, const int64_t *row);
	const int64_t *row;
};

static int64_t since_start(const struct chrome *c, int64_t ts_ns)
{
	int64_t ns;

	return ts_ns == STORE_NULL || __builtin_sub_overflow(ts_ns, c->start_ns, &ns) ? 0 : ns;
}

static void start(struct chrome *c, const char *phase, const struct event *e)
{
	chrome_start(&c->l, phase, e->pid, e->tid, e->name, e->category);
	chrome_time(&c->l, ",\"ts\":", since_start(c, e->ts_ns));
}

static void write_instant(struct chrome *c, const struct event *e)
{
	start(c, "i", e);
	JSONLINE_ADD(&c->l.line, ",\"s\":\"t\"");
	if (e->args)
		e->args(c, e->row);
	chrome_end(&c->l);
}

/* Asynchronous events are identified by category and id. */
static void write_pair(struct chrome *c, const struct event *e)
{
	static const struct store_text crossing = { .data = "crossing", .bytes = 8 };
	struct event end = *e;

	end.category = e->category ? e->category : &crossing;
	start(c, "b", &end);
	chrome_int(&c->l, ",\"id\":", ++c->async_count);
	e->args(c, e->row);
	chrome_end(&c->l);
	if (__builtin_add_overflow(e->ts_ns, e->dur_ns, &end.ts_ns))
		end.ts_ns = INT64_MAX;
	start(c, "e", &end);
	chrome_int(&c->l, ",\"id\":", c->async_count);
	chrome_end(&c->l);
}

static void write_box(struct chrome *c, const struct event *e)
{
	int64_t dur_ns = e->dur_ns > 0 ? e->dur_ns : 0;
	int fit = nest_add(&c->nest, e->pid, e->tid, e->ts_ns, &dur_ns);

	if (fit < 0) {
		c->l.error = fit;
		return;
	}
	if (fit == NEST_CROSSES) {
		write_pair(c, e);
		return;
	}
	start(c, "X", e);
	chrome_time(&c->l, ",\"dur\":", dur_ns);
	e->args(c, e->row);
	if (fit == NEST_CUT)
		chrome_arg_int(&c->l, "dur_ns", e->dur_ns);
	chrome_end(&c->l);
}

static void write_counter(struct chrome *c, const struct event *e, double value)
{
	start(c, "C", e);
	chrome_arg_real(&c->l, "value", value);
	chrome_end(&c->l);
}

/* Rows of each table. */

static void io_args(struct chrome *c, const int64_t *row)
{
	const struct model_call *call = model_call(c->run, row[STORE_IO_call]);
	struct store_text path = model_file_path(c->run, row[STORE_IO_file]);
	struct store_text path2 = model_file_path(c->run, row[STORE_IO_file2]);
	int64_t errnum = row[STORE_IO_errnum];

	chrome_arg_text(&c->l, "path", &path);
	chrome_arg_text(&c->l, "path2", &path2);
	chrome_arg_int(&c->l, "fd", row[STORE_IO_fd]);
	chrome_arg_int(&c->l, "size", row[STORE_IO_size]);
	chrome_arg_int(&c->l, "offset", row[STORE_IO_offset]);
	chrome_arg_int(&c->l, "ret", row[STORE_IO_ret]);
	if (errnum > 0 && errnum <= INT32_MAX)
		chrome_arg_str(&c->l, "error", strerrorname_np((int)errnum));
	for (int i = 0; i < MODEL_ARGS_MAX; i++)
		chrome_arg_int(&c->l, model_arg_name(call, i, 0), row[STORE_IO_arg0 + i]);
	chrome_arg_text(&c->l, "text", timeline_text(row, STORE_IO_text));
	chrome_args(&c->l, timeline_text(row, STORE_IO_args));
}

static void write_io(struct chrome *c, const int64_t *row)
{
	const struct model_call *call = model_call(c->run, row[STORE_IO_call]);
	struct event e = { row[STORE_IO_ts_ns], row[STORE_IO_dur_ns], row[STORE_IO_pid], row[STORE_IO_tid],
		model_name(c->run, row[STORE_IO_call]), call ? call->category : NULL, io_args, row };

	if (e.dur_ns == STORE_NULL)
		write_instant(c, &e);
	else
		write_box(c, &e);
}

static void span_args(struct chrome *c, const int64_t *row)
{
	chrome_args(&c->l, timeline_text(row, STORE_SPAN_args));
	if (row[STORE_SPAN_is_open] == 1)
		chrome_arg_int(&c->l, "is_open", 1);
}

static void write_span(struct chrome *c, const int64_t *row)
{
	struct event e = { row[STORE_SPAN_ts_ns], row[STORE_SPAN_dur_ns], row[STORE_SPAN_pid], row[STORE_SPAN_tid],
		model_name(c->run, row[STORE_SPAN_name]), model_name(c->run, row[STORE_SPAN_category]), span_args,
		row };

	write_box(c, &e);
}

static void mark_args(struct chrome *c, const int64_t *row)
{
	chrome_args(&c->l, timeline_text(row, STORE_MARK_args));
}

static void write_mark(struct chrome *c, const int64_t *row)
{
	struct event e = { row[STORE_MARK_ts_ns], 0, row[STORE_MARK_pid], row[STORE_MARK_tid],
		model_name(c->run, row[STORE_MARK_name]), model_name(c->run, row[STORE_MARK_category]), mark_args,
		row };

	write_instant(c, &e);
}

/* Counters read by a probe have no thread, and the machine's have no process: they get MACHINE_PID. */
static void write_value(struct chrome *c, const int64_t *row)
{
	int64_t pid = row[STORE_COUNTER_pid] == STORE_NULL ? MACHINE_PID : row[STORE_COUNTER_pid];
	int64_t tid = row[STORE_COUNTER_tid] == STORE_NULL ? pid : row[STORE_COUNTER_tid];
	struct event e = { row[STORE_COUNTER_ts_ns], 0, pid, tid, model_name(c->run, row[STORE_COUNTER_name]), NULL,
		NULL, row };
	double value = timeline_real(row, STORE_COUNTER_value);

	if (isfinite(value))
		write_counter(c, &e, value);
	else
		write_instant(c, &e);
}

static void step_args(struct chrome *c, const int64_t *row)
{
	chrome_arg_int(&c->l, "index", row[STORE_STEP_index]);
	chrome_arg_real(&c->l, "value", timeline_real(row, STORE_STEP_value));
}

static void write_step(struct chrome *c, const int64_t *row)
{
	static const struct store_text category = { .data = "step", .bytes = 4 };
	struct event e = { row[STORE_STEP_ts_ns], 0, row[STORE_STEP_pid], row[STORE_STEP_tid],
		model_name(c->run, row[STORE_STEP_name]), &category, step_args, row };
	double value = timeline_real(row, STORE_STEP_value);

	write_instant(c, &e);
	if (isfinite(value))
		write_counter(c, &e, value);
}

static void (*const writers[STORE_TABLE_COUNT])(struct chrome *c, const int64_t *row) = {
	[STORE_TABLE_IO] = write_io,
	[STORE_TABLE_SPAN] = write_span,
	[STORE_TABLE_MARK] = write_mark,
	[STORE_TABLE_COUNTER] = write_value,
	[STORE_TABLE_STEP] = write_step,
};

static int write_events(struct chrome *c, const struct exchange_options *options, struct sonde_err *err)
{
	struct timeline t;
	enum store_table_id table;
	const int64_t *row;
	int rc = timeline_open(&t, c->run, &options->range, err);

	if (rc < 0)
		return rc;
	while ((rc = timeline_next(&t, &table, &row, err)) == 0 && row && !c->l.error)
		writers[table](c, row);
	timeline_release(&t);
	return rc;
}

/* Names. */

static void write_name(struct chrome *c, const char *what, int64_t pid, int64_t tid, const char *key, const char *text)
{
	struct store_text name = { .data = what, .bytes = strlen(what) };

	if (!text)
		return;
	chrome_start(&c->l, "M", pid, tid, &name, NULL);
	chrome_arg_str(&c->l, key, text);
	chrome_end(&c->l);
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

/* Arguments separated by blanks. */
static void write_command(struct chrome *c, const struct store_process *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!p->argv)
		return;
	buf_add(&text, p->argv->data, p->argv->bytes);
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i])
			text.data[i] = i + 1 < text.len ? ' ' : '\0';
	write_name(c, "process_labels", p->pid, p->pid, "labels", text.data);
}

static void write_names(struct chrome *c)
{
	size_t count;
	const struct store_process *processes = model_processes(c->run, &count);

	for (size_t i = 0; i < count; i++) {
		const char *exe = model_cname(c->run, processes[i].exe);

		write_name(c, "process_name", processes[i].pid, processes[i].pid, "name", last_part(exe));
		write_command(c, &processes[i]);
		const struct store_process *p = &processes[i];
		static const struct store_text name = { .data = "process_sort_index", .bytes = 18 };
		chrome_start(&c->l, "M", p->pid, p->pid, &name, NULL);
		chrome_arg_int(&c->l, "sort_index", p->process);
		chrome_end(&c->l);
	}
	const struct store_thread *threads = model_threads(c->run, &count);
	for (size_t i = 0; i < count; i++)
		write_name(c, "thread_name", threads[i].pid, threads[i].tid, "name",
				model_cname(c->run, threads[i].name));
}

static int write_run(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct chrome c = { .run = run, .l = { .out = out, .line = JSONLINE_INIT }, .nest = NEST_INIT };
	int rc = model_load(run, MODEL_ALL, err);

	c.start_ns = model_run_start_ns(run);
	if (rc == 0) {
		const char *name = model_run_str(c.run, "name");
		JSONLINE_ADD(&c.l.line, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"sonde\",\"run\":");
		jsonline_str(&c.l.line, name);
		chrome_int(&c.l, ",\"start_mono_ns\":", c.start_ns);
		chrome_int(&c.l, ",\"start_real_ns\":", model_run_int(c.run, "clock.start_real_ns"));
		chrome_raw(&c.l, "},\"traceEvents\":[\n");
		/* Names of processes that only probes have seen. */
		struct store_table *t = model_table(c.run, STORE_TABLE_TASK);
		struct store_batch batch = STORE_BATCH_INIT;
		struct store_task row;
		for (size_t b = 0; t && b < store_table_blocks(t); b++) {
			if (store_block_load(t, b, NULL, 0, &batch, NULL))
				continue; /* reported by model_losses */
			for (size_t i = 0; i < batch.rows; i++) {
				store_get_task(&batch, i, &row);
				if (row.pid == row.tid && row.process == STORE_NULL)
					write_name(&c, "process_name", row.pid, row.pid, "name",
							model_cname(c.run, row.name));
			}
		}
		store_batch_release(&batch);
		if (model_table(c.run, STORE_TABLE_SERIES))
			write_name(&c, "process_name", MACHINE_PID, MACHINE_PID, "name", "machine");
		write_names(&c);
		rc = write_events(&c, options, err);
		chrome_raw(&c.l, "\n]}\n");
	}
	if (rc == 0 && c.l.error)
		rc = err_sys(err, -c.l.error, "cannot write the trace");
	nest_release(&c.nest);
	jsonline_release(&c.l.line);
	return rc;
}

const struct exchange_format exchange_chrome = {
	.name = "chrome",
	.extension = ".json",
	.what = "Chrome Trace Event format, for Perfetto (https://ui.perfetto.dev) and others.",
	.write = write_run,
	.is_mine = chrome_is_mine,
	.read = chrome_read,
};
