/* Loads what lines refer to, and writes their heads, metadata, start and end. write-events.c writes the events. */
#include "pfw/pfw-write.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "model/rows.h"
#include "pfw/line-write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ORIGINS_MAX ((size_t)1 << 24)

static const struct store_text category_own = { .data = "dftracer", .bytes = 8 };

/* Loading. */

static int load_hashes(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct pfw_writer *w = arg;
	const int64_t *files = b->columns[STORE_FILE_file].ints, *hashes = b->columns[STORE_FILE_hash].ints;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		size_t id = (size_t)files[i];

		if (files[i] < 1 || id >= ORIGINS_MAX)
			continue;
		if (!VEC_GROW(w->file_hashes, w->file_hash_cap, id + 1, ORIGINS_MAX))
			return -ENOMEM;
		while (w->file_hash_count <= id)
			w->file_hashes[w->file_hash_count++] = STORE_NULL;
		w->file_hashes[id] = hashes[i];
	}
	return 0;
}

/* What the import stored about each process. The host name is a string of the map, so it stays valid. */
static int load_meta(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct pfw_writer *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		struct pfw_origin *o = pfw_origin_of(w, b->columns[STORE_META_process].ints[i]);
		const char *key = model_cname(w->run, b->columns[STORE_META_key].ints[i]);
		const struct store_text *value = &b->columns[STORE_META_value].texts[i];
		char text[64];

		if (!key || !value->data || o == w->origins)
			continue;
		if (!strcmp(key, "host")) {
			uint64_t *number = map_put(&w->announced, value->data, value->bytes, NULL);

			if (!number)
				return -ENOMEM;
			*number = *number ? *number : w->announced.count;
			o->host.data = map_key(&w->announced, *number - 1, &o->host.bytes);
			continue;
		}
		if (value->bytes >= sizeof(text))
			continue;
		memcpy(text, value->data, value->bytes);
		text[value->bytes] = '\0';
		if (!strcmp(key, "dftracer.hhash")) {
			o->is_hex = !strncmp(text, "0x", 2);
			o->host_hash = strtoull(text, NULL, o->is_hex ? 16 : 10);
			o->has_hash = true;
		} else if (!strcmp(key, "dftracer.generation") && !w->generation && text[0] >= 'A' && text[0] <= 'E') {
			o->generation = text[0];
		}
	}
	return 0;
}

static int load_imported(struct pfw_writer *w, struct sonde_err *err)
{
	static const int columns[] = { STORE_FILE_file, STORE_FILE_hash };
	struct store_scan_opts meta_opts = { .threads = 1 };
	struct store_scan_opts file_opts = { .cols = columns, .ncols = 2, .threads = 1 };
	struct store_table *meta = model_table(w->run, STORE_TABLE_META), *file = model_table(w->run, STORE_TABLE_FILE);
	int rc = meta ? store_scan(meta, &meta_opts, load_meta, w, err) : 0;

	return rc == 0 && file ? store_scan(file, &file_opts, load_hashes, w, err) : rc;
}

static uint64_t pfw_origin_hash(const struct pfw_origin *o, const struct store_text *text)
{
	return o->is_hex ? pfw_hash_d(text->data, text->bytes) : pfw_hash_c(text->data, text->bytes);
}

static int create_origins(struct pfw_writer *w)
{
	/* A run recorded by sonde has one host for all, hashed as in the requested generation. */
	const char *host = w->is_imported ? NULL : model_run_str(w->run, "host.name");
	size_t count;
	const struct store_process *processes = model_processes(w->run, &count);
	int64_t last = count ? processes[count - 1].process : 0;

	w->origin_count = last < 0 || (uint64_t)last >= ORIGINS_MAX ? 1 : (size_t)last + 1;
	w->origins = calloc(w->origin_count, sizeof(*w->origins));
	if (!w->origins)
		return -ENOMEM;
	for (size_t i = 0; i < w->origin_count; i++) {
		struct pfw_origin *o = &w->origins[i];

		o->generation = w->generation ? w->generation : 'C';
		o->is_hex = !w->is_imported && o->generation >= 'D';
		if (host) {
			o->host = (struct store_text){ .data = host, .bytes = strlen(host) };
			o->host_hash = pfw_origin_hash(o, &o->host);
			o->has_hash = true;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (processes[i].process > 0 && (uint64_t)processes[i].process < w->origin_count)
			w->origins[processes[i].process].process = &processes[i];
	return 0;
}

struct pfw_origin *pfw_origin_of(struct pfw_writer *w, int64_t process)
{
	return &w->origins[process > 0 && (uint64_t)process < w->origin_count ? process : 0];
}

/* Lines. */

/* Generation A has ids and times in quotes. */
static char *put_number(char *at, const struct pfw_origin *o, const char *key, int64_t v)
{
	at = put_text(at, key);
	if (o->generation == 'A')
		*at++ = '"';
	at = put_int(at, v);
	if (o->generation == 'A')
		*at++ = '"';
	return at;
}

static char *put_time(const struct pfw_writer *w, const struct pfw_origin *o, char *at, const char *key, int64_t ns)
{
	int64_t left = ns % w->unit_ns, unit = w->unit_ns;

	if (left < 0)
		left += w->unit_ns;
	at = put_number(at, o, key, (ns - left) / w->unit_ns);
	if (!left || !w->is_imported)
		return at;
	at -= o->generation == 'A'; /* the decimals come before the quote */
	*at++ = '.';
	for (; left; left %= unit) {
		unit /= 10;
		*at++ = (char)('0' + left / unit);
	}
	if (o->generation == 'A')
		*at++ = '"';
	return at;
}

static char *put_times(const struct pfw_writer *w, const struct pfw_origin *o, char *at, const struct pfw_head *head)
{
	int64_t real_ns = 0, dur_ns = head->dur_ns, end_ns;
	bool has_ts = head->ts_ns != STORE_NULL && !__builtin_add_overflow(head->ts_ns, w->offset_ns, &real_ns);

	if (has_ts)
		at = put_time(w, o, at, ",\"ts\":", real_ns);
	/* Both ends are truncated, as by the tracer: an event then ends within those that enclose it. */
	if (has_ts && dur_ns >= 0 && !w->is_imported && !__builtin_add_overflow(real_ns, dur_ns, &end_ns))
		dur_ns = end_ns / w->unit_ns * w->unit_ns - real_ns / w->unit_ns * w->unit_ns;
	return dur_ns == STORE_NULL ? at : put_time(w, o, at, ",\"dur\":", dur_ns);
}

/* The layer of an event, which generation E writes as a number. */
static int type_of(const struct store_text *category)
{
	static const struct {
		const char *category;
		int type;
	} types[] = { { "dftracer", 1 }, { "C_APP", 2 }, { "POSIX", 3 }, { "STDIO", 3 }, { "HDF5", 5 }, { "sys", 7 },
		{ "net", 7 }, { "io", 7 }, { "FUNC", 8 }, { "CPP_APP", 9 }, { "MPI", 10 }, { "MPIIO", 10 } };

	for (size_t i = 0; category && i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].category) == category->bytes &&
				!memcmp(types[i].category, category->data, category->bytes))
			return types[i].type;
	return 6; /* other categories usually come from Python programs */
}

static bool scan_object(struct pfw_writer *w, const struct store_text *object)
{
	return object && object->bytes <= PFW_LINE_BYTES_MAX &&
			pfw_object_scan(&w->fields, object->data, object->bytes) == PFW_LINE_RECORD;
}

/* Adds the fields without a column, except the marker of a missing host. Returns whether "type" is among them. */
static bool put_extra(struct pfw_writer *w, const struct store_text *extra, char **at)
{
	bool has_type = false;

	if (!scan_object(w, extra))
		return false;
	for (size_t i = 0; i < w->fields.count; i++) {
		const struct pfw_field *f = &w->fields.fields[i];

		has_type |= f->key_bytes == 4 && !memcmp(f->key, "type", 4);
		if (f->id == PFW_KEY_hhash)
			continue;
		*(*at)++ = ',';
		*at = put_bytes(*at, f->from, (size_t)(f->to - f->from));
	}
	return has_type;
}

static size_t json_room(const struct store_text *text)
{
	return text ? LINE_JSON_ROOM(text->bytes) : 0;
}

char *pfw_line_begin(struct pfw_writer *w, const struct pfw_origin *o, const struct pfw_head *head, size_t more)
{
	size_t room = LINE_ROOM + json_room(head->name) + json_room(head->category) + more;

	w->args = NULL;
	if (!buf_reserve(&w->line, room + (head->extra ? 2 * head->extra->bytes : 0))) {
		w->error = -ENOMEM;
		return NULL;
	}
	char *at = w->line.data;
	if (head->id != STORE_NULL)
		at = put_number(at, o, ",\"id\":", head->id);
	if (head->name)
		at = put_json(PUT(at, ",\"name\":"), head->name->data, head->name->bytes);
	if (head->category)
		at = put_json(PUT(at, ",\"cat\":"), head->category->data, head->category->bytes);
	if (!put_extra(w, head->extra, &at) && o->generation == 'E' && head->phase)
		at = PUT_INT(at, "type", type_of(head->category));
	if (head->pid != STORE_NULL)
		at = put_number(at, o, ",\"pid\":", head->pid);
	if (head->tid != STORE_NULL)
		at = put_number(at, o, ",\"tid\":", head->tid);
	at = put_times(w, o, at, head);
	/* An imported trace may have aggregates in a generation that only knows counters. */
	if (head->phase)
		at = put_phase(at, o->generation,
				head->phase == 'A' && w->generation && o->generation != 'E' ? 'C' : head->phase);
	return at;
}

static char *put_field(const struct pfw_writer *w, const struct pfw_origin *o, char *at, const struct pfw_field *f,
		bool is_definition)
{
	bool may_be_hash = (f->key_bytes >= 4 && !memcmp(f->key + f->key_bytes - 4, "hash", 4)) ||
			f->id == PFW_KEY_cwd || (is_definition && f->id == PFW_KEY_value);
	uint64_t hash;
	bool is_hex;

	/* A hash is only reformatted if another generation was requested. */
	if (w->generation && may_be_hash && pfw_field_hash(f, &hash, &is_hex) && is_hex != o->is_hex) {
		at = put_bytes(at, f->from, f->key_bytes + 2);
		*at++ = ':';
		return put_hash(at, hash, o->is_hex);
	}
	return put_bytes(at, f->from, (size_t)(f->to - f->from));
}

char *pfw_args_begin(struct pfw_writer *w, const struct pfw_origin *o, const struct store_text *extra, char *at)
{
	static const char no_host[] = "{\"hhash\":null";
	bool has_no_host = extra && extra->bytes >= sizeof(no_host) - 1 &&
			!memcmp(extra->data, no_host, sizeof(no_host) - 1);

	at = w->args = PUT(at, ",\"args\":{");
	if (has_no_host)
		return at;
	if (o->has_hash)
		return put_hash(PUT(at, ",\"hhash\":"), o->host_hash, o->is_hex);
	if (w->is_imported && o->host.data)
		return put_json(PUT(at, ",\"hostname\":"), o->host.data, o->host.bytes);
	return at;
}

char *pfw_put_fields(struct pfw_writer *w, const struct pfw_origin *o, char *at, const struct store_text *object,
		bool is_definition)
{
	if (!scan_object(w, object))
		return at;
	for (size_t i = 0; i < w->fields.count; i++) {
		*at++ = ',';
		at = put_field(w, o, at, &w->fields.fields[i], is_definition);
	}
	return at;
}

void pfw_line_end(struct pfw_writer *w, char *at)
{
	if (w->args && at == w->args) {
		at -= strlen(",\"args\":{");
	} else if (w->args) { /* the first has no comma */
		memmove(w->args, w->args + 1, (size_t)(at - w->args - 1));
		at[-1] = '}';
	}
	if (at == w->line.data)
		at++;
	w->line.data[0] = '{'; /* instead of the first comma */
	at = PUT(at, "}\n");
	size_t n = (size_t)(at - w->line.data);
	if (fwrite(w->line.data, 1, n, w->out) != n && !w->error)
		w->error = errno ? -errno : -EIO;
}

/* Records of runs recorded by sonde. */

/* Writes a metadata record of a run that was not imported: the hash of a name, or `value` (JSON text) if not NULL. */
static void pfw_write_definition(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, const char *kind,
		const struct store_text *name, const char *value, uint64_t hash)
{
	struct store_text kind_text = { .data = kind, .bytes = strlen(kind) };
	struct pfw_head head = { .id = o->generation == 'E' ? STORE_NULL : ++o->last_id,
		.pid = o->process ? o->process->pid : STORE_NULL,
		.tid = tid,
		.name = &kind_text,
		.category = &category_own,
		.phase = 'M',
		.ts_ns = STORE_NULL,
		.dur_ns = STORE_NULL };
	char *at = pfw_line_begin(w, o, &head, json_room(name));

	if (!at)
		return;
	at = pfw_args_begin(w, o, NULL, at);
	pfw_line_end(w, put_definition(at, name->data, name->bytes, value, hash, o->is_hex, false));
}

bool pfw_announce_file(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, int64_t file, uint64_t *hash)
{
	struct store_text path = model_file_path(w->run, file);
	uint64_t key[2] = { (uint64_t)(o - w->origins), model_file_number(w->run, file) };
	bool is_new;

	uint64_t *known = path.data ? map_put(&w->announced, key, sizeof(key), &is_new) : NULL;
	if (!known)
		return false;
	if (is_new) {
		*known = pfw_origin_hash(o, &path);
		pfw_write_definition(w, o, tid, "FH", &path, NULL, *known);
	}
	*hash = *known;
	return true;
}

/* Writes the record that names the text; returns its hash in *hash, or NULL if there is no text. */
static const uint64_t *define_text(struct pfw_writer *w, struct pfw_origin *o, const char *kind,
		const struct store_text *text, uint64_t *hash)
{
	if (!text || !text->data)
		return NULL;
	*hash = pfw_origin_hash(o, text);
	pfw_write_definition(w, o, o->process->pid, kind, text, NULL, *hash);
	return hash;
}

static char *start_bound(struct pfw_writer *w, struct pfw_origin *o, const char *name, int64_t ns)
{
	struct store_text name_text = { .data = name, .bytes = strlen(name) };
	struct pfw_head head = { .id = ++o->last_id,
		.pid = o->process->pid,
		.tid = o->process->pid,
		.name = &name_text,
		.category = &category_own,
		.phase = 'X',
		.ts_ns = ns,
		.dur_ns = 0 };
	char *at = pfw_line_begin(w, o, &head, 0);

	return at ? pfw_args_begin(w, o, NULL, at) : NULL;
}

static void write_start(struct pfw_writer *w, struct pfw_origin *o)
{
	CLEANUP(buf_release) struct buf bytes = BUF_INIT;
	const struct store_process *p = o->process;
	time_t seconds = (time_t)((p->start_ns + w->offset_ns) / 1000000000);
	struct line_start start = { .ppid = p->ppid, .is_hex = o->is_hex };
	struct store_text command = { .data = NULL };
	uint64_t hashes[3];
	struct tm tm;
	char date[64], *at;

	/* The tracer joins the arguments to "a;b;c". */
	if (p->argv)
		buf_add(&bytes, p->argv->data, p->argv->bytes);
	while (bytes.len && !bytes.data[bytes.len - 1])
		bytes.len--;
	for (size_t i = 0; i < bytes.len; i++)
		if (!bytes.data[i])
			bytes.data[i] = ';';
	if (bytes.len)
		command = (struct store_text){ .data = bytes.data, .bytes = bytes.len };
	if (o->host.data)
		pfw_write_definition(w, o, p->pid, "HH", &o->host, NULL, o->host_hash);
	start.command = define_text(w, o, "SH", &command, &hashes[0]);
	start.exe = define_text(w, o, "SH", model_name(w->run, p->exe), &hashes[1]);
	if (o->generation >= 'D')
		start.cwd = define_text(w, o, "FH", model_name(w->run, p->cwd), &hashes[2]);
	if (p->start_ns == STORE_NULL)
		return;
	if (gmtime_r(&seconds, &tm) && strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm))
		start.date = date;
	at = start_bound(w, o, "start", p->start_ns);
	if (at)
		pfw_line_end(w, put_start(at, &start));
}

/* Records that an import kept verbatim. */

static void write_record(struct pfw_writer *w, const struct store_line *row)
{
	const struct pfw_origin *o = pfw_origin_of(w, row->process);
	const struct store_text *phase = model_name(w->run, row->phase), *name = model_name(w->run, row->name);
	bool is_known = phase && phase->bytes == 1 && strchr("MCA", phase->data[0]);
	struct pfw_head head = { .id = row->id,
		.pid = row->pid,
		.tid = row->tid,
		.name = name,
		.category = model_name(w->run, row->category),
		.extra = row->extra,
		.phase = is_known ? phase->data[0] : 0,
		.ts_ns = row->ts_ns,
		.dur_ns = STORE_NULL };
	char *at = pfw_line_begin(w, o, &head, json_room(phase) + PFW_FIELDS_ROOM(row->args));

	if (!at)
		return;
	if (phase && !is_known)
		at = put_json(PUT(at, ",\"ph\":"), phase->data, phase->bytes);
	at = w->args = PUT(at, ",\"args\":{");
	pfw_line_end(w, pfw_put_fields(w, o, at, row->args, name && name->bytes == 2 && name->data[1] == 'H'));
}

static int write_records(struct pfw_writer *w, const struct model_rows_opts *range, struct sonde_err *err)
{
	struct model_rows_opts all = { .has_range = false }; /* records without a time are in every range */
	struct model_rows *rows;
	const void *row;
	int rc = model_rows_open(&rows, model_table(w->run, STORE_TABLE_LINE), &all, err);

	if (rc < 0)
		return rc;
	while ((rc = model_rows_next(rows, &row, err)) == 0 && row && !w->error) {
		int64_t ts_ns = ((const struct store_line *)row)->ts_ns;

		if (!range->has_range || ts_ns == STORE_NULL || (ts_ns >= range->from_ns && ts_ns < range->to_ns))
			write_record(w, row);
	}
	model_rows_free(rows);
	return rc;
}

/* The trace. */

static int write_events(struct pfw_writer *w, const struct model_rows_opts *range, struct sonde_err *err)
{
	struct timeline t;
	enum store_table_id table;
	const int64_t *row;
	int rc = timeline_open(&t, w->run, range, err);

	if (rc < 0)
		return rc;
	while ((rc = timeline_next(&t, &table, &row, err)) == 0 && row && !w->error)
		pfw_write_event(w, table, row);
	timeline_release(&t);
	return rc;
}

/* All generations but one write array brackets. */
static bool has_brackets(const struct pfw_writer *w)
{
	if (w->generation)
		return w->generation != 'E';
	for (size_t i = 1; i < w->origin_count; i++)
		if (w->origins[i].process && w->origins[i].generation != 'E')
			return true;
	return w->origin_count < 2;
}

/* The first lines of a recorded run: its processes and the names of its threads. */
static void write_starts(struct pfw_writer *w)
{
	size_t count;
	const struct store_thread *threads = model_threads(w->run, &count);
	for (size_t i = 1; i < w->origin_count; i++)
		if (w->origins[i].process)
			write_start(w, &w->origins[i]);
	for (size_t i = 0; i < count; i++) {
		struct pfw_origin *o = pfw_origin_of(w, threads[i].process);
		const struct store_text *name = model_name(w->run, threads[i].name);
		if (name && o->process)
			pfw_write_definition(w, o, threads[i].tid, "thread_name", name, "\"thread_name\"", 0);
	}
}

static void write_ends(struct pfw_writer *w)
{
	for (size_t i = 1; i < w->origin_count; i++) {
		struct pfw_origin *o = &w->origins[i];
		bool has_end = o->process && o->process->end_ns != STORE_NULL;
		char *at = has_end ? start_bound(w, o, "end", o->process->end_ns) : NULL;
		if (at)
			pfw_line_end(w, put_uint(PUT(at, ",\"p_idx\":-1,\"level\":1,\"num_events\":"), o->events));
	}
}

static int write_all(struct pfw_writer *w, const struct model_rows_opts *range, struct sonde_err *err)
{
	bool is_framed = has_brackets(w);
	int rc = 0;

	if (is_framed && fputs("[\n", w->out) < 0)
		w->error = -errno;
	if (w->is_imported)
		rc = write_records(w, range, err);
	else
		write_starts(w);
	if (rc == 0)
		rc = write_events(w, range, err);
	if (!w->is_imported)
		write_ends(w);
	if (is_framed && fputs("]", w->out) < 0)
		w->error = -errno;
	return rc == 0 && w->error ? err_sys(err, -w->error, "cannot write the trace") : rc;
}

int pfw_write(struct model_run *run, FILE *out, const struct model_rows_opts *range, char generation,
		struct sonde_err *err)
{
	const char *format = model_run_str(run, "source.format");
	int64_t unit_ns = model_run_int(run, "source.unit_ns");
	int64_t real_ns = model_run_int(run, "clock.start_real_ns"),
		mono_ns = model_run_int(run, "clock.start_mono_ns");
	struct pfw_writer w = { .run = run, .out = out, .generation = generation, .call = STORE_NULL };
	int rc = model_load(run, MODEL_ALL, err);

	buf_init(&w.line, 0);
	w.is_imported = format && !strcmp(format, "pfw");
	w.unit_ns = w.is_imported && unit_ns > 0 ? unit_ns : 1000;
	w.offset_ns = real_ns != STORE_NULL && mono_ns != STORE_NULL ? real_ns - mono_ns : 0;
	if (rc == 0 && create_origins(&w) < 0)
		rc = err_sys(err, ENOMEM, "cannot write the trace");
	if (rc == 0 && w.is_imported)
		rc = load_imported(&w, err);
	for (size_t i = 0; rc == 0 && generation && i < w.origin_count; i++)
		w.origins[i].is_hex = generation >= 'D';
	if (rc == 0)
		rc = write_all(&w, range, err);
	free(w.origins);
	free(w.file_hashes);
	map_release(&w.announced);
	buf_release(&w.line);
	pfw_line_release(&w.fields);
	return rc;
}
