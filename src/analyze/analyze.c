#include "analyze/analyze.h"

#include "analyze/columns.h"
#include "analyze/pass.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define X(name) extern const struct analyze_pass analyze_pass_##name;
#include "analyze/passes.def"
#undef X

const struct analyze_pass *const analyze_passes[] = {
#define X(name) &analyze_pass_##name,
#include "analyze/passes.def"
#undef X
	NULL,
};

/* Time. */

/* Widens the range by the time bounds in the table's metadata; reads no rows. */
static void widen(const struct store_table *t, int64_t *from, int64_t *to)
{
	for (size_t i = 0; i < store_table_blocks(t); i++) {
		const struct store_block_info *b = store_block_info(t, i);
		int64_t end;

		if (b->time_min_ns == STORE_NULL)
			continue;
		if (__builtin_add_overflow(b->time_max_ns, b->dur_max_ns, &end))
			end = INT64_MAX;
		*from = *from == STORE_NULL || b->time_min_ns < *from ? b->time_min_ns : *from;
		*to = *to == STORE_NULL || end > *to ? end : *to;
	}
}

static void find_range(struct analyze *a)
{
	static const enum store_table_id timed[] = { STORE_TABLE_IO, STORE_TABLE_SPAN, STORE_TABLE_STEP,
		STORE_TABLE_MARK, STORE_TABLE_COUNTER };
	int64_t wall_ns = model_run_int(a->run, "wall_ns"), from = STORE_NULL, to = STORE_NULL;
	int64_t start_ns = model_run_start_ns(a->run);

	for (size_t i = 0; i < sizeof(timed) / sizeof(*timed); i++) {
		const struct store_table *t = model_table(a->run, timed[i]);

		if (t)
			widen(t, &from, &to);
	}
	if (start_ns != STORE_NULL && wall_ns >= 0 && !__builtin_add_overflow(start_ns, wall_ns, &to))
		from = start_ns;
	if (a->opts.has_range) {
		from = a->opts.from_ns;
		to = a->opts.to_ns;
	}
	a->start_ns = from;
	a->end_ns = to;
	a->bucket_ns = from == STORE_NULL ? 1 : (int64_t)(((uint64_t)to - (uint64_t)from) / ANALYZE_BUCKETS) + 1;
}

/* Making. */

static int open_rules(struct analyze *a, struct sonde_err *err)
{
	const char *name = a->opts.rules ? a->opts.rules : rules_presets[0];

	if (a->opts.rules_text)
		return rules_parse(&a->rules, name, a->opts.rules_text, err);
	return rules_open(&a->rules, name, err);
}

static int plan_passes(struct analyze *a, struct sonde_err *err)
{
	int rc = 0;

	for (size_t i = 0; analyze_passes[i] && rc == 0; i++) {
		const struct analyze_pass *pass = analyze_passes[i];

		a->states[i] = arena_alloc(&a->arena, pass->state_bytes + 1);
		if (!a->states[i])
			return err_sys(err, ENOMEM, "cannot analyze the run");
		rc = pass->plan ? pass->plan(a, a->states[i], err) : 0;
	}
	return rc;
}

int analyze_new(struct analyze **out, struct model_run *run, const struct analyze_opts *opts, struct sonde_err *err)
{
	struct analyze *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return err_sys(err, ENOMEM, "cannot analyze the run");
	a->run = run;
	a->opts = *opts;
	find_range(a);
	rc = open_rules(a, err);
	if (rc == 0)
		rc = model_load(run, MODEL_ALL, err);
	if (rc == 0)
		rc = model_paths_load(run, err);
	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		if (model_table(a->run, (enum store_table_id)t))
			rc = engine_plan_new(&a->plans[t], store_schemas[t], err);
	if (rc == 0)
		rc = analyze_columns_new(a, err);
	if (rc == 0)
		rc = plan_passes(a, err);
	if (rc < 0) {
		analyze_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void analyze_free(struct analyze *a)
{
	if (!a)
		return;
	for (int t = 0; t < STORE_TABLE_COUNT; t++)
		engine_plan_free(a->plans[t]);
	for (unsigned i = 0; i < a->fed_count; i++)
		engine_plan_free(a->fed[i]);
	analyze_columns_free(a->columns);
	rules_release(&a->rules);
	analyze_result_release(&a->result);
	arena_release(&a->arena);
	free(a);
}

/* Scanning. */

static int feed_passes(struct analyze *a, struct sonde_err *err)
{
	int rc = 0;

	for (size_t i = 0; analyze_passes[i] && rc == 0; i++)
		if (analyze_passes[i]->feed)
			rc = analyze_passes[i]->feed(a, a->states[i], err);
	return rc;
}

static int finish_plans(struct analyze *a, struct sonde_err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < a->fed_count && rc == 0; i++)
		rc = engine_plan_finish(a->fed[i], err);
	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		rc = a->plans[t] ? engine_plan_finish(a->plans[t], err) : 0;
	a->is_scanned = true;
	return rc;
}

int analyze_scan(struct analyze *a, struct sonde_err *err)
{
	struct engine_run_opts opts = { .has_range = a->opts.has_range,
		.from_ns = a->opts.from_ns,
		.to_ns = a->opts.to_ns,
		.threads = a->opts.threads,
		.part = a->opts.part };
	int rc = a->opts.part.number == 0 ? feed_passes(a, err) : 0;

	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		if (a->plans[t] && !engine_plan_is_empty(a->plans[t]))
			rc = engine_plan_run(a->plans[t], model_table(a->run, (enum store_table_id)t), &opts, err);
	return rc < 0 ? rc : finish_plans(a, err);
}

int analyze_finish(struct analyze *a, const struct analyze_result **result, struct sonde_err *err)
{
	int rc = a->is_scanned ? 0 : finish_plans(a, err);

	for (size_t i = 0; analyze_passes[i] && rc == 0; i++) {
		const struct analyze_pass *pass = analyze_passes[i];
		struct analyze_section *s = analyze_section(&a->result, pass->key, pass->title);

		if (s) {
			s->is_top = pass->is_top;
			s->is_list = pass->is_list;
		}
		rc = pass->finish(a, a->states[i], s, err);
	}
	if (rc == 0 && a->result.error)
		rc = err_sys(err, ENOMEM, "cannot build the summary");
	*result = &a->result;
	return rc;
}

/* For passes. */

size_t analyze_top(const struct analyze *a, size_t count)
{
	return a->opts.top && a->opts.top < count ? a->opts.top : count;
}

int analyze_query(struct analyze *a, enum store_table_id table, const struct engine_query *query)
{
	return a->plans[table] ? engine_plan_query(a->plans[table], query) : -ENOENT;
}

const struct engine_groups *analyze_groups(const struct analyze *a, enum store_table_id table, int query)
{
	static const struct engine_groups none;

	return a->plans[table] && query >= 0 ? engine_plan_groups(a->plans[table], query) : &none;
}

int analyze_fed(struct analyze *a, const struct engine_query *query, int *number, struct sonde_err *err)
{
	int rc;

	if (a->fed_count == ANALYZE_FED_MAX)
		return err_set(err, E2BIG, "too many passes feed rows");
	rc = engine_plan_new(&a->fed[a->fed_count], &store_span_schema, err);
	if (rc < 0)
		return rc;
	*number = (int)a->fed_count++;
	rc = engine_plan_query(a->fed[*number], query);
	return rc < 0 ? err_sys(err, -rc, "cannot plan '%s'", query->name) : 0;
}

const struct engine_groups *analyze_fed_groups(const struct analyze *a, int number)
{
	return engine_plan_groups(a->fed[number], 0);
}

static int by_weight(const void *a, const void *b)
{
	const struct analyze_rank *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

void analyze_rank(struct analyze_rank *ranks, size_t count)
{
	if (count > 1)
		qsort(ranks, count, sizeof(*ranks), by_weight);
}

struct analyze_rank *analyze_ranks(struct analyze *a, size_t count)
{
	struct analyze_rank *ranks = arena_alloc(&a->arena, (count + 1) * sizeof(*ranks));

	if (!ranks)
		a->result.error = -ENOMEM;
	return ranks;
}

const void *analyze_state(const struct analyze *a, const char *key)
{
	for (size_t i = 0; analyze_passes[i]; i++)
		if (strcmp(analyze_passes[i]->key, key) == 0)
			return a->states[i];
	return NULL;
}

/* Parts of an analysis: saves and loads the state of one process. */

#define MAGIC "sonde part 2"

static uint64_t rows_of(const struct model_run *run)
{
	uint64_t rows = 0;

	for (int t = 0; t < STORE_TABLE_COUNT; t++) {
		const struct store_table *table = model_table(run, (enum store_table_id)t);

		rows += table ? store_table_rows(table) : 0;
	}
	return rows;
}

/* Includes the '\0', so that readers can point to it. */
static void pack_string(struct buf *out, const char *text)
{
	pack_uint(out, strlen(text) + 1);
	buf_add(out, text, strlen(text) + 1);
}

static const char *unpack_string(struct unpack *u)
{
	size_t n = unpack_count(u, 1);
	const char *text = (const char *)u->at;

	if (!n || u->is_bad || text[n - 1] != '\0' || memchr(text, '\0', n) != text + n - 1) {
		u->is_bad = true;
		return "";
	}
	u->at += n;
	return text;
}

int analyze_save(struct analyze *a, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *run = realpath(model_run_path(a->run), NULL);
	int rc = 0;

	if (!run)
		return err_sys(err, errno, "cannot resolve '%s'", model_run_path(a->run));
	pack_text(out, MAGIC);
	pack_string(out, run);
	pack_string(out, model_run_path(a->run));
	pack_uint(out, rows_of(a->run));
	pack_string(out, a->rules.name);
	pack_string(out, a->rules.text);
	pack_uint(out, a->opts.has_range);
	pack_int(out, a->opts.from_ns);
	pack_int(out, a->opts.to_ns);
	pack_string(out, a->opts.cpu_filters ? a->opts.cpu_filters : "");
	pack_string(out, a->opts.gpu_filters ? a->opts.gpu_filters : "");
	pack_uint(out, a->opts.part.number);
	pack_uint(out, a->opts.part.count);
	for (unsigned i = 0; i < a->fed_count && rc == 0; i++)
		rc = engine_plan_save(a->fed[i], out);
	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		rc = a->plans[t] ? engine_plan_save(a->plans[t], out) : 0;
	if (rc == 0)
		rc = buf_error(out);
	return rc < 0 ? err_sys(err, -rc, "cannot save the part") : 0;
}

int analyze_part_open(struct analyze_part *part, const void *bytes, size_t n, const char *name, struct sonde_err *err)
{
	struct unpack u = { .at = bytes, .end = (const uint8_t *)bytes + n };
	uint64_t number, count;

	if (!unpack_is_text(&u, MAGIC))
		return err_set(err, EBADMSG, "'%s' is not a part written by this version of sonde summary", name);
	*part = (struct analyze_part){ .run = unpack_string(&u) };
	part->name = unpack_string(&u);
	part->rows = unpack_uint(&u);
	part->opts.rules = unpack_string(&u);
	part->opts.rules_text = unpack_string(&u);
	part->opts.has_range = unpack_uint(&u);
	part->opts.from_ns = unpack_int(&u);
	part->opts.to_ns = unpack_int(&u);
	part->opts.cpu_filters = unpack_string(&u);
	part->opts.gpu_filters = unpack_string(&u);
	number = unpack_uint(&u);
	count = unpack_uint(&u);
	if (u.is_bad || count > ENGINE_PARTS_MAX || number >= count)
		return err_set(err, EBADMSG, "the part '%s' is damaged", name);
	part->opts.part = (struct engine_part){ .number = (unsigned)number, .count = (unsigned)count };
	part->at = u.at;
	part->end = u.end;
	return 0;
}

int analyze_load(struct analyze *a, const struct analyze_part *part, struct sonde_err *err)
{
	struct unpack u = { .at = part->at, .end = part->end };
	int rc = 0;

	if (part->rows != rows_of(a->run))
		return err_set(err, EBADMSG, "'%s' has changed since the part was saved", part->run);
	for (unsigned i = 0; i < a->fed_count && rc == 0; i++)
		rc = engine_plan_load(a->fed[i], &u, err);
	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		rc = a->plans[t] ? engine_plan_load(a->plans[t], &u, err) : 0;
	if (rc == 0 && u.at != u.end)
		rc = err_set(err, EBADMSG, "unexpected data at the end of the part");
	return rc;
}
