#include "base/vec.h"
#include "pfw/import-pool.h"
#include "pfw/name-tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX ((size_t)1 << 16) /* in one epoch */

void pfw_cache_init(struct pfw_cache *c, struct pfw_dims *dims)
{
	memset(c, 0, sizeof(*c));
	c->dims = dims;
	c->epoch = 1;
	for (size_t i = 0; i < PFW_CACHE_FILES; i++)
		c->files[i].id = STORE_NULL;
}

/* Adds the thread counts to the name tables and clears the threads. */
static void pfw_cache_flush(struct pfw_cache *c)
{
	for (size_t i = 0; i < c->thread_count; i++)
		pfw_dims_thread(c->dims, c->threads[i]);
	c->thread_count = 0;
	map_release(&c->thread_numbers);
	arena_release(&c->arena);
	memset(c->recent, 0, sizeof(c->recent));
	c->epoch++;
}

void pfw_cache_release(struct pfw_cache *c)
{
	pfw_cache_flush(c);
	free(c->threads);
	c->threads = NULL;
	c->thread_cap = 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu + b;

	return (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u >> 32;
}

/* Hashes the first and the last bytes: names differ there. */
static uint64_t mix_bytes(const char *bytes, size_t n)
{
	uint64_t first = n, last = 0;

	if (n >= 8) {
		memcpy(&first, bytes, 8);
		memcpy(&last, bytes + n - 8, 8);
	} else {
		for (size_t i = 0; i < n; i++)
			last = last << 8 | (unsigned char)bytes[i];
	}
	return mix(first, last);
}

int64_t pfw_cache_string(struct pfw_cache *c, const char *bytes, size_t n)
{
	size_t i = mix_bytes(bytes, n) % PFW_CACHE_STRINGS;

	if (n > PFW_CACHE_STRING_BYTES)
		return pfw_dims_string(c->dims, bytes, n);
	if (c->strings[i].id > 0 && c->strings[i].bytes == n && !memcmp(c->strings[i].text, bytes, n))
		return c->strings[i].id;
	c->strings[i].id = pfw_dims_string(c->dims, bytes, n);
	c->strings[i].bytes = (uint8_t)n;
	memcpy(c->strings[i].text, bytes, n);
	return c->strings[i].id;
}

struct pfw_process *pfw_cache_process(struct pfw_cache *c, const struct pfw_process_key *key)
{
	struct pfw_process **place = &c->processes[mix(key->host, (uint64_t)key->pid) % PFW_CACHE_PROCESSES];

	if (!*place || memcmp(&(*place)->key, key, sizeof(*key)) != 0)
		*place = pfw_dims_process(c->dims, key);
	return *place;
}

int64_t pfw_cache_file(struct pfw_cache *c, const struct pfw_process *p, uint64_t hash)
{
	int64_t process = p && hash <= PFW_SHORT_HASH_MAX ? p->number : 0;
	size_t i = mix(hash, 0) % PFW_CACHE_FILES;

	if (c->files[i].id == STORE_NULL || c->files[i].hash != hash || c->files[i].process != process) {
		c->files[i].id = pfw_dims_file(c->dims, p, hash);
		c->files[i].hash = hash;
		c->files[i].process = process;
	}
	return c->files[i].id;
}

static struct pfw_thread *add_thread(struct pfw_cache *c, const struct pfw_process *p, int64_t tid)
{
	bool has_room = VEC_GROW(c->threads, c->thread_cap, c->thread_count + 1, THREADS_MAX + 1);
	struct pfw_thread *t = has_room ? arena_alloc(&c->arena, sizeof(*t)) : NULL;
	if (!t)
		return NULL;
	*t = (struct pfw_thread){ .process = p,
		.tid = tid,
		.first_ns = STORE_NULL,
		.last_ns = STORE_NULL,
		.name = STORE_NULL };
	c->threads[c->thread_count++] = t;
	return t;
}

struct pfw_thread *pfw_cache_thread(struct pfw_cache *c, const struct pfw_process *p, int64_t tid)
{
	int64_t key[2] = { p ? p->number : 0, tid };

	if (!p)
		return NULL;
	struct pfw_thread **place = &c->recent[mix((uint64_t)key[0], (uint64_t)tid) % PFW_CACHE_THREADS];
	struct pfw_thread *recent = *place;
	if (recent && recent->process == p && recent->tid == tid)
		return recent;
	if (c->thread_count >= THREADS_MAX)
		pfw_cache_flush(c);
	uint64_t *number = map_put(&c->thread_numbers, key, sizeof(key), NULL);
	if (!number)
		return NULL;
	if (!*number && add_thread(c, p, tid))
		*number = c->thread_count;
	*place = *number ? c->threads[*number - 1] : NULL;
	return *place;
}

#define KEEP_BYTES ((size_t)128 << 10)    /* a line buffer up to this size is reused */
#define TEXT_BYTES_MAX ((size_t)16 << 20) /* for the texts of all unwritten blocks of one table */

void pfw_counts_add(struct pfw_counts *to, const struct pfw_counts *from)
{
#define ADD(name, what) to->name += from->name;
	PFW_COUNTS(ADD)
#undef ADD
}

/* Tables. */

void pfw_tables_init(struct pfw_tables *t, int tablesfd, unsigned threads)
{
	*t = (struct pfw_tables){ .tablesfd = tablesfd, .text_max = TEXT_BYTES_MAX / (threads ? threads : 1) };
	pthread_mutex_init(&t->lock, NULL);
}

static void keep_first(struct pfw_tables *t, const struct sonde_err *err)
{
	pthread_mutex_lock(&t->lock);
	if (!t->err.text[0])
		t->err = *err;
	pthread_mutex_unlock(&t->lock);
}

void pfw_tables_close(struct pfw_tables *t)
{
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		struct sonde_err err = SONDE_ERR_INIT;

		if (!t->whole[i])
			continue;
		t->rows[i] = store_writer_rows(t->whole[i]);
		t->lost += store_writer_lost(t->whole[i]);
		if (store_writer_close(t->whole[i], &err) < 0)
			keep_first(t, &err);
		t->whole[i] = NULL;
	}
	pthread_mutex_destroy(&t->lock);
}

static int open_part(struct pfw_worker *w, enum store_table_id table)
{
	struct pfw_tables *t = w->tables;
	struct sonde_err err = SONDE_ERR_INIT;
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	if (!t->whole[table])
		rc = store_writer_open(&t->whole[table], t->tablesfd, store_schemas[table], &err);
	pthread_mutex_unlock(&t->lock);
	if (rc == 0)
		rc = store_writer_open_part(&w->parts[table], t->whole[table], &err);
	if (rc < 0)
		keep_first(t, &err);
	return rc;
}

/* Writes the buffered rows and frees their memory; the next row opens another part. */
static void close_part(struct pfw_worker *w, enum store_table_id table)
{
	struct sonde_err err = SONDE_ERR_INIT;

	if (store_writer_close(w->parts[table], &err) < 0)
		keep_first(w->tables, &err);
	w->parts[table] = NULL;
	w->text_bytes[table] = 0;
}

static void add_row(struct pfw_worker *w, enum store_table_id table, const void *row, size_t text_bytes)
{
	if (!w->parts[table] && open_part(w, table) < 0) {
		__atomic_fetch_add(&w->tables->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	if (store_writer_add(w->parts[table], row, &w->row_err) < 0)
		keep_first(w->tables, &w->row_err);
	w->text_bytes[table] += text_bytes;
	if (w->text_bytes[table] >= w->tables->text_max || text_bytes > PFW_LONG_BYTES)
		close_part(w, table);
}

/* Init and release. */

int pfw_worker_init(struct pfw_worker *w, struct pfw_dims *dims, struct pfw_tables *tables, bool has_shapes)
{
	memset(w, 0, sizeof(*w));
	w->dims = dims;
	w->tables = tables;
	pfw_cache_init(&w->cache, dims);
	pfw_event_init(&w->event, &w->cache);
	buf_init(&w->scratch, 0);
	if (has_shapes && pfw_shapes_work())
		return pfw_shapes_open(&w->shapes, &w->cache);
	return 0;
}

void pfw_worker_release(struct pfw_worker *w)
{
	for (int i = 0; i < STORE_TABLE_COUNT; i++)
		close_part(w, (enum store_table_id)i);
	pfw_shapes_free(w->shapes);
	pfw_cache_release(&w->cache);
	pfw_event_release(&w->event);
	pfw_line_release(&w->line);
	buf_release(&w->scratch);
}

/* Metadata records about processes, threads and files. */

static int64_t string_of(struct pfw_worker *w, const struct pfw_field *f)
{
	buf_reset(&w->scratch);
	if (!f)
		return STORE_NULL;
	pfw_field_text(f, &w->scratch);
	return buf_error(&w->scratch) ? STORE_NULL : pfw_cache_string(&w->cache, w->scratch.data, w->scratch.len);
}

static bool is_named(const struct pfw_event *e, const char *name)
{
	return e->name && strlen(name) == e->name->bytes && !memcmp(e->name->value, name, e->name->bytes);
}

static void add_meta(struct pfw_worker *w, const struct pfw_field *key, const char *fixed,
		const struct pfw_field *value)
{
	struct store_text text = { .data = NULL };
	struct store_meta row = {
		.process = w->event.process ? w->event.process->number : STORE_NULL,
		.pid = w->event.pid,
		.key = fixed ? pfw_dims_string(w->dims, fixed, strlen(fixed)) : string_of(w, key),
		.value = &text,
	};

	buf_reset(&w->scratch);
	pfw_field_text(value, &w->scratch);
	text = (struct store_text){ .data = w->scratch.data, .bytes = w->scratch.len };
	pfw_dims_meta(w->dims, &row);
}

static void on_metadata(struct pfw_worker *w)
{
	const struct pfw_event *e = &w->event;
	const struct pfw_field *name = pfw_line_arg(&w->line, PFW_KEY_name),
			       *value = pfw_line_arg(&w->line, PFW_KEY_value);
	uint64_t hash;
	bool is_hex;

	if (!name)
		return;
	if (is_named(e, "FH") || is_named(e, "SH") || is_named(e, "HH")) {
		if (value && pfw_field_hash(value, &hash, &is_hex))
			pfw_dims_define(w->dims, *e->name->value, e->process, hash, string_of(w, name));
	} else if (is_named(e, "thread_name")) {
		struct pfw_thread *thread = pfw_cache_thread(&w->cache, e->process, e->tid);
		if (thread && thread->name == STORE_NULL)
			thread->name = string_of(w, name);
	} else if (is_named(e, "process_name")) {
		add_meta(w, NULL, "process_name", name);
	} else if (value) {
		add_meta(w, name, NULL, value);
	}
}

static bool read_hash(const struct pfw_line *line, enum pfw_key key, uint64_t *hash)
{
	const struct pfw_field *f = pfw_line_arg(line, key);
	bool is_hex;

	return f && pfw_field_hash(f, hash, &is_hex);
}

/* Counters: one row per number. */

static bool is_hash_key(const struct pfw_field *f)
{
	return f->key_bytes >= 4 && !memcmp(f->key + f->key_bytes - 4, "hash", 4);
}

static void add_counters(struct pfw_worker *w)
{
	const struct pfw_event *e = &w->event;
	struct store_counter row = {
		.ts_ns = e->ts_ns,
		.process = e->process ? e->process->number : STORE_NULL,
		.pid = e->pid,
		.tid = e->tid,
	};

	for (size_t i = 0; e->name && e->ts_ns != STORE_NULL && i < w->line.count; i++) {
		const struct pfw_field *f = &w->line.fields[i];

		if (!f->is_arg || (f->kind != JSONSCAN_INTEGER && f->kind != JSONSCAN_REAL) || is_hash_key(f))
			continue;
		buf_reset(&w->scratch);
		buf_add(&w->scratch, f->value, f->bytes);
		row.value = strtod(w->scratch.data, NULL);
		buf_reset(&w->scratch);
		pfw_field_text(e->name, &w->scratch);
		buf_addc(&w->scratch, '.');
		buf_add(&w->scratch, f->key, f->key_bytes);
		row.name = pfw_cache_string(&w->cache, w->scratch.data, w->scratch.len);
		if (isfinite(row.value))
			add_row(w, STORE_TABLE_COUNTER, &row, 0);
	}
}

/* Lines. */

static void add_event(struct pfw_worker *w, const char *at, size_t n)
{
	const struct pfw_event *e = &w->event;

	w->counts.events++;
	w->counts.calls += e->table == STORE_TABLE_IO;
	w->counts.odd_durations += e->odd_durations;
	if (e->process && is_named(e, "start")) {
		/* The first event of a process, written by the tracer itself. */
		struct pfw_process facts = { .ppid = STORE_NULL };
		const struct pfw_field *ppid = pfw_line_arg(&w->line, PFW_KEY_ppid);
		if (ppid)
			pfw_field_int(ppid, &facts.ppid);
		facts.has_cmd = read_hash(&w->line, PFW_KEY_cmd_hash, &facts.cmd_hash);
		facts.has_exec = read_hash(&w->line, PFW_KEY_exec_hash, &facts.exec_hash);
		facts.has_cwd = read_hash(&w->line, PFW_KEY_cwd, &facts.cwd_hash);
		pfw_dims_started(w->dims, w->event.process, &facts);
	} else if (w->shapes)
		pfw_shapes_learn(w->shapes, at, n + 1, &w->line, e);
	pfw_thread_count_event(pfw_cache_thread(&w->cache, e->process, e->tid), e->ts_ns, e->dur_ns);
}

static void tell(struct pfw_worker *w, uint64_t number, const char *reason, const char *at, size_t n)
{
	struct pfw_problem problem = { .line = number,
		.reason = reason,
		.where = w->line.where,
		.text = at,
		.bytes = n };

	if (w->tell)
		w->tell(w->arg, &problem);
}

static void lose_long(struct pfw_worker *w, uint64_t number, const char *reason, const char *at, size_t n)
{
	w->counts.too_long++;
	w->line.where = 0;
	tell(w, number, reason, at, n);
}

static void on_record(struct pfw_worker *w, uint64_t number, const char *at, size_t n)
{
	struct pfw_event *e = &w->event;
	size_t text_bytes;

	if (pfw_event_make(e, &w->ctx, &w->line) < 0) {
		lose_long(w, number, "strings are longer than 16 MiB after escaping", at, n);
		return;
	}
	text_bytes = e->args_bytes.len + e->extra_bytes.len + e->text_bytes.len;
	switch (e->class) {
	case PFW_EVENT:
		add_event(w, at, n);
		break;
	case PFW_METADATA:
		w->counts.metadata++;
		on_metadata(w);
		break;
	case PFW_COUNTER:
		w->counts.counters++;
		add_counters(w);
		break;
	default:
		w->counts.other++;
	}
	add_row(w, e->table, &e->row, text_bytes);
}

/* The general parser; n excludes the newline. */
static void on_line(struct pfw_worker *w, uint64_t number, const char *at, size_t n)
{
	enum pfw_line_kind kind = PFW_LINE_INVALID;

	if (n <= PFW_LINE_BYTES_MAX)
		kind = pfw_line_scan(&w->line, at, n);
	w->counts.lines += kind != PFW_LINE_BLANK;
	if (n > PFW_LINE_BYTES_MAX) {
		lose_long(w, number, PFW_TOO_LONG, at, n);
	} else if (kind == PFW_LINE_RECORD) {
		on_record(w, number, at, n);
	} else if (kind == PFW_LINE_BRACKET) {
		w->counts.brackets++;
	} else if (kind == PFW_LINE_INVALID) {
		w->counts.invalid++;
		tell(w, number, w->line.reason, at, n);
	} else if (kind == PFW_LINE_NO_MEMORY) {
		__atomic_fetch_add(&w->tables->lost, 1, __ATOMIC_RELAXED);
	}
	if (n > KEEP_BYTES) {
		/* Frees the memory that a long line needed. */
		pfw_event_release(&w->event);
		pfw_line_release(&w->line);
		buf_release(&w->scratch);
	}
}

uint64_t pfw_worker_text(struct pfw_worker *w, const struct pfw_context *ctx, const char *text, size_t n)
{
	const char *end = text + n;
	uint64_t number = 0;

	w->ctx = *ctx;
	if (w->shapes)
		pfw_shapes_context(w->shapes, ctx);
	for (; text < end; number++) {
		struct pfw_match match;

		if (w->shapes && pfw_shapes_match(w->shapes, text, &match)) {
			w->counts.lines++;
			w->counts.quick++;
			w->counts.events++;
			w->counts.calls += match.table == STORE_TABLE_IO;
			pfw_thread_count_event(match.thread, match.ts_ns, match.dur_ns);
			add_row(w, match.table, match.row, match.text_bytes);
			text = match.end;
		} else {
			const char *newline = memchr(text, '\n', (size_t)(end - text));

			if (newline > text)
				on_line(w, number, text, (size_t)(newline - text));
			text = newline + 1;
		}
	}
	return number;
}
