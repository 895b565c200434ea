/*
 * The block probe: latency of requests to block devices, from the block layer's tracepoints.
 *
 * A request is optionally inserted into a queue, issued to the device (perhaps requeued and issued again) and
 * completed, the last in an interrupt on any CPU, in the context of any process: so the events are system-wide. A
 * request is identified by its device and first sector; after a partial completion it continues at the next sector.
 *
 * If the hypervisor stops a CPU between taking the timestamp of an issue and writing the record, the completion may
 * arrive first, from another CPU's ring. So completions of unknown requests are kept for a while.
 */
#include "base/clock.h"
#include "base/json.h"
#include "probe/perf/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 1024
#define PENDING_MAX 65536
#define DEVICES_MAX 64
#define SECTOR 512
#define EARLY_MAX 256 /* completions that arrived before their issue */

const struct probe_ops probe_block;

enum { INSERT, ISSUE, REQUEUE, COMPLETE, POINTS };

struct fields {
	size_t dev, sector, count, bytes, error, rwbs, comm;
};

struct request {
	struct request *next; /* in the same slot */
	uint64_t sector;
	uint32_t dev;
	int64_t insert_ns;
	struct store_block row;
};

struct early {
	uint32_t dev, count;
	uint64_t sector;
	int64_t ts_ns, errnum;
};

struct block {
	struct probe_host *host;
	struct perf_source *source;
	struct perf_point points[POINTS];
	struct fields fields[POINTS];
	struct request *slots[SLOTS];
	size_t pending;
	int64_t since_ns; /* completions are seen on every CPU from this time on */
	struct {
		uint32_t dev;
		int64_t name;
	} devices[DEVICES_MAX];
	size_t device_count;
	struct early early[EARLY_MAX];
	size_t early_count; /* total so far: the oldest is overwritten */
	uint64_t rows, lost, endless;
};

static uint32_t get32(const uint8_t *raw, size_t bytes, size_t at)
{
	uint32_t v = 0;
	if (at + sizeof(v) <= bytes)
		memcpy(&v, raw + at, sizeof(v));
	return v;
}

static uint64_t get64(const uint8_t *raw, size_t bytes, size_t at)
{
	uint64_t v = 0;
	if (at + sizeof(v) <= bytes)
		memcpy(&v, raw + at, sizeof(v));
	return v;
}

/* Copies a string of at most `max` bytes; returns its length. */
static size_t text_at(const uint8_t *raw, size_t bytes, size_t at, size_t max, char *out)
{
	size_t n = 0;
	for (; at + n < bytes && n < max && raw[at + n]; n++)
		out[n] = (char)raw[at + n];
	out[n] = '\0';
	return n;
}

/* The kernel's internal device number has 20 bits for the minor number. */
static int64_t device_name(struct block *b, uint32_t dev)
{
	char path[64], to[256];
	for (size_t i = 0; i < b->device_count; i++)
		if (b->devices[i].dev == dev)
			return b->devices[i].name;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = '\0';
	const char *name = strrchr(to, '/');
	int64_t id = store_strings_of(&b->host->sink->strings, name ? name + 1 : path + strlen("/sys/dev/block/"));
	if (b->device_count < DEVICES_MAX) {
		b->devices[b->device_count].dev = dev;
		b->devices[b->device_count++].name = id;
	}
	return id;
}

static struct request **slot_of(struct block *b, uint32_t dev, uint64_t sector)
{
	return &b->slots[(sector * 0x9e3779b97f4a7c15ull >> 40 ^ dev) % SLOTS];
}

/* Returns the link to the oldest matching request, or the end of its slot. */
static struct request **find(struct block *b, uint32_t dev, uint64_t sector)
{
	struct request **at = slot_of(b, dev, sector);
	while (*at && ((*at)->sector != sector || (*at)->dev != dev))
		at = &(*at)->next;
	return at;
}

static void emit(struct block *b, struct request **at)
{
	struct request *q = *at;
	*at = q->next;
	b->pending--;
	if (q->row.ts_ns != STORE_NULL) {
		store_sink_add(b->host->sink, STORE_TABLE_BLOCK, &q->row);
		b->rows++;
	}
	free(q);
}

static struct request *add(struct block *b, uint32_t dev, uint64_t sector)
{
	struct request **at = slot_of(b, dev, sector);
	struct request *q = b->pending < PENDING_MAX ? calloc(1, sizeof(*q)) : NULL;
	if (!q) {
		b->lost++;
		return NULL;
	}
	while (*at)
		at = &(*at)->next;
	*q = (struct request){ .sector = sector, .dev = dev, .insert_ns = STORE_NULL, .row = store_block_nulls };
	*at = q;
	b->pending++;
	return q;
}

static void end_request(struct block *b, struct request **at, const struct early *end)
{
	struct request *q = *at;
	int64_t left = q->row.sector + q->row.bytes / SECTOR - (int64_t)q->sector - end->count;
	if (left > 0 && q->row.bytes) {
		*at = q->next;
		q->sector += end->count;
		q->next = NULL;
		for (at = slot_of(b, q->dev, q->sector); *at; at = &(*at)->next)
			;
		*at = q;
		return;
	}
	q->row.dur_ns = end->ts_ns - q->row.ts_ns;
	q->row.errnum = end->errnum;
	emit(b, at);
}

static void on_complete(struct block *b, const struct fields *f, const struct perf_record *r, const uint8_t *raw,
		size_t bytes)
{
	struct early end = { .dev = get32(raw, bytes, f->dev),
		.sector = get64(raw, bytes, f->sector),
		.count = get32(raw, bytes, f->count),
		.ts_ns = r->ts_ns,
		.errnum = f->error ? -(int32_t)get32(raw, bytes, f->error) : STORE_NULL };
	struct request **at = find(b, end.dev, end.sector);
	if (*at && (*at)->row.ts_ns != STORE_NULL)
		end_request(b, at, &end);
	else /* issued before the recording, or its issue is late */
		b->early[b->early_count++ % EARLY_MAX] = end;
}

/* The completion of a request that was just issued may have arrived before. */
static void match_early(struct block *b, uint32_t dev, uint64_t sector, int64_t issue_ns)
{
	for (size_t i = 0; i < EARLY_MAX && i < b->early_count; i++) {
		struct early *end = &b->early[i];
		if (end->dev != dev || end->sector != sector || end->ts_ns <= issue_ns)
			continue;
		struct request **at = find(b, dev, sector);
		if (*at && (*at)->row.ts_ns != STORE_NULL)
			end_request(b, at, end);
		*end = (struct early){ 0 };
		return;
	}
}

static void on_start(struct block *b, const struct fields *f, const struct perf_record *r, const uint8_t *raw,
		size_t bytes, bool is_issue)
{
	char rwbs[16], comm[17];
	uint32_t dev = get32(raw, bytes, f->dev);
	uint64_t sector = get64(raw, bytes, f->sector);
	struct request *known = *find(b, dev, sector);
	if (known && known->row.ts_ns != STORE_NULL)
		known = NULL; /* a second one for the same sector is queued behind it */
	struct request *q = known ? known : add(b, dev, sector);
	if (!q)
		return;
	text_at(raw, bytes, f->rwbs, sizeof(rwbs) - 1, rwbs);
	text_at(raw, bytes, f->comm, sizeof(comm) - 1, comm);
	if (!known) {
		q->row.process = probe_process(b->host, r->pid, r->ts_ns);
		q->row.pid = r->pid;
		q->row.tid = r->tid;
		q->row.name = store_strings_of(&b->host->sink->strings, comm);
	}
	q->row.device = device_name(b, dev);
	q->row.sector = (int64_t)sector;
	q->row.bytes = get32(raw, bytes, f->count) ? (int64_t)get32(raw, bytes, f->count) * SECTOR
						   : get32(raw, bytes, f->bytes);
	const char *word = *rwbs == 'F' ? "flush" : strchr(rwbs, 'D') ? "discard" : NULL;
	if (!word)
		word = strchr(rwbs, 'W') ? "write" : strchr(rwbs, 'R') ? "read" : "other";
	q->row.rw = store_strings_of(&b->host->sink->strings, word);
	q->row.flags = store_strings_of(&b->host->sink->strings, rwbs);
	if (!is_issue) {
		q->insert_ns = r->ts_ns;
	} else {
		q->row.ts_ns = r->ts_ns;
		q->row.queue_ns = q->insert_ns == STORE_NULL ? STORE_NULL : r->ts_ns - q->insert_ns;
		match_early(b, dev, sector, r->ts_ns);
	}
}

/* The device was busy: the request will be issued again. */
static void on_requeue(struct block *b, const struct fields *f, const uint8_t *raw, size_t bytes)
{
	struct request *q = *find(b, get32(raw, bytes, f->dev), get64(raw, bytes, f->sector));
	if (q)
		q->row.ts_ns = STORE_NULL;
}

static void on_point(void *state, const struct perf_point *p, const struct perf_record *r, const uint8_t *raw,
		size_t bytes)
{
	struct block *b = state;
	ptrdiff_t i = p - b->points;
	if (r->ts_ns < b->since_ns)
		return;
	if (i == REQUEUE)
		on_requeue(b, &b->fields[i], raw, bytes);
	else if (i == COMPLETE)
		on_complete(b, &b->fields[i], r, raw, bytes);
	else
		on_start(b, &b->fields[i], r, raw, bytes, i == ISSUE);
}

static bool on_format(void *state, struct perf_point *p, const char *format)
{
	struct block *b = state;
	struct fields *f = &b->fields[p - b->points];
	bool has_all = perf_point_field(format, " dev;", &f->dev) && perf_point_field(format, " sector;", &f->sector) &&
			perf_point_field(format, " nr_sector;", &f->count) &&
			perf_point_field(format, " rwbs[", &f->rwbs);
	if (p == &b->points[REQUEUE])
		return has_all;
	if (p == &b->points[COMPLETE])
		return has_all && perf_point_field(format, " error;", &f->error);
	return has_all && perf_point_field(format, " bytes;", &f->bytes) &&
			perf_point_field(format, " comm[", &f->comm);
}

static int open_block(struct probe_host *host, void **state, struct sonde_err *err)
{
	static const char *const names[] = { [INSERT] = "block_rq_insert",
		[ISSUE] = "block_rq_issue",
		[REQUEUE] = "block_rq_requeue",
		[COMPLETE] = "block_rq_complete" };
	struct perf_source *source = perf_source_get(host);
	struct block *b = source ? calloc(1, sizeof(*b)) : NULL;
	if (!b)
		return err_sys(err, ENOMEM, "cannot watch block devices");
	b->host = host;
	b->source = source;
	for (int i = 0; i < POINTS; i++) {
		b->points[i] = (struct perf_point){ .system = "block",
			.name = names[i],
			.is_wide = true,
			.state = b,
			.on_format = on_format,
			.on_point = on_point };
		perf_source_want(source, &b->points[i]);
	}
	*state = b;
	return 0;
}

static int attach_block(void *state, struct sonde_err *err)
{
	struct block *b = state;
	int rc = perf_source_attach(b->source, err);
	b->since_ns = clock_mono_ns();
	for (int i = 0; !rc && i < POINTS; i++)
		if (!b->points[i].is_open) {
			*err = b->points[i].why;
			err_prefix(err, "single requests are not recorded, disk counters are");
			rc = -EACCES;
		}
	return rc;
}

static size_t block_fds(void *state, int *fds, size_t room)
{
	struct block *b = state;
	bool is_others = b->source->wants.has_samples || b->source->wants.has_switches;
	return is_others ? 0 : perf_source_fds(b->source, fds, room);
}

static uint64_t pass_block(void *state, int64_t now_ns)
{
	struct block *b = state;
	return perf_source_pass(b->source, now_ns, false);
}

static void finish_block(void *state, int64_t now_ns)
{
	struct block *b = state;
	perf_source_pass(b->source, now_ns, true);
	for (size_t i = 0; i < SLOTS; i++)
		while (b->slots[i]) { /* still in flight, or its completion was not reported */
			b->endless += b->slots[i]->row.ts_ns != STORE_NULL;
			emit(b, &b->slots[i]);
		}
	probe_count(b->host, &probe_block, b->rows, b->source->lost + b->lost);
}

static void report_block(void *state, struct json *j)
{
	struct block *b = state;
	json_kuint(j, "devices", b->device_count);
	json_kuint(j, "without_end", b->endless);
}

static void free_block(void *state)
{
	struct block *b = state;
	static struct perf_point nobody; /* placeholder: open events keep their index */
	struct perf_wants *w = &b->source->wants;
	for (size_t i = 0; i < w->point_count; i++)
		if (w->points[i]->state == b)
			w->points[i] = &nobody;
	for (size_t i = 0; i < SLOTS; i++)
		while (b->slots[i])
			emit(b, &b->slots[i]);
	free(b);
}

const struct probe_ops probe_block = {
	.name = "block",
	.doc = "latency of each disk request, by process",
	.open = open_block,
	.attach = attach_block,
	.fds = block_fds,
	.pass = pass_block,
	.finish = finish_block,
	.report = report_block,
	.free = free_block,
};
