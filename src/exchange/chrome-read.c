/* Reading Chrome traces; see chrome-read.h. */
#include "exchange/chrome-read.h"

#include "base/cleanup.h"
#include "exchange/chrome-split.h"
#include "exchange/foreign.h"
#include "exchange/pfw-line.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES ((size_t)64 << 10)
#define OPEN_MAX 100000u                       /* spans that are open at a time; others lose their ends */
#define OPEN_ARGS_BYTES_MAX ((size_t)64 << 20) /* of the arguments that they wait with */
#define ID_BYTES_MAX 256u
#define KEYS_MAX ((size_t)1 << 19) /* threads and ids of open spans, until those are dropped that have none */

/* A span whose end is to come: on the stack of its thread, or waiting for its id. */
struct open_span {
	struct store_span row;
	char *args;
	size_t args_bytes;
	uint64_t below; /* the span around it, as a place from 1; also of free places */
};

struct chrome_reader {
	struct foreign *f;
	struct pfw_line line;
	struct chrome_split split;
	struct buf text, args;
	struct map threads; /* pid and tid -> place of the innermost open span, from 1 */
	struct map pairs;   /* category, pid and the text of an id -> place of the open span, from 1 */
	struct open_span *open;
	size_t open_count, open_cap;
	uint64_t free;     /* places that are */
	size_t args_bytes; /* of open spans */
	int64_t pid, tid, ts_ns, name, category;
	struct pfw_process *process;
	bool is_odd; /* its duration is kept as text */
};

/* Values. */

static int64_t int_of(struct chrome_reader *r, const struct pfw_field *f)
{
	int64_t v;

	if (f && pfw_field_int(f, &v))
		return v;
	if (!f || f->kind != PFW_STRING || !f->bytes)
		return STORE_NULL;
	/* Some tracers name processes and threads: a number is made of the name. */
	v = foreign_string(r->f, f->value, f->bytes);
	return v == STORE_NULL ? v : v + ((int64_t)1 << 32);
}

static int64_t time_of(const struct pfw_field *f)
{
	int64_t ns;

	return f && (f->kind == PFW_INTEGER || f->kind == PFW_REAL || f->kind == PFW_STRING) &&
					pfw_parse_scaled(f->value, f->bytes, 1000, &ns)
			? ns
			: STORE_NULL;
}

static int64_t string_of(struct chrome_reader *r, const struct pfw_field *f)
{
	buf_reset(&r->text);
	if (!f)
		return STORE_NULL;
	pfw_field_text(f, &r->text);
	return buf_error(&r->text) ? STORE_NULL : foreign_string(r->f, r->text.data, r->text.len);
}

static const struct pfw_field *field_of(const struct chrome_reader *r, const char *key, bool is_arg)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < r->line.count; i++) {
		const struct pfw_field *f = &r->line.fields[i];

		if (f->is_arg == is_arg && f->key_bytes == n && !memcmp(f->key, key, n))
			return f;
	}
	return NULL;
}

/* The members of the event, those of its arguments or the others but those that rows have, as JSON. */
static bool is_column(const struct pfw_field *f)
{
	static const enum pfw_key columns[] = { PFW_KEY_name, PFW_KEY_cat, PFW_KEY_ph, PFW_KEY_ts, PFW_KEY_dur,
		PFW_KEY_pid, PFW_KEY_tid };

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (f->id == columns[i])
			return true;
	return false;
}

static const struct store_text *object_of(struct chrome_reader *r, bool is_arg, struct buf *out,
		struct store_text *text)
{
	buf_reset(out);
	for (size_t i = 0; i < r->line.count; i++) {
		const struct pfw_field *f = &r->line.fields[i];

		if (f->is_arg != is_arg || (!is_arg && is_column(f) && !(r->is_odd && f->id == PFW_KEY_dur)))
			continue;
		buf_addc(out, out->len ? ',' : '{');
		pfw_clean(out, f->from, (size_t)(f->to - f->from));
	}
	if (!out->len || buf_error(out))
		return NULL;
	buf_addc(out, '}');
	*text = (struct store_text){ .data = out->data, .bytes = out->len };
	return text;
}

/* Spans. */

static void add_span(struct chrome_reader *r, struct store_span *row)
{
	struct pfw_process *p = foreign_process(r->f, row->pid);

	r->f->counts->events++;
	foreign_add(r->f, STORE_TABLE_SPAN, row);
	foreign_note(r->f, p, row->tid, row->ts_ns, row->dur_ns);
}

static struct store_span new_span(const struct chrome_reader *r)
{
	struct store_span row = store_span_nulls;

	row.ts_ns = r->ts_ns;
	row.process = r->process ? r->process->number : STORE_NULL;
	row.pid = r->pid;
	row.tid = r->tid;
	row.name = r->name;
	row.category = r->category;
	row.is_open = 0;
	return row;
}

static void take_complete(struct chrome_reader *r)
{
	struct store_span row = new_span(r);
	struct store_text args, extra;
	int64_t dur_ns = foreign_duration(r->f, r->ts_ns, time_of(pfw_line_get(&r->line, PFW_KEY_dur)));

	r->is_odd = dur_ns == STORE_NULL;
	row.args = object_of(r, true, &r->args, &args);
	row.extra = object_of(r, false, &r->text, &extra);
	r->is_odd = false;
	row.dur_ns = dur_ns == STORE_NULL ? 0 : dur_ns;
	add_span(r, &row);
}

/* A place for a span whose end is to come; 0: no room. */
static uint64_t open_place(struct chrome_reader *r)
{
	uint64_t place = r->free;

	if (place) {
		r->free = r->open[place - 1].below;
		return place;
	}
	if (r->open_count == OPEN_MAX)
		return 0;
	if (r->open_count == r->open_cap) {
		size_t cap = r->open_cap ? 2 * r->open_cap : 64;
		struct open_span *open = reallocarray(r->open, cap, sizeof(*open));

		if (!open)
			return 0;
		r->open = open;
		r->open_cap = cap;
	}
	return ++r->open_count;
}

static uint64_t begin_span(struct chrome_reader *r, uint64_t below)
{
	uint64_t place = open_place(r);
	struct store_text args;

	if (!place) {
		r->f->dims->refused++;
		return 0;
	}
	r->open[place - 1] = (struct open_span){ .row = new_span(r), .below = below };
	if (object_of(r, true, &r->args, &args)) {
		struct open_span *span = &r->open[place - 1];

		if (args.bytes <= OPEN_ARGS_BYTES_MAX - r->args_bytes)
			span->args = malloc(args.bytes + 1);
		if (span->args) {
			memcpy(span->args, args.data, args.bytes);
			span->args_bytes = args.bytes;
			r->args_bytes += args.bytes;
		} else {
			r->f->dims->refused++;
		}
	}
	return place;
}

/* A map that has grown keeps those that still wait. */
static void drop_ended(struct map *map)
{
	struct map kept = MAP_INIT;

	for (size_t i = 0; i < map->count; i++) {
		size_t n;
		const void *key = map_key(map, i, &n);
		uint64_t *place = map_value(map, i) ? map_put(&kept, key, n, NULL) : NULL;

		if (place)
			*place = map_value(map, i);
	}
	map_release(map);
	*map = kept;
}

static uint64_t *waiting_at(struct map *map, const void *key, size_t n)
{
	if (map->count >= KEYS_MAX && !map_get(map, key, n))
		drop_ended(map);
	return map->count < KEYS_MAX ? map_put(map, key, n, NULL) : map_get(map, key, n);
}

static void end_span(struct chrome_reader *r, uint64_t place, int64_t end_ns, bool is_open)
{
	struct open_span *span = &r->open[place - 1];
	struct store_text args = { .data = span->args, .bytes = span->args_bytes };

	span->row.args = span->args ? &args : NULL;
	span->row.is_open = is_open;
	if (__builtin_sub_overflow(end_ns, span->row.ts_ns, &span->row.dur_ns) || span->row.dur_ns < 0) {
		span->row.dur_ns = 0;
		r->f->counts->odd_durations++;
	}
	add_span(r, &span->row);
	r->args_bytes -= span->args_bytes;
	free(span->args);
	*span = (struct open_span){ .below = r->free };
	r->free = place;
}

static void take_begin(struct chrome_reader *r)
{
	int64_t key[2] = { r->pid, r->tid };
	uint64_t *top = waiting_at(&r->threads, key, sizeof(key)), place;

	place = top ? begin_span(r, *top) : 0;
	if (place)
		*top = place;
}

/* What cannot be made sense of is kept as it is. */
static void keep_line(struct chrome_reader *r)
{
	const struct pfw_field *ph = pfw_line_get(&r->line, PFW_KEY_ph);
	struct store_line row = store_line_nulls;
	struct store_text args, extra;

	r->f->counts->other++;
	row.phase = string_of(r, ph);
	row.ts_ns = r->ts_ns;
	row.process = r->process ? r->process->number : STORE_NULL;
	row.pid = r->pid;
	row.tid = r->tid;
	row.name = r->name;
	row.category = r->category;
	row.args = object_of(r, true, &r->args, &args);
	row.extra = object_of(r, false, &r->text, &extra);
	foreign_add(r->f, STORE_TABLE_LINE, &row);
}

static void take_end(struct chrome_reader *r)
{
	int64_t key[2] = { r->pid, r->tid };
	uint64_t *top = map_get(&r->threads, key, sizeof(key)), below;

	if (!top || !*top) {
		keep_line(r);
		return;
	}
	below = r->open[*top - 1].below;
	end_span(r, *top, r->ts_ns, false);
	*top = below;
}

/* Asynchronous spans: their ends are found by category and id, which may be of their process alone. */
static uint64_t *pair_of(struct chrome_reader *r)
{
	const struct pfw_field *id = pfw_line_get(&r->line, PFW_KEY_id);

	id = id ? id : field_of(r, "id2", false);
	if (!id || id->bytes > ID_BYTES_MAX)
		return NULL;
	buf_reset(&r->text);
	buf_add(&r->text, &r->category, sizeof(r->category));
	buf_add(&r->text, &r->pid, sizeof(r->pid));
	buf_add(&r->text, id->value, id->bytes);
	return buf_error(&r->text) ? NULL : waiting_at(&r->pairs, r->text.data, r->text.len);
}

static void take_pair_begin(struct chrome_reader *r)
{
	uint64_t *place = pair_of(r);

	if (!place)
		keep_line(r);
	else
		*place = begin_span(r, *place);
}

static void take_pair_end(struct chrome_reader *r)
{
	uint64_t *place = pair_of(r), below;

	if (!place || !*place) {
		keep_line(r);
		return;
	}
	below = r->open[*place - 1].below;
	end_span(r, *place, r->ts_ns, false);
	*place = below;
}

/* The others. */

static void take_mark(struct chrome_reader *r)
{
	struct store_mark row = store_mark_nulls;
	struct store_text args;

	r->f->counts->events++;
	row.ts_ns = r->ts_ns;
	row.process = r->process ? r->process->number : STORE_NULL;
	row.pid = r->pid;
	row.tid = r->tid;
	row.name = r->name;
	row.category = r->category;
	row.args = object_of(r, true, &r->args, &args);
	foreign_add(r->f, STORE_TABLE_MARK, &row);
	foreign_note(r->f, r->process, r->tid, r->ts_ns, STORE_NULL);
}

static bool real_of(struct chrome_reader *r, const struct pfw_field *f, double *v)
{
	if (f->kind != PFW_INTEGER && f->kind != PFW_REAL)
		return false;
	buf_reset(&r->text);
	buf_add(&r->text, f->value, f->bytes);
	*v = strtod(r->text.data, NULL);
	return isfinite(*v);
}

/* "name", or "name.key" where there are several keys or one that says something. */
static int64_t counter_name(struct chrome_reader *r, const struct pfw_field *f)
{
	const struct pfw_field *name = pfw_line_get(&r->line, PFW_KEY_name);

	buf_reset(&r->text);
	if (name)
		pfw_field_text(name, &r->text);
	if (f->id != PFW_KEY_value) {
		buf_addc(&r->text, '.');
		buf_add(&r->text, f->key, f->key_bytes);
	}
	return foreign_string(r->f, r->text.data, r->text.len);
}

static void take_counter(struct chrome_reader *r)
{
	struct store_counter row = store_counter_nulls;

	r->f->counts->counters++;
	row.ts_ns = r->ts_ns;
	row.process = r->process ? r->process->number : STORE_NULL;
	row.pid = r->pid;
	row.tid = r->tid;
	for (size_t i = 0; i < r->line.count; i++) {
		const struct pfw_field *f = &r->line.fields[i];

		if (!f->is_arg || !real_of(r, f, &row.value))
			continue;
		row.name = counter_name(r, f);
		foreign_add(r->f, STORE_TABLE_COUNTER, &row);
	}
}

static bool is_called(const struct pfw_field *name, const char *text)
{
	return name && name->bytes == strlen(text) && !memcmp(name->value, text, name->bytes);
}

static void take_metadata(struct chrome_reader *r)
{
	const struct pfw_field *name = pfw_line_get(&r->line, PFW_KEY_name),
			       *value = pfw_line_arg(&r->line, PFW_KEY_name);
	const struct pfw_field *labels = field_of(r, "labels", true);

	r->f->counts->metadata++;
	if (is_called(name, "process_name") && value && r->process)
		r->process->exe = string_of(r, value);
	else if (is_called(name, "thread_name") && value && r->process)
		foreign_thread_name(r->f, r->process, r->tid, string_of(r, value));
	else if (is_called(name, "process_labels") && labels && r->process)
		r->process->argv = string_of(r, labels);
	else if (!is_called(name, "process_sort_index") && !is_called(name, "thread_sort_index"))
		keep_line(r);
}

static const struct {
	char phase;
	bool needs_time;
	void (*take)(struct chrome_reader *r);
} phases[] = {
	{ 'X', true, take_complete },
	{ 'B', true, take_begin },
	{ 'E', true, take_end },
	{ 'i', true, take_mark },
	{ 'I', true, take_mark },
	{ 'R', true, take_mark },
	{ 'n', true, take_mark },
	{ 'C', true, take_counter },
	{ 'b', true, take_pair_begin },
	{ 'S', true, take_pair_begin },
	{ 'e', true, take_pair_end },
	{ 'F', true, take_pair_end },
	{ 'M', false, take_metadata },
};

static void take_record(struct chrome_reader *r)
{
	const struct pfw_field *ph = pfw_line_get(&r->line, PFW_KEY_ph);
	char phase = ph && ph->kind == PFW_STRING && ph->bytes == 1 ? ph->value[0] : '\0';

	r->pid = int_of(r, pfw_line_get(&r->line, PFW_KEY_pid));
	r->tid = int_of(r, pfw_line_get(&r->line, PFW_KEY_tid));
	r->pid = r->pid == STORE_NULL ? 0 : r->pid;
	r->tid = r->tid == STORE_NULL ? r->pid : r->tid;
	r->ts_ns = time_of(pfw_line_get(&r->line, PFW_KEY_ts));
	r->name = string_of(r, pfw_line_get(&r->line, PFW_KEY_name));
	r->category = string_of(r, pfw_line_get(&r->line, PFW_KEY_cat));
	r->process = foreign_process(r->f, r->pid);
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		if (phases[i].phase == phase && (r->ts_ns != STORE_NULL || !phases[i].needs_time)) {
			phases[i].take(r);
			return;
		}
	}
	keep_line(r);
}

static int take_event(void *arg, char *text, size_t n)
{
	struct chrome_reader *r = arg;
	enum pfw_line_kind kind = pfw_line_scan(&r->line, text, n);

	r->f->line++;
	r->f->counts->lines++;
	if (kind == PFW_LINE_NO_MEMORY)
		return -ENOMEM;
	if (kind == PFW_LINE_RECORD)
		take_record(r);
	else
		foreign_lost(r->f, r->line.reason ? r->line.reason : "it is no event", r->line.where, text, n);
	return 0;
}

/* Spans that have no end lasted as long as anything is known of their thread. */
static void end_all(struct chrome_reader *r)
{
	for (size_t i = 0; i < r->open_count; i++) {
		struct store_span *row = &r->open[i].row;
		struct pfw_thread *t;

		if (row->process == 0)
			continue; /* a free place */
		t = pfw_cache_thread(r->f->cache, foreign_process(r->f, row->pid), row->tid);
		end_span(r, i + 1, t && t->last_ns > row->ts_ns ? t->last_ns : row->ts_ns, true);
	}
}

int chrome_read(struct foreign *f)
{
	CLEANUP(cleanup_free) char *bytes = malloc(READ_BYTES);
	struct chrome_reader r = { .f = f, .text = BUF_INIT, .args = BUF_INIT };
	size_t n;
	int rc = bytes ? 0 : -ENOMEM;

	chrome_split_init(&r.split, take_event, &r);
	while (rc == 0 && (n = foreign_read(f, bytes, READ_BYTES)) > 0)
		rc = chrome_split_add(&r.split, bytes, n);
	if (rc == 0)
		end_all(&r);
	f->counts->too_long += r.split.too_long;
	if (rc == 0 && !r.split.has_array)
		foreign_lost(f, "there is no array of events in it", 0, "", 0);
	for (size_t i = 0; i < r.open_count; i++)
		free(r.open[i].args);
	free(r.open);
	map_release(&r.threads);
	map_release(&r.pairs);
	chrome_split_release(&r.split);
	pfw_line_release(&r.line);
	buf_release(&r.text);
	buf_release(&r.args);
	return rc;
}

/* What is looked for in the beginning of a file: an event, and what follows it. */
struct looking {
	bool has_event, has_phase;
};

static int see_event(void *arg, char *text, size_t n)
{
	struct looking *l = arg;

	l->has_event = true;
	l->has_phase = memmem(text, n, "\"ph\"", 4) != NULL;
	return 1;
}

/*
 * An object that has "traceEvents", or an array whose events have commas between them: DFTracer's have none. The
 * beginning may end before the first event does.
 */
bool chrome_is_mine(const char *head, size_t n)
{
	struct looking look = { .has_event = false };
	struct chrome_split split;
	size_t at = 0;

	while (at < n && strchr(" \t\r\n", head[at]))
		at++;
	if (at == n || (head[at] != '{' && head[at] != '['))
		return false;
	if (head[at] == '{')
		return memmem(head, n, "\"traceEvents\"", 13) != NULL;
	chrome_split_init(&split, see_event, &look);
	while (at < n && chrome_split_add(&split, head + at, 1) == 0)
		at++;
	chrome_split_release(&split);
	for (at++; at < n && strchr(" \t\r\n", head[at]);)
		at++;
	return look.has_event && look.has_phase && at < n && (head[at] == ',' || head[at] == ']');
}
