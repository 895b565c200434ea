#include "cli/events.h"

#include <errno.h>
#include <stddef.h>

/* clang-format off */
#define END { .how = EVENT_HOWS }
#define KEY(name) "\"" name "\":", sizeof(name) + 2
#define NO_KEY NULL, 0

#define WHO(T) \
	{ KEY("pid"), "PID", 7, EVENT_INT, STORE_##T##_pid }, \
	{ KEY("tid"), "TID", 7, EVENT_INT, STORE_##T##_tid }
#define WHEN(T) { KEY("ts_ns"), "TIME", 15, EVENT_TIME, STORE_##T##_ts_ns }
#define LASTS(T) { KEY("dur_ns"), "DURATION", 9, EVENT_DURATION, STORE_##T##_dur_ns }
#define IMAGE(T) { KEY("process"), NULL, 0, EVENT_INT, STORE_##T##_process }

static const struct event_field io_fields[] = {
	WHEN(IO), LASTS(IO), WHO(IO),
	{ KEY("call"), NULL, 0, EVENT_STRING, STORE_IO_call },
	{ KEY("path"), NULL, 0, EVENT_PATH, STORE_IO_file },
	{ KEY("fd"), NULL, 0, EVENT_INT, STORE_IO_fd },
	{ KEY("ret"), NULL, 0, EVENT_INT, STORE_IO_ret },
	{ KEY("errno"), NULL, 0, EVENT_INT, STORE_IO_errnum },
	{ KEY("size"), NULL, 0, EVENT_INT, STORE_IO_size },
	{ KEY("offset"), NULL, 0, EVENT_INT, STORE_IO_offset },
	IMAGE(IO),
	{ KEY("category"), NULL, 0, EVENT_CATEGORY, STORE_IO_call },
	{ KEY("error"), NULL, 0, EVENT_ERROR, STORE_IO_errnum },
	{ KEY("path2"), NULL, 0, EVENT_PATH, STORE_IO_file2 },
	{ KEY("args"), NULL, 0, EVENT_ARGS, STORE_IO_arg0 },
	{ KEY("text"), NULL, 0, EVENT_TEXT, STORE_IO_text },
	{ NO_KEY, "CALL", -44, EVENT_CALL, STORE_IO_call },
	{ NO_KEY, "PATH", 0, EVENT_PATHS, STORE_IO_file },
	END
};

static const struct event_field span_fields[] = {
	WHEN(SPAN), LASTS(SPAN), WHO(SPAN),
	{ KEY("depth"), "DEPTH", 5, EVENT_INT, STORE_SPAN_depth },
	{ KEY("name"), "NAME", -24, EVENT_STRING, STORE_SPAN_name },
	{ KEY("cat"), "CATEGORY", -12, EVENT_STRING, STORE_SPAN_category },
	IMAGE(SPAN),
	{ KEY("is_open"), "OPEN", 5, EVENT_FLAG, STORE_SPAN_is_open },
	{ KEY("args"), "ARGUMENTS", 0, EVENT_OBJECT, STORE_SPAN_args },
	END
};

static const struct event_field step_fields[] = {
	WHEN(STEP), WHO(STEP),
	{ KEY("name"), "NAME", -24, EVENT_STRING, STORE_STEP_name },
	{ KEY("index"), "INDEX", 9, EVENT_INT, STORE_STEP_index },
	{ KEY("value"), "VALUE", 12, EVENT_REAL, STORE_STEP_value },
	IMAGE(STEP),
	END
};

static const struct event_field mark_fields[] = {
	WHEN(MARK), WHO(MARK),
	{ KEY("name"), "NAME", -24, EVENT_STRING, STORE_MARK_name },
	{ KEY("cat"), "CATEGORY", -12, EVENT_STRING, STORE_MARK_category },
	IMAGE(MARK),
	{ KEY("args"), "ARGUMENTS", 0, EVENT_OBJECT, STORE_MARK_args },
	END
};

static const struct event_field counter_fields[] = {
	WHEN(COUNTER), WHO(COUNTER),
	{ KEY("name"), "NAME", -24, EVENT_STRING, STORE_COUNTER_name },
	{ KEY("value"), "VALUE", 12, EVENT_REAL, STORE_COUNTER_value },
	IMAGE(COUNTER),
	END
};

static const struct event_field meta_fields[] = {
	{ KEY("process"), "PROCESS", 7, EVENT_INT, STORE_META_process },
	{ KEY("pid"), "PID", 7, EVENT_INT, STORE_META_pid },
	{ KEY("key"), "KEY", -24, EVENT_STRING, STORE_META_key },
	{ KEY("value"), "VALUE", 0, EVENT_TEXT, STORE_META_value },
	END
};

static const struct event_field process_fields[] = {
	{ KEY("process"), "PROCESS", 7, EVENT_INT, STORE_PROCESS_process },
	{ KEY("pid"), "PID", 7, EVENT_INT, STORE_PROCESS_pid },
	{ KEY("ppid"), NULL, 0, EVENT_INT, STORE_PROCESS_ppid },
	{ KEY("parent"), "PARENT", 6, EVENT_INT, STORE_PROCESS_parent },
	{ KEY("start_ns"), "START", 15, EVENT_TIME, STORE_PROCESS_start_ns },
	{ KEY("end_ns"), "END", 15, EVENT_TIME, STORE_PROCESS_end_ns },
	{ KEY("exe"), NULL, 0, EVENT_STRING, STORE_PROCESS_exe },
	{ KEY("cwd"), NULL, 0, EVENT_STRING, STORE_PROCESS_cwd },
	{ KEY("exit_code"), "CODE", 4, EVENT_INT, STORE_PROCESS_exit_code },
	{ KEY("exit_signal"), "SIGNAL", 6, EVENT_INT, STORE_PROCESS_exit_signal },
	{ KEY("events"), "EVENTS", 9, EVENT_INT, STORE_PROCESS_events },
	{ KEY("dropped"), "DROPPED", 7, EVENT_INT, STORE_PROCESS_dropped },
	{ KEY("filtered"), "FILTERED", 8, EVENT_INT, STORE_PROCESS_filtered },
	{ KEY("state"), "STATE", -16, EVENT_STRING, STORE_PROCESS_state },
	{ KEY("argv"), "COMMAND", 0, EVENT_WORDS, STORE_PROCESS_argv },
	END
};

static const struct event_field thread_fields[] = {
	{ KEY("process"), "PROCESS", 7, EVENT_INT, STORE_THREAD_process },
	{ KEY("pid"), "PID", 7, EVENT_INT, STORE_THREAD_pid },
	{ KEY("tid"), "TID", 7, EVENT_INT, STORE_THREAD_tid },
	{ KEY("start_ns"), "START", 15, EVENT_TIME, STORE_THREAD_start_ns },
	{ KEY("end_ns"), "END", 15, EVENT_TIME, STORE_THREAD_end_ns },
	{ KEY("events"), "EVENTS", 9, EVENT_INT, STORE_THREAD_events },
	{ KEY("name"), "NAME", 0, EVENT_STRING, STORE_THREAD_name },
	END
};

static const struct event_field file_fields[] = {
	{ KEY("file"), "FILE", 14, EVENT_INT, STORE_FILE_file },
	{ KEY("base"), "BASE", 14, EVENT_INT, STORE_FILE_base },
	{ KEY("name"), NULL, 0, EVENT_STRING, STORE_FILE_name },
	{ KEY("path"), "PATH", 0, EVENT_PATH, STORE_FILE_file },
	END
};

static const struct event_field call_fields[] = {
	{ KEY("call"), "CALL", -24, EVENT_STRING, STORE_CALL_call },
	{ KEY("category"), "CATEGORY", -12, EVENT_STRING, STORE_CALL_category },
	{ KEY("arg_names"), "ARGUMENTS", 0, EVENT_NAMES, STORE_CALL_arg_names },
	END
};

static const struct event_field line_fields[] = {
	WHEN(LINE), WHO(LINE),
	{ KEY("phase"), "PHASE", -5, EVENT_STRING, STORE_LINE_phase },
	{ KEY("name"), "NAME", -24, EVENT_STRING, STORE_LINE_name },
	{ KEY("cat"), "CATEGORY", -12, EVENT_STRING, STORE_LINE_category },
	IMAGE(LINE),
	{ KEY("id"), NULL, 0, EVENT_INT, STORE_LINE_id },
	{ KEY("args"), "ARGUMENTS", 0, EVENT_OBJECT, STORE_LINE_args },
	{ KEY("extra"), NULL, 0, EVENT_OBJECT, STORE_LINE_extra },
	END
};

#define COL(T, name, head, width, how) { KEY(#name), head, width, EVENT_##how, STORE_##T##_##name }

static const struct event_field sample_fields[] = {
	WHEN(SAMPLE), WHO(SAMPLE),
	COL(SAMPLE, cpu, "CPU", 4, INT), COL(SAMPLE, event, "EVENT", -16, STRING),
	COL(SAMPLE, weight_ns, "WEIGHT", 9, DURATION), COL(SAMPLE, count, "COUNT", 12, INT),
	COL(SAMPLE, is_kernel, "KERNEL", 6, FLAG), COL(SAMPLE, stack, "STACK", 9, INT),
	IMAGE(SAMPLE),
	END
};

static const struct event_field sched_fields[] = {
	WHEN(SCHED), LASTS(SCHED), WHO(SCHED),
	COL(SCHED, cpu, "CPU", 4, INT), COL(SCHED, next_cpu, "NEXT", 4, INT), COL(SCHED, state, "STATE", -10, STRING),
	COL(SCHED, wake_ns, "WOKEN", 15, TIME), COL(SCHED, waker_pid, "WAKER", 7, INT),
	COL(SCHED, waker_tid, "BY TID", 7, INT), COL(SCHED, stack, NULL, 0, INT),
	IMAGE(SCHED),
	END
};

static const struct event_field task_fields[] = {
	COL(TASK, process, "PROCESS", 7, INT), WHO(TASK), COL(TASK, ppid, "PARENT", 7, INT),
	COL(TASK, start_ns, "START", 15, TIME), COL(TASK, end_ns, "END", 15, TIME),
	COL(TASK, run_ns, "RAN", 9, DURATION), COL(TASK, samples, "SAMPLES", 9, INT),
	COL(TASK, name, "NAME", 0, STRING),
	END
};

static const struct event_field module_fields[] = {
	COL(MODULE, module, "MODULE", 6, INT), COL(MODULE, kind, "KIND", -7, STRING), COL(MODULE, pid, "PID", 7, INT),
	COL(MODULE, build_id, "BUILD ID", -40, TEXT), COL(MODULE, path, "PATH", 0, STRING),
	END
};

static const struct event_field mapping_fields[] = {
	WHEN(MAPPING), COL(MAPPING, pid, "PID", 7, INT), COL(MAPPING, start, "START", 15, INT),
	COL(MAPPING, bytes, "BYTES", 12, INT), COL(MAPPING, offset, "OFFSET", 12, INT),
	COL(MAPPING, module, "MODULE", 6, INT),
	END
};

static const struct event_field stack_fields[] = {
	COL(STACK, stack, "STACK", 9, INT), COL(STACK, parent, "PARENT", 9, INT), COL(STACK, module, "MODULE", 6, INT),
	COL(STACK, address, "ADDRESS", 20, INT),
	END
};

static const struct event_field symbol_fields[] = {
	COL(SYMBOL, module, "MODULE", 6, INT), COL(SYMBOL, start, "START", 20, INT),
	COL(SYMBOL, bytes, "BYTES", 9, INT),
	COL(SYMBOL, name, "NAME", 0, STRING),
	END
};

static const struct event_field series_fields[] = {
	COL(SERIES, name, "NAME", -40, STRING), COL(SERIES, unit, "UNIT", -10, STRING),
	COL(SERIES, is_total, "TOTAL", 5, FLAG),
	END
};

static const struct event_field packet_fields[] = {
	WHEN(PACKET), COL(PACKET, flow, "FLOW", 7, INT), COL(PACKET, is_reply, "REPLY", 5, FLAG),
	COL(PACKET, bytes, "BYTES", 7, INT), COL(PACKET, payload, "PAYLOAD", 7, INT),
	COL(PACKET, tcp_flags, "FLAGS", 5, INT), COL(PACKET, seq, "SEQ", 10, INT), COL(PACKET, ack, "ACK", 10, INT),
	COL(PACKET, is_retransmit, "AGAIN", 5, FLAG), COL(PACKET, interface, "INTERFACE", 0, STRING),
	END
};

static const struct event_field flow_fields[] = {
	{ KEY("ts_ns"), "TIME", 15, EVENT_TIME, STORE_FLOW_start_ns }, LASTS(FLOW),
	COL(FLOW, flow, "FLOW", 7, INT), COL(FLOW, is_new, "NEW", 3, FLAG), COL(FLOW, protocol, "PROTOCOL", -8, STRING),
	COL(FLOW, family, NULL, 0, INT), COL(FLOW, source, "SOURCE", -15, STRING),
	COL(FLOW, source_port, "PORT", 5, INT), COL(FLOW, destination, "DESTINATION", -15, STRING),
	COL(FLOW, destination_port, "PORT", 5, INT), COL(FLOW, interface, "INTERFACE", -9, STRING),
	COL(FLOW, is_loopback, NULL, 0, FLAG), COL(FLOW, pid, "PID", 7, INT), COL(FLOW, name, "NAME", -15, STRING),
	COL(FLOW, process, NULL, 0, INT), COL(FLOW, peer_pid, "PEER", 7, INT),
	COL(FLOW, peer_name, "PEER NAME", -15, STRING), COL(FLOW, peer_process, NULL, 0, INT),
	COL(FLOW, packets_out, "SENT", 7, INT), COL(FLOW, packets_in, "RECEIVED", 8, INT),
	COL(FLOW, bytes_out, "BYTES", 9, INT), COL(FLOW, bytes_in, "BYTES", 9, INT),
	COL(FLOW, payload_out, NULL, 0, INT), COL(FLOW, payload_in, NULL, 0, INT),
	COL(FLOW, retransmits_out, "AGAIN", 5, INT), COL(FLOW, retransmits_in, "AGAIN", 5, INT),
	COL(FLOW, rtt_ns, "RTT", 9, DURATION), COL(FLOW, rtt_min_ns, NULL, 0, INT), COL(FLOW, rtts, NULL, 0, INT),
	COL(FLOW, vlan, NULL, 0, INT), COL(FLOW, state, "STATE", 0, STRING),
	END
};

static const struct event_field block_fields[] = {
	WHEN(BLOCK), LASTS(BLOCK), COL(BLOCK, queue_ns, "QUEUED", 9, DURATION), WHO(BLOCK),
	COL(BLOCK, name, "NAME", -15, STRING), COL(BLOCK, device, "DEVICE", -8, STRING),
	COL(BLOCK, rw, "WHAT", -7, STRING), COL(BLOCK, sector, "SECTOR", 12, INT), COL(BLOCK, bytes, "BYTES", 9, INT),
	COL(BLOCK, flags, "FLAGS", -5, STRING), COL(BLOCK, errnum, "ERROR", 5, INT), IMAGE(BLOCK),
	END
};

static const struct event_field gpu_fields[] = {
	WHEN(GPU), LASTS(GPU), WHO(GPU),
	{ KEY("api"), "API", -6, EVENT_STRING, STORE_GPU_api },
	{ KEY("kind"), "KIND", -6, EVENT_STRING, STORE_GPU_kind },
	{ KEY("name"), "NAME", -24, EVENT_STRING, STORE_GPU_name },
	{ KEY("device"), "DEVICE", -16, EVENT_STRING, STORE_GPU_device },
	{ KEY("device_id"), NULL, 0, EVENT_INT, STORE_GPU_device_id },
	{ KEY("queue"), "QUEUE", 5, EVENT_INT, STORE_GPU_queue },
	{ KEY("direction"), "DIRECTION", -16, EVENT_STRING, STORE_GPU_direction },
	{ KEY("bytes"), "BYTES", 10, EVENT_INT, STORE_GPU_bytes },
	{ KEY("items"), "ITEMS", 10, EVENT_INT, STORE_GPU_items },
	{ KEY("queued_ns"), NULL, 0, EVENT_TIME, STORE_GPU_queued_ns },
	{ KEY("submit_ns"), NULL, 0, EVENT_TIME, STORE_GPU_submit_ns },
	{ KEY("error_ns"), NULL, 0, EVENT_INT, STORE_GPU_error_ns },
	{ KEY("status"), NULL, 0, EVENT_INT, STORE_GPU_status },
	IMAGE(GPU),
	END
};

const struct event_table event_tables[] = {
	{ STORE_TABLE_IO, io_fields },
	{ STORE_TABLE_SPAN, span_fields },
	{ STORE_TABLE_STEP, step_fields },
	{ STORE_TABLE_MARK, mark_fields },
	{ STORE_TABLE_COUNTER, counter_fields },
	{ STORE_TABLE_META, meta_fields },
	{ STORE_TABLE_PROCESS, process_fields },
	{ STORE_TABLE_THREAD, thread_fields },
	{ STORE_TABLE_FILE, file_fields },
	{ STORE_TABLE_CALL, call_fields },
	{ STORE_TABLE_LINE, line_fields },
	{ STORE_TABLE_SAMPLE, sample_fields },
	{ STORE_TABLE_SCHED, sched_fields },
	{ STORE_TABLE_TASK, task_fields },
	{ STORE_TABLE_MODULE, module_fields },
	{ STORE_TABLE_MAPPING, mapping_fields },
	{ STORE_TABLE_STACK, stack_fields },
	{ STORE_TABLE_SYMBOL, symbol_fields },
	{ STORE_TABLE_SERIES, series_fields },
	{ STORE_TABLE_PACKET, packet_fields },
	{ STORE_TABLE_FLOW, flow_fields },
	{ STORE_TABLE_BLOCK, block_fields },
	{ STORE_TABLE_GPU, gpu_fields },
};
/* clang-format on */

const char *const event_table_names[] = { "io", "span", "step", "mark", "counter", "meta", "process", "thread", "file",
	"call", "line", "sample", "sched", "task", "module", "mapping", "stack", "symbol", "series", "packet", "flow",
	"block", "gpu", NULL };

_Static_assert(sizeof(event_table_names) / sizeof(*event_table_names) ==
				sizeof(event_tables) / sizeof(*event_tables) + 1,
		"a table has no name");

const struct event_table *event_table_find(enum store_table_id id)
{
	const struct event_table *t = event_tables;

	while (t->id != id)
		t++;
	return t;
}

void event_writer_init(struct event_writer *w, struct model_run *run, const struct event_table *table, struct buf *out)
{
	*w = (struct event_writer){
		.run = run,
		.table = table,
		.start_ns = model_run_start_ns(run),
		.out = out,
		.scratch = BUF_INIT,
		.line = JSONLINE_INIT,
	};
}

void event_writer_release(struct event_writer *w)
{
	buf_release(&w->scratch);
	jsonline_release(&w->line);
}

int event_writer_error(const struct event_writer *w)
{
	return w->line.is_failed || buf_error(&w->scratch) < 0 ? -ENOMEM : 0;
}
