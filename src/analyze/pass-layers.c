/*
 * Layers: DFAnalyzer's summary of a job. Allocation, dataset, I/O and compute, a table of layers, views by time and
 * process.
 */
#include "analyze/columns.h"
#include "analyze/io-table.h"
#include "analyze/pass-results.h"
#include "analyze/pass.h"
#include "base/map.h"

#include <errno.h>
#include <string.h>

/*
 * Time covered by layers: a sweep over the interval sets of layer sets (layer-rules.h) sums, for each class and
 * layer, how long it was in progress and how long it was not overlapped by what could hide it: compute for I/O, I/O
 * for compute.
 */
struct layers_times {
	int64_t class_ns[RULES_CLASSES];      /* any layer of the class under way */
	int64_t io_alone_ns, app_io_alone_ns; /* not overlapped by compute */
	int64_t compute_alone_ns;             /* not overlapped by io */
	int64_t compute_without_app_io_ns;
	int64_t any_ns; /* any layer */
	int64_t layer_ns[RULES_LAYERS_MAX];
	int64_t layer_alone_ns[RULES_LAYERS_MAX]; /* not overlapped by compute; for compute layers by io */
};

struct layers_bucket {
	int64_t class_ns[RULES_CLASSES];
};

/* State of a sweep: segments are summed by mask, since few masks recur. */
struct layers_sweep {
	const struct rules *rules;
	struct layers_times times;
	int64_t start_ns, bucket_ns; /* bucket_ns 0: no buckets */
	struct layers_bucket *buckets;
	/* private */
	uint64_t class_sets[RULES_CLASSES], layer_sets[RULES_LAYERS_MAX]; /* sets that belong to it */
	size_t bucket;
	struct {
		uint64_t mask;
		int64_t ns;
	} gathered[64];
};

#define GATHERED (sizeof(((struct layers_sweep *)0)->gathered) / sizeof(((struct layers_sweep *)0)->gathered[0]))

/* buckets: NULL, or ANALYZE_BUCKETS zeroed ones. */
static void layers_sweep_init(struct layers_sweep *s, const struct analyze *a, struct layers_bucket *buckets)
{
	*s = (struct layers_sweep){ .rules = &a->rules, .start_ns = a->start_ns, .bucket_ns = a->bucket_ns };
	s->buckets = a->start_ns == STORE_NULL ? NULL : buckets;
	for (size_t set = 0; set < a->rules.set_count; set++)
		for (size_t l = 0; l < a->rules.count; l++)
			if (a->rules.sets[set] >> l & 1) {
				s->layer_sets[l] |= (uint64_t)1 << set;
				s->class_sets[a->rules.layers[l].class] |= (uint64_t)1 << set;
			}
}

static void add_layer_times(struct layers_sweep *s, uint64_t mask, int64_t ns)
{
	bool has_compute = mask & s->class_sets[RULES_COMPUTE], has_io = mask & s->class_sets[RULES_IO];

	for (size_t l = 0; l < s->rules->count; l++) {
		bool is_hidden = s->rules->layers[l].class == RULES_COMPUTE ? has_io : has_compute;

		if (!(mask & s->layer_sets[l]))
			continue;
		s->times.layer_ns[l] += ns;
		s->times.layer_alone_ns[l] += is_hidden ? 0 : ns;
	}
}

static void add_mask(struct layers_sweep *s, uint64_t mask, int64_t ns)
{
	struct layers_times *t = &s->times;
	bool has[RULES_CLASSES];

	for (int c = 0; c < RULES_CLASSES; c++) {
		has[c] = mask & s->class_sets[c];
		t->class_ns[c] += has[c] ? ns : 0;
		if (s->buckets && has[c])
			s->buckets[s->bucket].class_ns[c] += ns;
	}
	t->any_ns += mask & ~(uint64_t)1 ? ns : 0;
	t->io_alone_ns += has[RULES_IO] && !has[RULES_COMPUTE] ? ns : 0;
	t->app_io_alone_ns += has[RULES_APP_IO] && !has[RULES_COMPUTE] ? ns : 0;
	t->compute_alone_ns += has[RULES_COMPUTE] && !has[RULES_IO] ? ns : 0;
	t->compute_without_app_io_ns += has[RULES_COMPUTE] && !has[RULES_APP_IO] ? ns : 0;
	add_layer_times(s, mask, ns);
}

static void flush_gathered(struct layers_sweep *s)
{
	for (size_t i = 0; i < GATHERED; i++) {
		if (s->gathered[i].ns)
			add_mask(s, s->gathered[i].mask, s->gathered[i].ns);
		s->gathered[i].ns = 0;
	}
}

static void gather(struct layers_sweep *s, uint64_t mask, int64_t ns)
{
	size_t at = (mask * 0x9e3779b97f4a7c15u) >> 58;

	if (s->gathered[at].mask != mask) {
		if (s->gathered[at].ns)
			add_mask(s, s->gathered[at].mask, s->gathered[at].ns);
		s->gathered[at].mask = mask;
		s->gathered[at].ns = 0;
	}
	s->gathered[at].ns += ns;
}

/* Returns the bucket of a timestamp: 0 before the start, the last one after the end. */
static size_t bucket_of(const struct layers_sweep *s, int64_t at_ns)
{
	uint64_t bucket = at_ns <= s->start_ns ? 0 : ((uint64_t)at_ns - (uint64_t)s->start_ns) / (uint64_t)s->bucket_ns;

	return bucket < ANALYZE_BUCKETS ? (size_t)bucket : ANALYZE_BUCKETS - 1;
}

static int64_t bucket_end(const struct layers_sweep *s)
{
	int64_t end;

	if (s->bucket + 1 >= ANALYZE_BUCKETS ||
			__builtin_add_overflow(s->start_ns, (int64_t)(s->bucket + 1) * s->bucket_ns, &end))
		return INT64_MAX;
	return end;
}

static void visit(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	struct layers_sweep *s = arg;

	(void)active;
	while (s->buckets && to > bucket_end(s)) {
		int64_t end = bucket_end(s);

		if (from < end)
			gather(s, mask, end - from);
		from = from < end ? end : from;
		flush_gathered(s);
		s->bucket = from < bucket_end(s) ? s->bucket + 1 : bucket_of(s, from);
	}
	gather(s, mask, to - from);
}

/* Sweeps interval sets; the class of each is its set number. Returns -ENOMEM on failure. */
static int layers_sweep_run(struct layers_sweep *s, const struct engine_sweep_set *sets, size_t count)
{
	int rc = engine_sweep(sets, count, visit, s);

	flush_gathered(s);
	return rc;
}

/* The pass. */

struct layers {
	int io_by_set, io_cover, span_by_set, span_cover;
};

enum { Q_COUNT, Q_DUR, Q_THREADS, Q_BYTES, Q_FILES, Q_SIZES };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct layers *l = state;
	int io_set = analyze_io_column(a, IO_SET), span_set = analyze_span_column(a, SPAN_SET);
	struct engine_query io_by_set = { "layers of calls", 1, { io_set }, ENGINE_NONE, 6,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[Q_THREADS] = { ENGINE_DISTINCT, STORE_IO_tid },
				[Q_BYTES] = { ENGINE_SUM, analyze_io_column(a, IO_BYTES) },
				[Q_FILES] = { ENGINE_DISTINCT, analyze_io_column(a, IO_FILE) },
				[Q_SIZES] = { ENGINE_QUANTILES, analyze_io_column(a, IO_BYTES) } } };
	struct engine_query span_by_set = { "layers of spans", 1, { span_set }, ENGINE_NONE, 3,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[Q_THREADS] = { ENGINE_DISTINCT, STORE_SPAN_tid } } };
	struct engine_query io_cover = { "time of calls", 2, { STORE_IO_process, io_set }, io_set, 1,
		{ { ENGINE_UNION, ENGINE_NONE } } };
	struct engine_query span_cover = { "time of spans", 2, { STORE_SPAN_process, span_set }, span_set, 1,
		{ { ENGINE_UNION, ENGINE_NONE } } };

	(void)err;
	l->io_by_set = analyze_query(a, STORE_TABLE_IO, &io_by_set);
	l->io_cover = analyze_query(a, STORE_TABLE_IO, &io_cover);
	l->span_by_set = analyze_query(a, STORE_TABLE_SPAN, &span_by_set);
	l->span_cover = analyze_query(a, STORE_TABLE_SPAN, &span_cover);
	return 0;
}

/* Answers. */

struct found {
	struct analyze *a;
	const struct engine_groups *by_set[2], *covers[2]; /* of calls, of spans */
	bool has[RULES_CLASSES];                           /* events of such layers */
};

static bool has_layer(const struct found *f, int64_t set, size_t layer)
{
	return f->a->rules.sets[set] >> layer & 1;
}

static bool set_has_class(const struct rules *r, int64_t set, enum rules_class class)
{
	for (size_t l = 0; l < r->count; l++)
		if (r->sets[set] >> l & 1 && r->layers[l].class == class)
			return true;
	return false;
}

static bool has_class(const struct found *f, int64_t set, enum rules_class class)
{
	return set_has_class(&f->a->rules, set, class);
}

static struct found find(struct analyze *a, const struct layers *l)
{
	struct found f = { .a = a };

	f.by_set[0] = analyze_groups(a, STORE_TABLE_IO, l->io_by_set);
	f.by_set[1] = analyze_groups(a, STORE_TABLE_SPAN, l->span_by_set);
	f.covers[0] = analyze_groups(a, STORE_TABLE_IO, l->io_cover);
	f.covers[1] = analyze_groups(a, STORE_TABLE_SPAN, l->span_cover);
	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < f.by_set[t]->count; i++)
			for (int c = 0; c < RULES_CLASSES; c++)
				f.has[c] |= has_class(&f, engine_key(f.by_set[t], i, 0), (enum rules_class)c);
	return f;
}

static int64_t threads_of(const struct found *f, enum rules_class class)
{
	struct engine_group some[2 * RULES_SETS_MAX];
	size_t n = 0;

	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < f->by_set[t]->count; i++)
			if (has_class(f, engine_key(f->by_set[t], i, 0), class))
				some[n++] = (struct engine_group){ f->by_set[t], Q_THREADS, i };
	return f->has[class] ? (int64_t)engine_distinct_of(some, n) : STORE_NULL;
}

/* Counts the events in layers: each once, and once per layer that counts it. */
static void count_events(const struct found *f, int64_t *distinct, int64_t *as_counted)
{
	*distinct = *as_counted = 0;
	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < f->by_set[t]->count; i++) {
			uint32_t set = f->a->rules.sets[engine_key(f->by_set[t], i, 0)];
			int64_t count = (int64_t)engine_count(f->by_set[t], Q_COUNT, i);

			*distinct += set ? count : 0;
			*as_counted += count * __builtin_popcount(set);
		}
}

/* Time. */

/* Interval sets of all processes, or of one. */
static struct engine_sweep_set *sets_of(const struct found *f, bool is_one, int64_t process, size_t *count)
{
	struct engine_sweep_set *sets = arena_alloc(&f->a->arena,
			(f->covers[0]->count + f->covers[1]->count + 1) * sizeof(*sets));

	*count = 0;
	for (int t = 0; sets && t < 2; t++)
		for (size_t i = 0; i < f->covers[t]->count; i++)
			if (!is_one || engine_key(f->covers[t], i, 0) == process)
				sets[(*count)++] = (struct engine_sweep_set){ interval_set(f->covers[t], 0, i),
					(unsigned)engine_key(f->covers[t], i, 1) };
	return sets;
}

bool layers_next_process(const struct analyze *a, size_t *at, int64_t *process, int64_t *io_ns)
{
	const struct layers *l = analyze_state(a, "layers");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, l->io_cover);
	struct engine_sweep_set sets[RULES_SETS_MAX];
	size_t count = 0;

	if (*at >= g->count)
		return false;
	*process = engine_key(g, *at, 0);
	for (; *at < g->count && engine_key(g, *at, 0) == *process; ++*at)
		if (set_has_class(&a->rules, engine_key(g, *at, 1), RULES_IO) && count < RULES_SETS_MAX)
			sets[count++] = (struct engine_sweep_set){ interval_set(g, 0, *at), 0 };
	*io_ns = interval_set_ns(sets, count);
	return true;
}

static void add_times(const struct found *f, struct analyze_section *s, const struct layers_times *t)
{
	bool has_compute = f->has[RULES_COMPUTE], has_io = f->has[RULES_IO];
	bool has_app = f->has[RULES_APP_IO];
	const struct {
		const char *key, *title;
		bool is_known;
		int64_t ns;
	} rows[] = {
		{ "app_io_ns", "application I/O", has_app, t->class_ns[RULES_APP_IO] },
		{ "unoverlapped_app_io_ns", "application I/O, not overlapped by compute", has_app && has_compute,
				t->app_io_alone_ns },
		{ "unoverlapped_app_compute_ns", "compute, not overlapped by application I/O", has_app && has_compute,
				t->compute_without_app_io_ns },
		{ "compute_ns", "compute", has_compute, t->class_ns[RULES_COMPUTE] },
		{ "io_ns", "I/O", has_io, t->class_ns[RULES_IO] },
		{ "unoverlapped_io_ns", "I/O, not overlapped by compute", has_io && has_compute, t->io_alone_ns },
		{ "unoverlapped_compute_ns", "compute, not overlapped by I/O", has_io && has_compute,
				t->compute_alone_ns },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		analyze_int(s, rows[i].key, rows[i].is_known ? rows[i].title : NULL, ANALYZE_NS,
				rows[i].is_known ? rows[i].ns : STORE_NULL);
}

/* Tables. */

static const struct analyze_column layer_columns[] = {
	{ "layer", "LAYER", ANALYZE_TEXT },
	{ "class", "CLASS", ANALYZE_TEXT },
	{ "events", "EVENTS", ANALYZE_COUNT },
	{ "total_ns", "SUM", ANALYZE_NS },
	{ "time_ns", "TIME", ANALYZE_NS },
	{ "unoverlapped_ns", "EXCLUSIVE", ANALYZE_NS },
	{ "bytes", "BYTES", ANALYZE_BYTES },
	{ "files", "FILES", ANALYZE_COUNT },
	{ "again", NULL, ANALYZE_COUNT },
};

static int64_t sum_layer(const struct found *f, size_t layer, unsigned aggregate, bool is_count, int tables)
{
	int64_t sum = 0;

	for (int t = 0; t < tables; t++)
		for (size_t i = 0; i < f->by_set[t]->count; i++)
			if (has_layer(f, engine_key(f->by_set[t], i, 0), layer))
				sum += is_count ? (int64_t)engine_count(f->by_set[t], aggregate, i)
						: engine_sum(f->by_set[t], aggregate, i);
	return sum;
}

static int64_t files_of(const struct found *f, size_t layer)
{
	struct engine_group some[RULES_SETS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < f->by_set[0]->count; i++)
		if (has_layer(f, engine_key(f->by_set[0], i, 0), layer))
			some[n++] = (struct engine_group){ f->by_set[0], Q_FILES, i };
	return (int64_t)engine_distinct_of(some, n);
}

static void add_layers(const struct found *f, struct analyze_section *s, const struct layers_times *times)
{
	const struct rules *rules = &f->a->rules;
	struct analyze_table *t = analyze_table(s, "layers", "Layers", layer_columns,
			sizeof(layer_columns) / sizeof(*layer_columns), 0);

	for (size_t l = 0; l < rules->count; l++) {
		int64_t events = sum_layer(f, l, Q_COUNT, true, 2), total_ns = sum_layer(f, l, Q_DUR, false, 2);
		bool has_calls = sum_layer(f, l, Q_COUNT, true, 1);

		if (!events && !total_ns)
			continue;
		analyze_cell_text(t, rules->layers[l].name);
		analyze_cell_text(t, rules_class_word(rules->layers[l].class));
		analyze_cell_int(t, events);
		analyze_cell_int(t, total_ns);
		analyze_cell_int(t, times->layer_ns[l]);
		analyze_cell_int(t, times->layer_alone_ns[l]);
		analyze_cell_int(t, has_calls ? sum_layer(f, l, Q_BYTES, false, 1) : STORE_NULL);
		analyze_cell_int(t, has_calls ? files_of(f, l) : STORE_NULL);
		analyze_cell_int(t, rules->layers[l].is_again);
	}
}

static const struct analyze_column time_columns[] = {
	{ "from_ns", "FROM", ANALYZE_NS },
	{ "io_ns", "I/O", ANALYZE_NS },
	{ "app_io_ns", "APP I/O", ANALYZE_NS },
	{ "compute_ns", "COMPUTE", ANALYZE_NS },
};

static const struct analyze_column process_columns[] = {
	{ "process", "PROCESS", ANALYZE_ID },
	{ "pid", "PID", ANALYZE_ID },
	{ "io_ns", "I/O", ANALYZE_NS },
	{ "unoverlapped_io_ns", NULL, ANALYZE_NS },
	{ "app_io_ns", "APP I/O", ANALYZE_NS },
	{ "unoverlapped_app_io_ns", NULL, ANALYZE_NS },
	{ "compute_ns", "COMPUTE", ANALYZE_NS },
};

static int add_process(const struct found *f, struct analyze_table *t, const struct store_process *process)
{
	struct layers_sweep sweep;
	size_t count;
	struct engine_sweep_set *sets = sets_of(f, true, process->process, &count);
	int rc;

	layers_sweep_init(&sweep, f->a, NULL);
	rc = sets ? layers_sweep_run(&sweep, sets, count) : -ENOMEM;
	analyze_cell_int(t, process->process);
	analyze_cell_int(t, process->pid);
	analyze_cell_int(t, sweep.times.class_ns[RULES_IO]);
	analyze_cell_int(t, sweep.times.io_alone_ns);
	analyze_cell_int(t, sweep.times.class_ns[RULES_APP_IO]);
	analyze_cell_int(t, sweep.times.app_io_alone_ns);
	analyze_cell_int(t, sweep.times.class_ns[RULES_COMPUTE]);
	return rc;
}

/* Adds the first processes, up to the length of a list: ranking by time would need a sweep for each. */
static int add_processes(const struct found *f, struct analyze_section *s)
{
	struct analyze_table *t = analyze_table(s, "by_process", "Layers by process", process_columns,
			sizeof(process_columns) / sizeof(*process_columns), ANALYZE_DETAIL);
	size_t count;
	const struct store_process *processes = model_processes(f->a->run, &count);
	int rc = 0;

	for (size_t i = 0; i < analyze_top(f->a, count) && rc == 0; i++)
		rc = add_process(f, t, &processes[i]);
	if (t)
		t->all_rows = count;
	return rc;
}

/* Counts the hosts of the run's processes; one if none is named. */
static int64_t count_hosts(const struct found *f)
{
	struct store_table *t = model_table(f->a->run, STORE_TABLE_META);
	struct store_batch batch = STORE_BATCH_INIT;
	struct map hosts = MAP_INIT;
	int64_t count;

	for (size_t b = 0; t && b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue; /* model_losses reports damaged ones */
		for (size_t i = 0; i < batch.rows; i++) {
			struct store_meta row;
			const char *key;

			store_get_meta(&batch, i, &row);
			key = model_cname(f->a->run, row.key);
			if (key && row.value && !strcmp(key, "host"))
				map_put(&hosts, row.value->data, row.value->bytes, NULL);
		}
	}
	count = hosts.count ? (int64_t)hosts.count : 1;
	map_release(&hosts);
	store_batch_release(&batch);
	return count;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct found f = find(a, state);
	struct layers_sweep sweep;
	struct layers_bucket *buckets = arena_alloc(&a->arena, ANALYZE_BUCKETS * sizeof(*buckets));
	size_t count;
	struct engine_sweep_set *sets = sets_of(&f, false, 0, &count);
	int rc = sets && buckets ? 0 : -ENOMEM;
	struct analyze_table *t;
	int64_t distinct, as_counted;
	size_t processes;

	if (!f.by_set[0]->count && !f.by_set[1]->count) {
		analyze_absent(s, "neither calls nor spans were recorded");
		return 0;
	}
	layers_sweep_init(&sweep, a, buckets);
	if (rc == 0)
		rc = layers_sweep_run(&sweep, sets, count);
	if (rc < 0)
		return err_sys(err, -rc, "cannot sum the time of layers");
	count_events(&f, &distinct, &as_counted);
	model_processes(f.a->run, &processes);
	analyze_text(s, "rules", "rules", f.a->rules.name);
	analyze_int(s, "hosts", "hosts", ANALYZE_COUNT, count_hosts(&f));
	analyze_int(s, "processes", NULL, ANALYZE_COUNT, (int64_t)processes);
	analyze_int(s, "compute_threads", f.has[RULES_COMPUTE] ? "compute threads" : NULL, ANALYZE_COUNT,
			threads_of(&f, RULES_COMPUTE));
	analyze_int(s, "io_threads", "I/O threads", ANALYZE_COUNT, threads_of(&f, RULES_IO));
	analyze_int(s, "events", "events in layers", ANALYZE_COUNT, distinct);
	analyze_int(s, "events_as_dfanalyzer", distinct == as_counted ? NULL : "as DFAnalyzer counts", ANALYZE_COUNT,
			as_counted);
	add_times(&f, s, &sweep.times);
	add_layers(&f, s, &sweep.times);
	t = analyze_table(s, "by_time", "Layers by time", time_columns, 4, ANALYZE_DETAIL);
	for (int b = 0; b < ANALYZE_BUCKETS; b++) {
		analyze_cell_int(t, b * f.a->bucket_ns);
		analyze_cell_int(t, buckets[b].class_ns[RULES_IO]);
		analyze_cell_int(t, buckets[b].class_ns[RULES_APP_IO]);
		analyze_cell_int(t, buckets[b].class_ns[RULES_COMPUTE]);
	}
	rc = add_processes(&f, s);
	return rc < 0 ? err_sys(err, -rc, "cannot sum the time of layers") : 0;
}

const struct analyze_pass analyze_pass_layers = { .key = "layers",
	.title = "Layers",
	.state_bytes = sizeof(struct layers),
	.plan = plan,
	.finish = finish };
