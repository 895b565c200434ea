/*
 * sofa: a run as SOFA's CSV files, for scripts that read them.
 *
 *   cputrace.csv    samples: duration is CPU time, event the logarithm of the address
 *   strace.csv      calls, with the bytes they transferred
 *   nettrace.csv    IPv4 packets, addresses as 12 decimal digits
 *   gputrace.csv    device commands: copyKind 0 is a kernel, 1 a copy to the device, 2 from it, 8 within it, 10 to
 *                   another
 *   blktrace.csv    requests to block devices, two rows each: the first block as duration, then the elapsed time
 *   cuda_api_trace.csv  CUDA calls
 *   pystacks.csv    Python samples: functions, outermost first, joined by <br>
 *   mpstat.csv      CPUs, diskstat.csv disks, netstat.csv interfaces, vmstat.csv the machine, nvsmi_trace.csv devices:
 *                   see sofa-counters.c
 *   misc.txt        elapsed time, CPUs, pid; sofa_time.txt: start time of the run
 *
 * The duration of a packet is defined as by SOFA: its payload at 1 Gb/s.
 */
#include "exchange/sofa.h"

#include "base/cleanup.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/stacks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#define PACKET_BYTES_PER_SECOND 128e6
#define PYTHON_DEPTH_MAX 1024

double sofa_seconds(const struct sofa *s, int64_t ts_ns)
{
	return (double)(ts_ns - s->start_ns) / 1e9;
}

static FILE *create(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out && fd >= 0)
		close(fd);
	return out;
}

int sofa_open(const struct sofa *s, struct csv *c, const char *name, struct sonde_err *err)
{
	static const char *const columns[] = { "timestamp", "event", "duration", "deviceId", "copyKind", "payload",
		"bandwidth", "pkt_src", "pkt_dst", "pid", "tid", "name", "category" };
	FILE *out = create(s->dirfd, name);

	if (!out)
		return err_sys(err, errno, "cannot write '%s'", name);
	*c = (struct csv)CSV_INIT(out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		csv_str(c, columns[i]);
	csv_end(c);
	return 0;
}

double sofa_or_unused(int64_t v)
{
	return v == STORE_NULL ? -1 : (double)v;
}

void sofa_put(struct csv *c, const struct sofa_row *row)
{
	csv_fixed(c, row->timestamp);
	csv_fixed(c, row->event);
	csv_fixed(c, row->duration);
	csv_fixed(c, sofa_or_unused(row->device));
	csv_fixed(c, sofa_or_unused(row->copy_kind));
	csv_fixed(c, row->payload);
	csv_fixed(c, row->bandwidth);
	csv_int(c, row->source);
	csv_int(c, row->destination);
	csv_int(c, row->pid == STORE_NULL ? -1 : row->pid);
	csv_int(c, row->tid == STORE_NULL ? -1 : row->tid);
	csv_str(c, row->name ? row->name : "");
	csv_fixed(c, 0);
	csv_end(c);
}

int sofa_close(struct csv *c, const char *name, struct sonde_err *err)
{
	int rc = c->error;

	if (fclose(c->out) != 0 && rc == 0)
		rc = errno ? -errno : -EIO;
	csv_release(c);
	return rc < 0 ? err_sys(err, -rc, "cannot write '%s'", name) : 0;
}

/* Event files: one line per row of a table. */

static void put_sample(struct sofa_events *e, const void *data)
{
	const struct store_sample *row = data;
	const struct model_frame *frames;
	struct sofa_row out = SOFA_ROW_INIT;
	size_t count = row->stack == STORE_NULL ? 0 : model_stack_place(e->stacks, row->stack, &frames);
	char name[512];

	if (row->weight_ns == STORE_NULL)
		return; /* the event is not a clock */
	snprintf(name, sizeof(name), "%s(%s)", count ? model_frame_label(&frames[0]) : "[unknown]",
			count && frames[0].module ? frames[0].module : "[unknown]");
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	/* SOFA's event value of a sample: the decimal logarithm of its address with 01 before its digits. */
	uint64_t address = model_stack_address(e->stacks, row->stack);
	double digits = 1;
	for (uint64_t left = address; left; left >>= 4)
		digits *= 16;
	out.event = log10(digits + (double)address);
	out.duration = (double)row->weight_ns / 1e9;
	out.device = row->cpu;
	out.pid = row->pid;
	out.tid = row->tid;
	out.name = name;
	sofa_put(&e->csv, &out);
}

/* Only Python functions: frames with source and line but without an address. */
static void put_python(struct sofa_events *e, const void *data)
{
	const struct store_sample *row = data;
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	int64_t chain[PYTHON_DEPTH_MAX];
	size_t depth = 0;
	struct sofa_row out = SOFA_ROW_INIT;

	for (int64_t at = row->stack; at > 0 && depth < PYTHON_DEPTH_MAX; at = model_stack_parent(e->stacks, at))
		chain[depth++] = at;
	while (depth-- > 0) {
		const struct model_frame *frames;

		if (!model_stack_place(e->stacks, chain[depth], &frames) || frames[0].address || !frames[0].source)
			continue;
		buf_adds(&name, name.len ? "<br>" : "");
		buf_adds(&name, model_frame_label(&frames[0]));
	}
	if (!name.len || buf_error(&name) || row->weight_ns == STORE_NULL)
		return;
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	out.duration = (double)row->weight_ns / 1e9;
	out.pid = row->pid;
	out.tid = row->tid;
	out.name = name.data;
	sofa_put(&e->csv, &out);
}

static void put_call(struct sofa_events *e, const void *data)
{
	const struct store_io *row = data;
	const struct model_call *call = model_call(e->sofa->run, row->call);
	const char *word = model_cname(e->sofa->run, row->call);
	struct store_text path = model_file_path(e->sofa->run, row->file);
	int64_t bytes = model_call_bytes(call, row->ret, row->size, row->arg0, row->arg1);
	struct sofa_row out = SOFA_ROW_INIT;
	char name[512];

	snprintf(name, sizeof(name), "%s(%.*s)", word ? word : "?", path.data ? (int)path.bytes : 0,
			path.data ? path.data : "");
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	out.duration = row->dur_ns == STORE_NULL ? -1 : (double)row->dur_ns / 1e9;
	out.payload = bytes > 0 ? (double)bytes : -1;
	out.bandwidth = bytes > 0 && row->dur_ns > 0 ? (double)bytes * 1e9 / (double)row->dur_ns : -1;
	out.pid = row->pid;
	out.tid = row->tid;
	out.name = name;
	sofa_put(&e->csv, &out);
}

static int write_events(struct sofa_events *e, const char *name, enum store_table_id table,
		void (*put)(struct sofa_events *e, const void *row), struct sonde_err *err)
{
	const struct exchange_options *options = e->sofa->options;
	struct model_rows *rows;
	const void *row;
	int rc = sofa_open(e->sofa, &e->csv, name, err), close_rc;

	if (rc < 0)
		return rc;
	rc = model_rows_open(&rows, model_table(e->sofa->run, table), &options->range, err);
	if (rc == 0) {
		while ((rc = model_rows_next(rows, &row, err)) == 0 && row && !e->csv.error)
			put(e, row);
		model_rows_free(rows);
	}
	close_rc = sofa_close(&e->csv, name, err);
	return rc < 0 ? rc : close_rc;
}

/* Packets: addresses are taken from their flow. */

/* 10.1.2.3 is 10001002003; -1 if it is not IPv4. */
static int64_t address_number(const char *text)
{
	struct in_addr address;

	if (!text || inet_pton(AF_INET, text, &address) != 1)
		return -1;
	uint32_t bits = ntohl(address.s_addr);
	return (int64_t)(bits >> 24) * 1000000000 + (int64_t)(bits >> 16 & 255) * 1000000 +
			(int64_t)(bits >> 8 & 255) * 1000 + (bits & 255);
}

static int load_flows(struct sofa_events *e)
{
	struct store_table *t = model_table(e->sofa->run, STORE_TABLE_FLOW);
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t b = 0; t && rc == 0 && b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue;
		for (size_t i = 0; rc == 0 && i < batch.rows; i++) {
			struct store_flow row;
			int64_t key[2];

			store_get_flow(&batch, i, &row);
			key[0] = row.flow;
			for (int side = 0; rc == 0 && side < 3; side++) {
				int64_t ids[] = { row.source, row.destination, row.protocol };

				key[1] = side;
				uint64_t *place = map_put(&e->flows, key, sizeof(key), NULL);
				rc = place ? 0 : -ENOMEM;
				if (place)
					*place = (uint64_t)ids[side];
			}
		}
	}
	store_batch_release(&batch);
	return rc;
}

static const char *flow_text(const struct sofa_events *e, int64_t flow, int64_t side)
{
	int64_t key[2] = { flow, side };
	const uint64_t *id = map_get(&e->flows, key, sizeof(key));

	return id ? model_cname(e->sofa->run, (int64_t)*id) : NULL;
}

static void put_packet(struct sofa_events *e, const void *data)
{
	const struct store_packet *row = data;
	int64_t from = address_number(flow_text(e, row->flow, row->is_reply == 1));
	int64_t to = address_number(flow_text(e, row->flow, row->is_reply != 1));
	const char *protocol = flow_text(e, row->flow, 2);
	int64_t payload = row->payload == STORE_NULL ? 0 : row->payload;
	struct sofa_row out = SOFA_ROW_INIT;
	char name[128];

	if (from < 0 || to < 0)
		return;
	snprintf(name, sizeof(name), "network:%s:%" PRId64 "_to_%" PRId64 "_with_%" PRId64, protocol ? protocol : "ip",
			from, to, payload);
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	out.event = (double)payload;
	out.duration = (double)payload / PACKET_BYTES_PER_SECOND;
	out.payload = (double)payload;
	out.bandwidth = PACKET_BYTES_PER_SECOND;
	out.source = from;
	out.destination = to;
	out.name = name;
	sofa_put(&e->csv, &out);
}

/* Text files. */

static int write_texts(const struct sofa *s, struct sonde_err *err)
{
	int64_t wall_ns = model_run_int(s->run, "wall_ns"), real_ns = model_run_int(s->run, "clock.start_real_ns");
	int64_t cpus = model_run_int(s->run, "host.cpus");
	size_t count;
	const struct store_process *processes = model_processes(s->run, &count);
	FILE *misc = create(s->dirfd, "misc.txt"), *start = create(s->dirfd, "sofa_time.txt");
	int error = misc && start ? 0 : errno;

	if (misc) {
		fprintf(misc, "elapsed_time %.6f\n", wall_ns == STORE_NULL ? 0 : (double)wall_ns / 1e9);
		if (cpus != STORE_NULL)
			fprintf(misc, "cores %" PRId64 "\nvcores %" PRId64 "\n", cpus, cpus);
		fprintf(misc, "pid %" PRId64 "\n", count ? processes[0].pid : -1);
	}
	if (start)
		fprintf(start, "%.6f\n", real_ns == STORE_NULL ? 0 : (double)real_ns / 1e9);
	if (misc && fclose(misc) != 0)
		error = errno;
	if (start && fclose(start) != 0)
		error = errno;
	return error ? err_sys(err, error, "cannot write misc.txt and sofa_time.txt") : 0;
}

static const struct {
	const char *name;
	enum store_table_id table;
	void (*put)(struct sofa_events *e, const void *row);
} event_files[] = {
	{ "cputrace.csv", STORE_TABLE_SAMPLE, put_sample },
	{ "strace.csv", STORE_TABLE_IO, put_call },
	{ "nettrace.csv", STORE_TABLE_PACKET, put_packet },
	{ "gputrace.csv", STORE_TABLE_GPU, sofa_put_command },
	{ "cuda_api_trace.csv", STORE_TABLE_SPAN, sofa_put_api },
	{ "blktrace.csv", STORE_TABLE_BLOCK, sofa_put_request },
	{ "pystacks.csv", STORE_TABLE_SAMPLE, put_python },
};

static int write_files(struct model_run *run, int dirfd, const struct exchange_options *options, struct sonde_err *err)
{
	struct sofa s = { .run = run, .dirfd = dirfd, .start_ns = model_run_start_ns(run), .options = options };
	struct sofa_events e = { .sofa = &s };
	int rc = model_load(run, MODEL_ALL, err);

	if (rc == 0)
		rc = model_stacks_open(&e.stacks, run, err);
	if (rc == 0 && load_flows(&e) < 0)
		rc = err_sys(err, ENOMEM, "cannot read the flows");
	for (size_t i = 0; rc == 0 && i < sizeof(event_files) / sizeof(*event_files); i++)
		rc = write_events(&e, event_files[i].name, event_files[i].table, event_files[i].put, err);
	if (rc == 0)
		rc = sofa_write_counters(&s, err);
	if (rc == 0)
		rc = write_texts(&s, err);
	model_stacks_free(e.stacks);
	map_release(&e.flows);
	return rc;
}

const struct exchange_format exchange_sofa = {
	.name = "sofa",
	.extension = NULL,
	.what = "SOFA CSV files, in a directory.",
	.write_files = write_files,
};
