/*
 * Lanes as the timeline draws them: at most one item per bin.
 *
 * The window is divided into bins. A slice at least one bin long is an item; shorter slices that begin in the same
 * bin are merged into a cell: the busy fraction, and the name of the longest one. Per lane, little-endian:
 *
 *   u32 'SLC2', u32 lanes, i64 from_ns, i64 unit_ns (an eighth of a bin)
 *   lane: u32 number, u32 items, u32 bytes, then that many bytes:
 *   item: varint gap << 2 | kind, in units since the end of the previous item (the first: since from), then
 *         0, a slice:  varint length in units, varint name
 *         1, a cell:   u8 busy of 255, varint name; up to the end of its bin
 *         2, a run:    varint bins, u8 busy of 255, varint name; equal cells, from the start of a bin
 *
 * Where many events are shorter than a bin, those of a node are distributed evenly over its bins: a run. In a window
 * with few events this requires several per bin; in a window with very many it requires as many events as bins, and
 * neighbors are merged, so that the cost of a window is bounded by its pixels.
 */
#include <jansson.h>

#include "model/dimensions.h"
#include "serve/run-api-private.h"

#include <errno.h>
#include <string.h>

#define UNITS_SHIFT 3
#define UNITS (1 << UNITS_SHIFT) /* per bin */
#define MAGIC 0x32434c53u
#define BYTES 4096
#define WIDE 16 /* maximum bins of a run if there are very many events */
#define FEW_WIDE 4
#define FEW_DENSE 4 /* minimum events per bin of a run if there are few */
#define FEW 150000  /* maximum events of a window with "few" events */
#define LONG 3      /* minimum bins of an event that is drawn separately if there are very many */
#define ITEM_BYTES_MAX 32

enum { SLICE, CELL, RUN };

struct raster {
	struct buf *out;
	int64_t from_ns, to_ns, bin_ns, unit_ns;
	int64_t at; /* end of the last item, in units */
	uint32_t items;
	int shift; /* log2 of the bin; -1: not a power of two */
	double per_bin;
	bool is_full; /* the window has very many events */
	/* output buffer: a call per byte would dominate the cost */
	char bytes[BYTES];
	size_t filled;
	/* the current cell; bin -1: none */
	int64_t cell, busy_ns, longest_ns;
	uint32_t name;
};

static void flush(struct raster *r)
{
	buf_add(r->out, r->bytes, r->filled);
	r->filled = 0;
}

static inline void add_varint(struct raster *r, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		r->bytes[r->filled++] = (char)(v | 0x80);
	r->bytes[r->filled++] = (char)v;
}

/* Number of whole bins, and of units, before an instant. */
static inline int64_t bins_before(const struct raster *r, int64_t ns)
{
	return r->shift >= 0 ? ns >> r->shift : ns / r->bin_ns;
}

static inline int64_t units_before(const struct raster *r, int64_t ns)
{
	return r->shift >= 0 ? ns >> (r->shift - UNITS_SHIFT) : ns / r->unit_ns;
}

static void add_start(struct raster *r, int64_t start, unsigned kind)
{
	int64_t gap = start > r->at ? start - r->at : 0;

	if (r->filled + ITEM_BYTES_MAX > BYTES)
		flush(r);
	add_varint(r, (uint64_t)gap << 2 | kind);
	r->at += gap;
	r->items++;
}

/* Busy fraction as 0..255; a nonzero fraction is never written as 0. */
static void add_busy(struct raster *r, double share)
{
	int busy = share >= 1 ? 255 : (int)(share * 255);

	r->bytes[r->filled++] = (char)(busy > 0 ? busy : 1);
}

static void flush_cell(struct raster *r)
{
	int64_t start = r->cell * UNITS, end = start + UNITS;

	if (r->cell < 0)
		return;
	if (r->at < end) { /* else an earlier slice covers it */
		add_start(r, start, CELL);
		add_busy(r, (double)r->busy_ns * r->per_bin);
		add_varint(r, r->name);
		r->at = end;
	}
	r->cell = -1;
}

static void gather(struct raster *r, int64_t start_ns, int64_t busy_ns, int64_t longest_ns, uint32_t name)
{
	int64_t bin = start_ns <= r->from_ns ? 0 : bins_before(r, start_ns - r->from_ns);

	if (bin != r->cell) {
		flush_cell(r);
		r->cell = bin;
		r->busy_ns = 0;
		r->longest_ns = -1;
	}
	if (__builtin_add_overflow(r->busy_ns, busy_ns, &r->busy_ns))
		r->busy_ns = INT64_MAX;
	if (longest_ns > r->longest_ns) {
		r->longest_ns = longest_ns;
		r->name = name;
	}
}

/* Adds bins [first, end) with equal contents, except those that an earlier slice covers. */
static void add_run(struct raster *r, int64_t first, int64_t end, double share, uint32_t name)
{
	flush_cell(r);
	if (first * UNITS < r->at)
		first = (r->at + UNITS - 1) / UNITS;
	if (end <= first)
		return;
	add_start(r, first * UNITS, RUN);
	add_varint(r, (uint64_t)(end - first));
	add_busy(r, share);
	add_varint(r, name);
	r->at = end * UNITS;
}

/* Distributes many short events evenly over a few bins. */
static void spread(struct raster *r, const struct pyramid_node *node, int64_t span_ns)
{
	double share = (double)node->busy_ns / (double)span_ns;
	int64_t from_ns = node->start_ns > r->from_ns ? node->start_ns : r->from_ns;
	int64_t to_ns = node->end_ns < r->to_ns ? node->end_ns : r->to_ns;
	int64_t first = bins_before(r, from_ns - r->from_ns), last = bins_before(r, to_ns - r->from_ns);
	int64_t edge_ns = r->from_ns + (first + 1) * r->bin_ns;

	if (last <= first) {
		gather(r, from_ns, (int64_t)((double)(to_ns - from_ns) * share), node->longest_ns, node->name);
		return;
	}
	gather(r, from_ns, (int64_t)((double)(edge_ns - from_ns) * share), node->longest_ns, node->name);
	if (last > first + 1)
		add_run(r, first + 1, last, share, node->name);
	edge_ns = r->from_ns + last * r->bin_ns;
	if (to_ns > edge_ns)
		gather(r, edge_ns, (int64_t)((double)(to_ns - edge_ns) * share), node->longest_ns, node->name);
}

/*
 * Whether the events are so short and so many that their individual positions do not matter, or one long event fills
 * almost the whole node.
 */
static bool is_even(const struct raster *r, const struct pyramid_node *node, int64_t span_ns)
{
	int64_t bins = bins_before(r, span_ns), long_ns = LONG * r->bin_ns;

	return r->is_full ? (node->longest_ns < long_ns || span_ns - node->longest_ns < long_ns) &&
					(int64_t)node->count >= bins
			  : node->longest_ns < r->bin_ns && (int64_t)node->count >= FEW_DENSE * bins;
}

/*
 * A node within one bin is added to its cell. A wider one is descended into, unless it has too many events to
 * distinguish, or was merged (no children).
 */
static int on_node(void *arg, const struct pyramid_node *node)
{
	struct raster *r = arg;
	int64_t span_ns = node->end_ns - node->start_ns;

	if (span_ns <= r->bin_ns)
		gather(r, node->start_ns, node->busy_ns, node->longest_ns, node->name);
	else if (!node->children || is_even(r, node, span_ns))
		spread(r, node, span_ns);
	else
		return PYRAMID_DEEPER;
	return 0;
}

static int on_slice(void *arg, const struct pyramid_slice *s)
{
	struct raster *r = arg;
	int64_t end_ns, start, end;

	if (s->dur_ns < r->bin_ns) {
		gather(r, s->start_ns, s->dur_ns, s->dur_ns, s->name);
		return 0;
	}
	flush_cell(r);
	if (__builtin_add_overflow(s->start_ns, s->dur_ns, &end_ns) || end_ns > r->to_ns)
		end_ns = r->to_ns;
	start = s->start_ns <= r->from_ns ? 0 : units_before(r, s->start_ns - r->from_ns);
	end = units_before(r, end_ns - r->from_ns + r->unit_ns - 1);
	if (start < r->at)
		start = r->at;
	if (end <= start)
		return 0;
	add_start(r, start, SLICE);
	add_varint(r, (uint64_t)(end - start));
	add_varint(r, s->name);
	r->at = end;
	return 0;
}

static void put_u32(struct buf *out, size_t place, uint32_t v)
{
	if (buf_error(out) == 0)
		memcpy(out->data + place, &v, sizeof(v));
}

static int add_lane(const struct run_api *v, struct raster *r, uint32_t lane)
{
	int64_t wide = r->is_full ? WIDE : FEW_WIDE;
	struct pyramid_visit visit = { .from_ns = r->from_ns,
		.to_ns = r->to_ns,
		.resolution_ns = r->bin_ns > INT64_MAX / wide ? r->bin_ns : wide * r->bin_ns,
		.merge_long_ns = LONG * r->bin_ns,
		.merge_gap_ns = r->is_full ? r->bin_ns : 0,
		.arg = r,
		.node = on_node,
		.slice = on_slice };
	uint32_t head[3] = { lane, 0, 0 };
	size_t place = r->out->len;
	int rc;

	r->at = 0;
	r->items = 0;
	r->cell = -1;
	buf_add(r->out, head, sizeof(head));
	rc = pyramid_visit(v->pyramid, lane, &visit);
	flush_cell(r);
	flush(r);
	put_u32(r->out, place + 4, r->items);
	put_u32(r->out, place + 8, (uint32_t)(r->out->len - place - sizeof(head)));
	return rc;
}

int run_api_query_bins(const struct run_api *v, const struct run_api_query *q, struct run_api_window *w,
		int64_t *bin_ns, struct sonde_err *err)
{
	int rc = run_api_query_window(v, q, w, err);

	if (rc < 0)
		return rc;
	*bin_ns = (w->to_ns - w->from_ns) / 1024 / UNITS * UNITS + UNITS;
	rc = run_api_query_int(q, "bin", UNITS, INT64_MAX / 4, bin_ns, err);
	if (rc < 0)
		return rc;
	if (*bin_ns % UNITS)
		return err_set(err, EINVAL, "'bin' must be a multiple of %d ns", UNITS);
	if ((w->to_ns - w->from_ns) / *bin_ns > VIEW_BINS_MAX)
		return err_set(err, EINVAL, "this window has more than %d bins", VIEW_BINS_MAX);
	return 0;
}

/* Estimates the number of events of these lanes in the window, assuming that each lane is evenly filled. */
static double events_in(const struct run_api *v, const struct run_api_window *w, const uint32_t *lanes, size_t count)
{
	double events = 0;
	size_t all;
	const struct pyramid_lane *l = pyramid_lanes(v->pyramid, &all);

	for (size_t i = 0; i < count; i++) {
		const struct pyramid_node *root = &l[lanes[i]].root;
		double from = (double)(root->start_ns > w->from_ns ? root->start_ns : w->from_ns);
		double to = (double)(root->end_ns < w->to_ns ? root->end_ns : w->to_ns);
		double length = (double)root->end_ns - (double)root->start_ns;

		if (to > from)
			events += (double)root->count * (length > 0 ? (to - from) / length : 1);
	}
	return events;
}

int run_api_write_slices(const struct run_api *v, const struct run_api_window *w, int64_t bin_ns, const uint32_t *lanes,
		size_t count, struct buf *out)
{
	struct raster r = { .out = out,
		.from_ns = w->from_ns,
		.to_ns = w->to_ns,
		.bin_ns = bin_ns,
		.unit_ns = bin_ns / UNITS,
		.per_bin = 1 / (double)bin_ns,
		.is_full = events_in(v, w, lanes, count) > FEW,
		.shift = (bin_ns & (bin_ns - 1)) ? -1 : __builtin_ctzll((unsigned long long)bin_ns) };
	uint32_t head[2] = { MAGIC, (uint32_t)count };
	int64_t times[2] = { w->from_ns - v->start_ns, r.unit_ns };
	int rc = 0;

	buf_add(out, head, sizeof(head));
	buf_add(out, times, sizeof(times));
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_lane(v, &r, lanes[i]);
	return rc;
}

int run_api_answer_slices(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct run_api_window w;
	struct run_api_lanes lanes;
	int64_t bin_ns;
	int rc = run_api_query_bins(v, q, &w, &bin_ns, err);

	if (rc == 0)
		rc = run_api_query_lanes(v, q, &lanes, err);
	if (rc < 0)
		return rc;
	rc = run_api_write_slices(v, &w, bin_ns, lanes.numbers, lanes.count, out);
	return rc < 0 ? err_set(err, EBADMSG, "the pyramid is damaged: 'sonde clean' removes it") : 0;
}

/*
 * Arrows between threads: which thread started a process, and which one woke a thread.
 *
 * A process begins at its parent's thread. An off-CPU interval ends because its waker thread woke it; the waker is
 * known if the kernel's tracepoints were available.
 */

#define FLOWS_DEFAULT 1000

struct flows {
	struct json j;
	const struct run_api *v;
	struct run_api_window w;
	int64_t count, limit;
};

static void write_int(struct json *j, int64_t n)
{
	if (n == STORE_NULL)
		json_null(j);
	else
		json_int(j, n);
}

struct end {
	int64_t ts_ns, process, tid;
};

/* false: the limit was reached. */
static bool add(struct flows *f, const char *kind, const struct end *from, const struct end *to)
{
	if (from->ts_ns >= f->w.to_ns || to->ts_ns < f->w.from_ns)
		return true;
	if (f->count++ >= f->limit)
		return false;
	json_array(&f->j);
	json_str(&f->j, kind);
	json_int(&f->j, from->ts_ns - f->v->start_ns);
	write_int(&f->j, from->process);
	write_int(&f->j, from->tid);
	json_int(&f->j, to->ts_ns - f->v->start_ns);
	write_int(&f->j, to->process);
	write_int(&f->j, to->tid);
	json_end(&f->j);
	return true;
}

/*
 * An exec creates a new process entry with the same pid: no arrow. A running parent may have no row yet, but its pid
 * is known.
 */
static void add_spawns(struct flows *f)
{
	size_t count;
	const struct store_process *all = model_processes(f->v->run, &count);

	for (size_t i = 0; i < count; i++) {
		const struct store_process *p = &all[i];
		const struct store_process *parent = p->parent == STORE_NULL ? NULL
									     : model_process(f->v->run, p->parent);
		struct end to = { p->start_ns, p->process, p->pid };
		struct end from = { p->start_ns, p->parent, parent ? parent->pid : p->ppid };

		if (from.process == STORE_NULL || from.tid == to.tid || to.ts_ns == STORE_NULL)
			continue;
		if (!add(f, "spawn", &from, &to))
			return;
	}
}

static int on_waits(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct flows *f = arg;
	const struct store_column *c = b->columns;

	for (size_t i = 0; i < b->rows; i++) {
		struct end from = { c[STORE_SCHED_wake_ns].ints[i], STORE_NULL, c[STORE_SCHED_waker_tid].ints[i] };
		struct end to = { 0, c[STORE_SCHED_process].ints[i], c[STORE_SCHED_tid].ints[i] };
		int64_t dur_ns = c[STORE_SCHED_dur_ns].ints[i];

		if (from.ts_ns == STORE_NULL || from.tid == STORE_NULL || from.tid <= 0 || dur_ns == STORE_NULL ||
				from.tid == to.tid ||
				__builtin_add_overflow(c[STORE_SCHED_ts_ns].ints[i], dur_ns, &to.ts_ns))
			continue;
		if (!add(f, "wake", &from, &to))
			return 1;
	}
	return 0;
}

/* Arguments from, to, limit: ["spawn" or "wake", time, process, thread, time, process, thread] per arrow. */
int run_api_answer_flows(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct flows f = { .v = v, .limit = FLOWS_DEFAULT };
	int rc = run_api_query_window(v, q, &f.w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &f.limit, err);
	if (rc < 0)
		return rc;
	struct store_scan_opts opts = { .has_range = true, .from_ns = f.w.from_ns, .to_ns = f.w.to_ns, .threads = 1 };

	pthread_mutex_lock(&v->model);
	json_init(&f.j, out, false);
	json_object(&f.j);
	json_karray(&f.j, "flows");
	add_spawns(&f);
	if (model_table(v->run, STORE_TABLE_SCHED))
		rc = store_scan(model_table(v->run, STORE_TABLE_SCHED), &opts, on_waits, &f, err);
	json_end(&f.j);
	json_kbool(&f.j, "is_all", f.count <= f.limit);
	json_end(&f.j);
	pthread_mutex_unlock(&v->model);
	return rc < 0 ? rc : 0;
}
