/*
 * perfetto: Perfetto's native trace format, Protocol Buffers (https://perfetto.dev/docs/reference/trace-packet-proto).
 *
 *   call, span         a slice on its thread: one packet each for begin and end
 *   span that crosses  a slice on an additional lane of its thread
 *   command of a GPU   a slice on a track of its queue, with a flow from its thread
 *   sample             a perf sample with its stack (perfetto-samples.c)
 *   call without end   an instant
 *   mark, step         an instant
 *   counter            a value on a counter track of its process; also the value of a step
 *
 * Times are the run's nanoseconds; a clock snapshot maps them to wall-clock time. The end of a slice directly follows
 * its begin, out of time order: readers sort by time, and events of the same time keep their order.
 */
#include "base/jsonscan.h"
#include "exchange/exchange.h"
#include "exchange/perfetto-tracks.h"
#include "exchange/proto.h"
#include "model/dimensions.h"
#include "model/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Fields of Perfetto's messages, by the names in its protos/. */
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_EVENT = 11,
	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	EVENT_CATEGORY = 3,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_DOUBLE = 44,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	ARGUMENT_NAME = 1,
	ARGUMENT_INT = 4,
	ARGUMENT_DOUBLE = 5,
	ARGUMENT_STRING = 6,
	ARGUMENT_JSON = 9
};

enum event_type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

/* Arguments of the event in p->event. */

static void start_arg(struct perfetto *p, const char *name)
{
	buf_reset(&p->inner);
	proto_uint(&p->inner, ARGUMENT_NAME, perfetto_name(p, PERFETTO_ARGUMENT, name, strlen(name)));
}

static void end_arg(struct perfetto *p)
{
	proto_message(&p->event, EVENT_ARGUMENT, &p->inner);
}

static void arg_int(struct perfetto *p, const char *name, int64_t v)
{
	if (v == STORE_NULL || !name)
		return;
	start_arg(p, name);
	proto_int(&p->inner, ARGUMENT_INT, v);
	end_arg(p);
}

static void arg_text(struct perfetto *p, const char *name, const struct store_text *text)
{
	if (!text || !text->data)
		return;
	start_arg(p, name);
	proto_text(&p->inner, ARGUMENT_STRING, text->data, text->bytes);
	end_arg(p);
}

/* A text that should be a JSON object. */
static void arg_object(struct perfetto *p, const struct store_text *text)
{
	if (!text)
		return;
	start_arg(p, "args");
	proto_text(&p->inner, jsonscan_is_object(text->data, text->bytes) ? ARGUMENT_JSON : ARGUMENT_STRING, text->data,
			text->bytes);
	end_arg(p);
}

/* Events: the message is built in p->event, from start_event to end_event. */

static void start_event(struct perfetto *p, enum event_type type, uint64_t track)
{
	buf_reset(&p->event);
	proto_uint(&p->event, EVENT_TYPE, type);
	proto_uint(&p->event, EVENT_TRACK, track);
}

static void name_event(struct perfetto *p, const struct store_text *name, const struct store_text *category)
{
	static const struct store_text unknown = { .data = "?", .bytes = 1 };

	name = name ? name : &unknown;
	proto_uint(&p->event, EVENT_NAME, perfetto_name(p, PERFETTO_EVENT, name->data, name->bytes));
	if (category)
		proto_uint(&p->event, EVENT_CATEGORY,
				perfetto_name(p, PERFETTO_CATEGORY, category->data, category->bytes));
}

static void end_event(struct perfetto *p, int64_t ts_ns)
{
	if (p->error == 0 && buf_error(&p->event))
		p->error = -ENOMEM;
	proto_uint(&p->packet, PACKET_TIME, ts_ns > 0 ? (uint64_t)ts_ns : 0);
	proto_message(&p->packet, PACKET_EVENT, &p->event);
	perfetto_packet(p);
}

/* Common to events of one kind. */
struct event {
	int64_t ts_ns, dur_ns, pid, tid;
	const struct store_text *name, *category;
	void (*args)(struct perfetto *p, const int64_t *row);
	const int64_t *row;
	uint64_t track, flow; /* 0: the thread's track; no flow ends here */
};

static void write_instant(struct perfetto *p, const struct event *e)
{
	start_event(p, INSTANT, perfetto_thread(p, e->pid, e->tid));
	name_event(p, e->name, e->category);
	e->args(p, e->row);
	end_event(p, e->ts_ns);
}

static void write_box(struct perfetto *p, const struct event *e)
{
	int64_t dur_ns = e->dur_ns > 0 ? e->dur_ns : 0, end_ns;
	uint64_t track = perfetto_lane(p, e->track ? e->track : perfetto_thread(p, e->pid, e->tid), e->ts_ns, &dur_ns);

	start_event(p, SLICE_BEGIN, track);
	name_event(p, e->name, e->category);
	e->args(p, e->row);
	if (e->flow)
		proto_fixed64(&p->event, EVENT_FLOW_END, e->flow);
	if (dur_ns != e->dur_ns)
		arg_int(p, "dur_ns", e->dur_ns);
	end_event(p, e->ts_ns);
	if (__builtin_add_overflow(e->ts_ns, dur_ns, &end_ns))
		end_ns = INT64_MAX;
	start_event(p, SLICE_END, track);
	end_event(p, end_ns);
}

static void write_value(struct perfetto *p, int64_t ts_ns, int64_t pid, int64_t name, double value)
{
	if (!isfinite(value))
		return;
	start_event(p, COUNTER, perfetto_counter(p, pid, name));
	proto_double(&p->event, EVENT_DOUBLE, value);
	end_event(p, ts_ns);
}

/* Rows of each table. */

static void io_args(struct perfetto *p, const int64_t *row)
{
	const struct model_call *call = model_call(p->run, row[STORE_IO_call]);
	struct store_text path = model_file_path(p->run, row[STORE_IO_file]);
	struct store_text path2 = model_file_path(p->run, row[STORE_IO_file2]);
	int64_t errnum = row[STORE_IO_errnum];

	arg_text(p, "path", &path);
	arg_text(p, "path2", &path2);
	arg_int(p, "fd", row[STORE_IO_fd]);
	arg_int(p, "size", row[STORE_IO_size]);
	arg_int(p, "offset", row[STORE_IO_offset]);
	arg_int(p, "ret", row[STORE_IO_ret]);
	if (errnum > 0 && errnum <= INT32_MAX) {
		const char *text = strerrorname_np((int)errnum);
		struct store_text t = { .data = text, .bytes = text ? strlen(text) : 0 };
		arg_text(p, "error", &t);
	}
	for (int i = 0; i < MODEL_ARGS_MAX; i++)
		arg_int(p, model_arg_name(call, i, 0), row[STORE_IO_arg0 + i]);
	arg_text(p, "text", timeline_text(row, STORE_IO_text));
	arg_object(p, timeline_text(row, STORE_IO_args));
}

static void write_io(struct perfetto *p, const int64_t *row)
{
	const struct model_call *call = model_call(p->run, row[STORE_IO_call]);
	struct event e = { row[STORE_IO_ts_ns], row[STORE_IO_dur_ns], row[STORE_IO_pid], row[STORE_IO_tid],
		model_name(p->run, row[STORE_IO_call]), call ? call->category : NULL, io_args, row };

	if (e.dur_ns == STORE_NULL)
		write_instant(p, &e);
	else
		write_box(p, &e);
}

static void span_args(struct perfetto *p, const int64_t *row)
{
	arg_object(p, timeline_text(row, STORE_SPAN_args));
	if (row[STORE_SPAN_is_open] == 1)
		arg_int(p, "is_open", 1);
}

static void write_span(struct perfetto *p, const int64_t *row)
{
	struct event e = { row[STORE_SPAN_ts_ns], row[STORE_SPAN_dur_ns], row[STORE_SPAN_pid], row[STORE_SPAN_tid],
		model_name(p->run, row[STORE_SPAN_name]), model_name(p->run, row[STORE_SPAN_category]), span_args,
		row };

	write_box(p, &e);
}

static void mark_args(struct perfetto *p, const int64_t *row)
{
	arg_object(p, timeline_text(row, STORE_MARK_args));
}

static void write_mark(struct perfetto *p, const int64_t *row)
{
	struct event e = { row[STORE_MARK_ts_ns], 0, row[STORE_MARK_pid], row[STORE_MARK_tid],
		model_name(p->run, row[STORE_MARK_name]), model_name(p->run, row[STORE_MARK_category]), mark_args,
		row };

	write_instant(p, &e);
}

static void step_args(struct perfetto *p, const int64_t *row)
{
	arg_int(p, "index", row[STORE_STEP_index]);
	double v = timeline_real(row, STORE_STEP_value);
	if (!isfinite(v))
		return;
	start_arg(p, "value");
	proto_double(&p->inner, ARGUMENT_DOUBLE, v);
	end_arg(p);
}

static void write_step(struct perfetto *p, const int64_t *row)
{
	static const struct store_text category = { .data = "step", .bytes = 4 };
	struct event e = { row[STORE_STEP_ts_ns], 0, row[STORE_STEP_pid], row[STORE_STEP_tid],
		model_name(p->run, row[STORE_STEP_name]), &category, step_args, row };

	write_instant(p, &e);
	write_value(p, e.ts_ns, e.pid, row[STORE_STEP_name], timeline_real(row, STORE_STEP_value));
}

static void write_counter(struct perfetto *p, const int64_t *row)
{
	write_value(p, row[STORE_COUNTER_ts_ns], row[STORE_COUNTER_pid], row[STORE_COUNTER_name],
			timeline_real(row, STORE_COUNTER_value));
}

static void (*const writers[STORE_TABLE_COUNT])(struct perfetto *p, const int64_t *row) = {
	[STORE_TABLE_IO] = write_io,
	[STORE_TABLE_SPAN] = write_span,
	[STORE_TABLE_MARK] = write_mark,
	[STORE_TABLE_STEP] = write_step,
	[STORE_TABLE_COUNTER] = write_counter,
};

static int write_events(struct perfetto *p, const struct exchange_options *options, struct sonde_err *err)
{
	struct timeline t;
	enum store_table_id table;
	const int64_t *row;
	int rc = timeline_open(&t, p->run, &options->range, err);

	if (rc < 0)
		return rc;
	while ((rc = timeline_next(&t, &table, &row, err)) == 0 && row && !p->error)
		writers[table](p, row);
	timeline_release(&t);
	return rc;
}

/* Device commands, on the tracks of their queues. A flow connects them to the call that submitted them. */

static void gpu_args(struct perfetto *p, const int64_t *row)
{
	arg_text(p, "kind", model_name(p->run, row[STORE_GPU_kind]));
	arg_text(p, "direction", model_name(p->run, row[STORE_GPU_direction]));
	arg_int(p, "bytes", row[STORE_GPU_bytes]);
	arg_int(p, "items", row[STORE_GPU_items]);
	if (row[STORE_GPU_status] != 0)
		arg_int(p, "status", row[STORE_GPU_status]);
}

static void write_command(struct perfetto *p, const int64_t *row)
{
	struct event e = { row[STORE_GPU_ts_ns], row[STORE_GPU_dur_ns], row[STORE_GPU_pid], row[STORE_GPU_tid],
		model_name(p->run, row[STORE_GPU_name]), model_name(p->run, row[STORE_GPU_api]), gpu_args, row,
		perfetto_queue(p, row[STORE_GPU_pid], row[STORE_GPU_device], row[STORE_GPU_queue]), 0 };

	if (row[STORE_GPU_queued_ns] != STORE_NULL && e.tid != STORE_NULL) {
		start_event(p, INSTANT, perfetto_thread(p, e.pid, e.tid));
		name_event(p, e.name, e.category);
		e.flow = ++p->flows;
		proto_fixed64(&p->event, EVENT_FLOW, e.flow);
		end_event(p, row[STORE_GPU_queued_ns]);
	}
	write_box(p, &e);
}

static int write_commands(struct perfetto *p, const struct exchange_options *options, struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = options->range.has_range,
		.from_ns = options->range.from_ns,
		.to_ns = options->range.to_ns,
		.is_longest_first = true };
	struct model_rows *rows;
	const void *row;
	int rc = model_rows_open(&rows, model_table(p->run, STORE_TABLE_GPU), &opts, err);

	if (rc < 0)
		return rc;
	while ((rc = model_rows_next(rows, &row, err)) == 0 && row && !p->error)
		write_command(p, row);
	model_rows_free(rows);
	return rc;
}

/* One instant on all clocks of the trace; its default clock is CLOCK_BOOTTIME. */
static void write_clocks(struct perfetto *p)
{
	enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6 };
	int64_t mono_ns = model_run_start_ns(p->run), real_ns = model_run_int(p->run, "clock.start_real_ns");
	const struct {
		unsigned id;
		int64_t ns;
	} clocks[] = { { BOOTTIME, mono_ns }, { MONOTONIC, mono_ns }, { REALTIME, real_ns } };

	if (mono_ns == STORE_NULL)
		return;
	buf_reset(&p->event);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		if (clocks[i].ns < 0)
			continue;
		buf_reset(&p->inner);
		proto_uint(&p->inner, CLOCK_ID, clocks[i].id);
		proto_int(&p->inner, CLOCK_TIME, clocks[i].ns);
		proto_message(&p->event, SNAPSHOT_CLOCK, &p->inner);
	}
	proto_message(&p->packet, PACKET_CLOCKS, &p->event);
	perfetto_packet(p);
}

static int write_run(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct perfetto p = { .run = run,
		.out = out,
		.packet = BUF_INIT,
		.event = BUF_INIT,
		.inner = BUF_INIT,
		.lanes = NEST_INIT };
	int rc = model_load(run, MODEL_ALL, err);

	if (rc == 0)
		rc = perfetto_tracks_load(&p, err);
	if (rc == 0) {
		write_clocks(&p);
		rc = write_events(&p, options, err);
	}
	if (rc == 0)
		rc = write_commands(&p, options, err);
	if (rc == 0)
		rc = perfetto_samples(&p, options, err);
	if (rc == 0 && p.error)
		rc = err_sys(err, -p.error, "cannot write the trace");
	perfetto_release(&p);
	return rc;
}

const struct exchange_format exchange_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.what = "Perfetto trace (https://ui.perfetto.dev), smaller than chrome.",
	.write = write_run,
};
