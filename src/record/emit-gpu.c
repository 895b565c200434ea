/* Converts GPU commands to rows; see emit.h. Times and numbers come from the program and may be invalid. */
#include "record/emit.h"

static const char *const kinds[SONDE_GPU_KINDS] = { [SONDE_GPU_KERNEL] = "kernel",
	[SONDE_GPU_COPY] = "copy",
	[SONDE_GPU_FILL] = "fill",
	[SONDE_GPU_MAP] = "map",
	[SONDE_GPU_UNMAP] = "unmap",
	[SONDE_GPU_WAIT] = "wait" };

static const char *const directions[SONDE_GPU_DIRECTIONS] = { [SONDE_GPU_HOST_TO_DEVICE] = "host-to-device",
	[SONDE_GPU_DEVICE_TO_HOST] = "device-to-host",
	[SONDE_GPU_DEVICE_TO_DEVICE] = "device-to-device",
	[SONDE_GPU_HOST_TO_HOST] = "host-to-host",
	[SONDE_GPU_PEER_TO_PEER] = "peer-to-peer" };

/* STORE_NULL is SONDE_NONE; a time before boot is unknown too. */
static int64_t time_of(int64_t ns)
{
	return ns < 0 ? STORE_NULL : ns > EMIT_NS_MAX ? EMIT_NS_MAX : ns;
}

static int64_t count_of(int64_t value)
{
	return value < 0 ? STORE_NULL : value;
}

static int64_t word_of(struct drain *d, const char *const *words, unsigned count, unsigned i)
{
	return i < count && words[i] ? store_strings_of(&d->sink->strings, words[i]) : STORE_NULL;
}

enum emit_result emit_gpu(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_gpu *r = ring_record_gpu(&d->ring_record);
	struct store_gpu row = store_gpu_nulls;
	if (!emit_name(d, p, r->name, is_last_chance, &row.name) ||
			!emit_name(d, p, r->api, is_last_chance, &row.api) ||
			!emit_name(d, p, r->device, is_last_chance, &row.device))
		return EMIT_WAIT;
	row.ts_ns = time_of(r->start_ns);
	if (row.ts_ns != STORE_NULL && time_of(r->end_ns) >= row.ts_ns)
		row.dur_ns = time_of(r->end_ns) - row.ts_ns;
	row.process = p->number;
	row.pid = c->pid;
	row.tid = r->tid > 0 ? r->tid : STORE_NULL;
	row.kind = word_of(d, kinds, SONDE_GPU_KINDS, r->kind);
	row.direction = word_of(d, directions, SONDE_GPU_DIRECTIONS, r->direction);
	row.device_id = r->device_id;
	row.queue = count_of(r->queue);
	row.bytes = count_of(r->bytes);
	row.items = count_of(r->items);
	row.queued_ns = time_of(r->queued_ns);
	row.submit_ns = time_of(r->submit_ns);
	row.error_ns = count_of(r->error_ns);
	row.status = r->status;
	emit_count(d, p, c, row.ts_ns == STORE_NULL ? p->start_ns : row.ts_ns, 0);
	store_sink_add(d->sink, STORE_TABLE_GPU, &row);
	return EMIT_DONE;
}
