/* Spans of a Chrome trace: complete events, and pairs of begin and end events. */
#include "base/vec.h"
#include "exchange/chrome-read.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MAX 100000u                       /* maximum number of unfinished spans; further ones lose their ends */
#define OPEN_ARGS_BYTES_MAX ((size_t)64 << 20) /* limit for their arguments */
#define ID_BYTES_MAX 256u
#define KEYS_MAX ((size_t)1 << 19) /* threads and ids, before entries without an unfinished span are dropped */

static void add_span(struct chrome_reader *r, struct store_span *row)
{
	struct pfw_process *p = foreign_process(r->f, row->pid);

	r->f->counts->events++;
	foreign_add(r->f, STORE_TABLE_SPAN, row);
	foreign_count_event(r->f, p, row->tid, row->ts_ns, row->dur_ns);
}

static struct store_span new_span(const struct chrome_reader *r)
{
	struct store_span row = store_span_nulls;

	CHROME_STAMP(row, r);
	row.name = r->name;
	row.category = r->category;
	row.is_open = 0;
	return row;
}

void chrome_on_complete(struct chrome_reader *r)
{
	struct store_span row = new_span(r);
	struct store_text args, extra;
	int64_t dur_ns = foreign_duration(r->f, r->ts_ns, chrome_time_of(pfw_line_get(&r->line, PFW_KEY_dur)));

	r->is_odd = dur_ns == STORE_NULL;
	row.args = chrome_object_of(r, true, &r->args, &args);
	row.extra = chrome_object_of(r, false, &r->text, &extra);
	r->is_odd = false;
	row.dur_ns = dur_ns == STORE_NULL ? 0 : dur_ns;
	add_span(r, &row);
}

/* Allocates an entry for an unfinished span; 0 if out of room. */
static uint64_t open_place(struct chrome_reader *r)
{
	uint64_t place = r->free;

	if (place) {
		r->free = r->open[place - 1].below;
		return place;
	}
	return VEC_GROW(r->open, r->open_cap, r->open_count + 1, OPEN_MAX) ? ++r->open_count : 0;
}

static uint64_t start_span(struct chrome_reader *r, uint64_t below)
{
	uint64_t place = open_place(r);
	struct store_text args;

	if (!place) {
		r->f->dims->refused++;
		return 0;
	}
	r->open[place - 1] = (struct open_span){ .row = new_span(r), .below = below };
	if (chrome_object_of(r, true, &r->args, &args)) {
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

/* A map that has grown keeps only the entries with an unfinished span. */
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

void chrome_on_begin(struct chrome_reader *r)
{
	int64_t key[2] = { r->pid, r->tid };
	uint64_t *top = waiting_at(&r->threads, key, sizeof(key)), place;

	place = top ? start_span(r, *top) : 0;
	if (place)
		*top = place;
}

void chrome_on_end(struct chrome_reader *r)
{
	int64_t key[2] = { r->pid, r->tid };
	uint64_t *top = map_get(&r->threads, key, sizeof(key)), below;

	if (!top || !*top) {
		chrome_keep_line(r);
		return;
	}
	below = r->open[*top - 1].below;
	end_span(r, *top, r->ts_ns, false);
	*top = below;
}

/* Asynchronous spans: their ends are found by category and id, which may be local to their process. */
static uint64_t *pair_of(struct chrome_reader *r)
{
	const struct pfw_field *id = pfw_line_get(&r->line, PFW_KEY_id);

	id = id ? id : chrome_field_of(r, "id2", false);
	if (!id || id->bytes > ID_BYTES_MAX)
		return NULL;
	buf_reset(&r->text);
	buf_add(&r->text, &r->category, sizeof(r->category));
	buf_add(&r->text, &r->pid, sizeof(r->pid));
	buf_add(&r->text, id->value, id->bytes);
	return buf_error(&r->text) ? NULL : waiting_at(&r->pairs, r->text.data, r->text.len);
}

void chrome_on_pair_begin(struct chrome_reader *r)
{
	uint64_t *place = pair_of(r);

	if (!place)
		chrome_keep_line(r);
	else
		*place = start_span(r, *place);
}

void chrome_on_pair_end(struct chrome_reader *r)
{
	uint64_t *place = pair_of(r), below;

	if (!place || !*place) {
		chrome_keep_line(r);
		return;
	}
	below = r->open[*place - 1].below;
	end_span(r, *place, r->ts_ns, false);
	*place = below;
}

void chrome_end_spans(struct chrome_reader *r)
{
	for (size_t i = 0; i < r->open_count; i++) {
		struct store_span *row = &r->open[i].row;

		if (row->process == 0)
			continue; /* a free entry */
		struct pfw_thread *t = pfw_cache_thread(r->f->cache, foreign_process(r->f, row->pid), row->tid);
		end_span(r, i + 1, t && t->last_ns > row->ts_ns ? t->last_ns : row->ts_ns, true);
	}
}

void chrome_release_spans(struct chrome_reader *r)
{
	for (size_t i = 0; i < r->open_count; i++)
		free(r->open[i].args);
	free(r->open);
	map_release(&r->threads);
	map_release(&r->pairs);
}
