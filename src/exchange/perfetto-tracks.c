#include "exchange/perfetto-tracks.h"

#include "exchange/proto.h"
#include "model/dimensions.h"

#include <errno.h>
#include <string.h>

/* Fields of Perfetto's messages, by the names in its protos/. */
enum {
	TRACE_PACKET = 1,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	INTERNED_IID = 1,
	INTERNED_NAME = 2,
	STATE_CLEARED = 1,
	NEEDS_STATE = 2
};

#define LANES_MAX 256 /* per track; slices that do not fit are drawn in the last */

enum track { TRACK_OF_PROCESS = 1, TRACK_OF_THREAD, TRACK_OF_COUNTER, TRACK_OF_QUEUE, TRACK_OF_LANE };

/* Loads the names of processes and threads. */

static int note(struct map *map, const void *key, size_t n, uint64_t value)
{
	uint64_t *place = map_put(map, key, n, NULL);

	if (!place)
		return -ENOMEM;
	*place = value;
	return 0;
}

static int record_thread(struct perfetto *p, int64_t pid, int64_t tid, int64_t name)
{
	int64_t key[2] = { pid, tid };

	return name == STORE_NULL ? 0 : note(&p->thread_names, key, sizeof(key), (uint64_t)name + 1);
}

static int load_tasks(struct perfetto *p)
{
	struct store_table *t = model_table(p->run, STORE_TABLE_TASK);
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t b = 0; t && rc == 0 && b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue; /* reported by model_losses */
		for (size_t i = 0; rc == 0 && i < batch.rows; i++) {
			struct store_task row;

			store_get_task(&batch, i, &row);
			rc = record_thread(p, row.pid, row.tid, row.name);
			if (rc == 0 && row.pid == row.tid && row.name != STORE_NULL)
				rc = note(&p->process_names, &row.pid, sizeof(row.pid), (uint64_t)row.name + 1);
		}
	}
	store_batch_release(&batch);
	return rc;
}

int perfetto_tracks_load(struct perfetto *p, struct sonde_err *err)
{
	size_t count;
	const struct store_process *processes = model_processes(p->run, &count);
	int rc = load_tasks(p);

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = note(&p->processes, &processes[i].pid, sizeof(processes[i].pid), i + 1);
	const struct store_thread *threads = model_threads(p->run, &count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = record_thread(p, threads[i].pid, threads[i].tid, threads[i].name);
	return rc < 0 ? err_sys(err, -rc, "cannot load the threads") : 0;
}

void perfetto_release(struct perfetto *p)
{
	struct map *const maps[] = { &p->names[0], &p->names[1], &p->names[2], &p->processes, &p->thread_names,
		&p->process_names, &p->tracks };
	struct buf *const bufs[] = { &p->packet, &p->event, &p->inner };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		map_release(maps[i]);
	for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
		buf_release(bufs[i]);
	nest_release(&p->lanes);
}

/* Packets. */

void perfetto_packet(struct perfetto *p)
{
	unsigned char head[12];
	size_t n = 0;
	uint64_t bytes;

	proto_uint(&p->packet, PACKET_SEQUENCE, 1);
	proto_uint(&p->packet, PACKET_FLAGS, p->has_begun ? NEEDS_STATE : STATE_CLEARED);
	p->has_begun = true;
	head[n++] = TRACE_PACKET << 3 | 2;
	for (bytes = p->packet.len; bytes >= 0x80; bytes >>= 7)
		head[n++] = (unsigned char)(bytes | 0x80);
	head[n++] = (unsigned char)bytes;
	if (p->error == 0 && buf_error(&p->packet))
		p->error = -ENOMEM;
	if (p->error == 0 &&
			(fwrite(head, 1, n, p->out) != n ||
					fwrite(p->packet.data, 1, p->packet.len, p->out) != p->packet.len))
		p->error = errno ? -errno : -EIO;
	buf_reset(&p->packet);
}

/* Names. */

uint64_t perfetto_name(struct perfetto *p, enum perfetto_name kind, const char *text, size_t n)
{
	static const unsigned fields[] = { [PERFETTO_CATEGORY] = 1, [PERFETTO_EVENT] = 2, [PERFETTO_ARGUMENT] = 3 };
	uint64_t *number = map_put(&p->names[kind], text, n, NULL);
	struct buf name = BUF_INIT, interned = BUF_INIT, packet;

	if (!number) {
		p->error = p->error ? p->error : -ENOMEM;
		return 0;
	}
	if (*number)
		return *number;
	*number = p->names[kind].count;
	proto_uint(&name, INTERNED_IID, *number);
	proto_text(&name, INTERNED_NAME, text, n);
	proto_message(&interned, fields[kind], &name);
	/* A separate packet, before the one being written. */
	packet = p->packet;
	p->packet = (struct buf)BUF_INIT;
	proto_message(&p->packet, PACKET_INTERNED, &interned);
	perfetto_packet(p);
	buf_release(&p->packet);
	p->packet = packet;
	buf_release(&name);
	buf_release(&interned);
	return *number;
}

/* Tracks. */

/* The slot for the number of a track; *is_new: it must be described. */
static uint64_t track_of(struct perfetto *p, enum track kind, int64_t a, int64_t b, bool *is_new)
{
	int64_t key[3] = { kind, a, b };
	uint64_t *number = map_put(&p->tracks, key, sizeof(key), is_new);

	if (!number) {
		p->error = p->error ? p->error : -ENOMEM;
		*is_new = false;
		return 0;
	}
	if (*is_new)
		*number = p->tracks.count;
	return *number;
}

static void describe(struct perfetto *p, const struct buf *track)
{
	proto_message(&p->packet, PACKET_TRACK, track);
	perfetto_packet(p);
}

static void add_name(struct perfetto *p, struct buf *out, unsigned field, int64_t id)
{
	const struct store_text *text = model_name(p->run, id);

	if (text)
		proto_text(out, field, text->data, text->bytes);
}

static uint64_t process_track(struct perfetto *p, int64_t pid)
{
	struct buf process = BUF_INIT, track = BUF_INIT;
	const uint64_t *index = map_get(&p->processes, &pid, sizeof(pid));
	const struct store_process *row = NULL;
	bool is_new;
	uint64_t number = track_of(p, TRACK_OF_PROCESS, pid, 0, &is_new);

	if (!is_new)
		return number;
	if (index) {
		size_t count;

		row = &model_processes(p->run, &count)[*index - 1];
	}
	proto_int(&process, PROCESS_PID, (int32_t)pid);
	const struct store_text *exe = row ? model_name(p->run, row->exe) : NULL;
	const uint64_t *seen = map_get(&p->process_names, &pid, sizeof(pid));
	const char *slash = exe ? strrchr(exe->data, '/') : NULL;
	if (exe)
		proto_str(&process, PROCESS_NAME, slash && slash[1] ? slash + 1 : exe->data);
	else if (seen)
		add_name(p, &process, PROCESS_NAME, (int64_t)*seen - 1);
	if (row && row->argv) {
		const char *at = row->argv->data, *end = at + row->argv->bytes;
		while (at < end) {
			const char *nul = memchr(at, '\0', (size_t)(end - at));
			const char *to = nul ? nul : end;
			proto_text(&process, PROCESS_CMDLINE, at, (size_t)(to - at));
			at = to + 1;
		}
	}
	proto_uint(&track, TRACK_UUID, number);
	proto_message(&track, TRACK_PROCESS, &process);
	describe(p, &track);
	buf_release(&process);
	buf_release(&track);
	return number;
}

uint64_t perfetto_thread(struct perfetto *p, int64_t pid, int64_t tid)
{
	struct buf thread = BUF_INIT, track = BUF_INIT;
	int64_t key[2] = { pid, tid };
	const uint64_t *name = map_get(&p->thread_names, key, sizeof(key));
	uint64_t parent = process_track(p, pid), number;
	bool is_new;

	number = track_of(p, TRACK_OF_THREAD, pid, tid, &is_new);
	if (!is_new)
		return number;
	proto_int(&thread, THREAD_PID, (int32_t)pid);
	proto_int(&thread, THREAD_TID, (int32_t)tid);
	if (name)
		add_name(p, &thread, THREAD_NAME, (int64_t)*name - 1);
	proto_uint(&track, TRACK_UUID, number);
	proto_uint(&track, TRACK_PARENT, parent);
	proto_message(&track, TRACK_THREAD, &thread);
	describe(p, &track);
	buf_release(&thread);
	buf_release(&track);
	return number;
}

uint64_t perfetto_counter(struct perfetto *p, int64_t pid, int64_t name)
{
	struct buf counter = BUF_INIT, track = BUF_INIT;
	uint64_t parent = pid == STORE_NULL ? 0 : process_track(p, pid), number;
	bool is_new;

	number = track_of(p, TRACK_OF_COUNTER, pid, name, &is_new);
	if (!is_new)
		return number;
	proto_uint(&track, TRACK_UUID, number);
	add_name(p, &track, TRACK_NAME, name);
	if (parent)
		proto_uint(&track, TRACK_PARENT, parent);
	proto_message(&track, TRACK_COUNTER, &counter);
	describe(p, &track);
	buf_release(&track);
	return number;
}

/* A queue is identified by its process's track, its device and its number. */
uint64_t perfetto_queue(struct perfetto *p, int64_t pid, int64_t device, int64_t queue)
{
	struct buf track = BUF_INIT, name = BUF_INIT;
	const char *device_name = model_cname(p->run, device);
	uint64_t parent = process_track(p, pid), number;
	bool is_new;

	buf_addf(&name, "%s", device_name ? device_name : "device");
	if (queue != STORE_NULL)
		buf_addf(&name, ", queue %lld", (long long)queue);
	number = track_of(p, TRACK_OF_QUEUE, (int64_t)(parent << 32 | ((uint64_t)device & 0xffffffff)), queue, &is_new);
	if (is_new) {
		proto_uint(&track, TRACK_UUID, number);
		proto_uint(&track, TRACK_PARENT, parent);
		proto_text(&track, TRACK_NAME, name.data, name.len);
		describe(p, &track);
	}
	buf_release(&track);
	buf_release(&name);
	return number;
}

static uint64_t lane_track(struct perfetto *p, uint64_t thread, int64_t lane)
{
	struct buf track = BUF_INIT;
	bool is_new;
	uint64_t number = track_of(p, TRACK_OF_LANE, (int64_t)thread, lane, &is_new);

	if (!is_new)
		return number;
	proto_uint(&track, TRACK_UUID, number);
	proto_uint(&track, TRACK_PARENT, thread);
	proto_str(&track, TRACK_NAME, "overlapping spans");
	describe(p, &track);
	buf_release(&track);
	return number;
}

uint64_t perfetto_lane(struct perfetto *p, uint64_t track, int64_t ts_ns, int64_t *dur_ns)
{
	int fit = NEST_CROSSES;
	int64_t lane = -1;

	while (fit == NEST_CROSSES && lane < LANES_MAX)
		fit = nest_add(&p->lanes, (int64_t)track, ++lane, ts_ns, dur_ns);
	if (fit < 0)
		p->error = fit;
	return lane ? lane_track(p, track, lane) : track;
}
