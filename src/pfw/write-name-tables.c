/* Loads processes, files and strings for the writer of traces; see pfw-write.h. */
#include "base/cleanup.h"
#include "pfw/name-hash.h"
#include "pfw/pfw-write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ORIGINS_MAX ((size_t)1 << 24)

/* Loading. */

static int take_hashes(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct pfw_writer *w = arg;
	const int64_t *files = b->columns[STORE_FILE_file].ints, *hashes = b->columns[STORE_FILE_hash].ints;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		size_t id = (size_t)files[i];

		if (files[i] < 1 || id >= ORIGINS_MAX)
			continue;
		if (id >= w->file_hash_count) {
			size_t count = 2 * id + 64;
			int64_t *grown = reallocarray(w->file_hashes, count, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			for (size_t k = w->file_hash_count; k < count; k++)
				grown[k] = STORE_NULL;
			w->file_hashes = grown;
			w->file_hash_count = count;
		}
		w->file_hashes[id] = hashes[i];
	}
	return 0;
}

static int load_hashes(struct pfw_writer *w, struct sonde_err *err)
{
	static const int columns[] = { STORE_FILE_file, STORE_FILE_hash };
	struct store_scan_opts opts = { .cols = columns, .ncols = 2, .threads = 1 };
	struct store_table *t = model_table(w->run, STORE_TABLE_FILE);

	return t ? store_scan(t, &opts, take_hashes, w, err) : 0;
}

static void take_hash(struct pfw_origin *o, const char *text)
{
	o->is_hex = !strncmp(text, "0x", 2);
	o->host_hash = strtoull(text, NULL, o->is_hex ? 16 : 10);
	o->has_hash = true;
}

/* Loads what the import stored about each process. */
static int take_meta(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct pfw_writer *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		struct pfw_origin *o = pfw_origin_of(w, b->columns[STORE_META_process].ints[i]);
		const char *key = model_cname(w->run, b->columns[STORE_META_key].ints[i]);
		const struct store_text *value = &b->columns[STORE_META_value].texts[i];
		char text[64];

		if (!key || !value->data || value->bytes >= sizeof(text) || o == w->origins)
			continue;
		memcpy(text, value->data, value->bytes);
		text[value->bytes] = '\0';
		if (!strcmp(key, "dftracer.hhash"))
			take_hash(o, text);
		if (!strcmp(key, "dftracer.generation") && !w->generation && text[0] >= 'A' && text[0] <= 'E')
			o->generation = text[0];
	}
	return 0;
}

/* The host name is a string of the run, so it stays valid. */
static int take_hosts(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct pfw_writer *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		struct pfw_origin *o = pfw_origin_of(w, b->columns[STORE_META_process].ints[i]);
		const char *key = model_cname(w->run, b->columns[STORE_META_key].ints[i]);
		const struct store_text *value = &b->columns[STORE_META_value].texts[i];
		uint64_t *number;

		if (!key || strcmp(key, "host") != 0 || !value->data || o == w->origins)
			continue;
		number = map_put(&w->announced, value->data, value->bytes, NULL);
		if (!number)
			return -ENOMEM;
		*number = *number ? *number : w->announced.count;
		o->host.data = map_key(&w->announced, *number - 1, &o->host.bytes);
	}
	return 0;
}

static int load_meta(struct pfw_writer *w, struct sonde_err *err)
{
	struct store_scan_opts opts = { .threads = 1 };
	struct store_table *t = model_table(w->run, STORE_TABLE_META);
	int rc = t ? store_scan(t, &opts, take_hosts, w, err) : 0;

	return rc == 0 && t ? store_scan(t, &opts, take_meta, w, err) : rc;
}

static int make_origins(struct pfw_writer *w)
{
	size_t count;
	const struct store_process *processes = model_processes(w->run, &count);
	int64_t last = count ? processes[count - 1].process : 0;

	w->origin_count = last < 0 || (uint64_t)last >= ORIGINS_MAX ? 1 : (size_t)last + 1;
	w->origins = calloc(w->origin_count, sizeof(*w->origins));
	if (!w->origins)
		return -ENOMEM;
	for (size_t i = 0; i < w->origin_count; i++)
		w->origins[i].generation = w->generation ? w->generation : 'C';
	for (size_t i = 0; i < count; i++)
		if (processes[i].process > 0 && (uint64_t)processes[i].process < w->origin_count)
			w->origins[processes[i].process].process = &processes[i];
	return 0;
}

/* A run recorded by sonde: one host for all, hashed as in the requested generation. */
static void set_own_host(struct pfw_writer *w)
{
	const char *host = model_run_str(w->run, "host.name");

	for (size_t i = 0; i < w->origin_count; i++) {
		struct pfw_origin *o = &w->origins[i];

		o->is_hex = o->generation >= 'D';
		if (!host)
			continue;
		o->host = (struct store_text){ .data = host, .bytes = strlen(host) };
		o->host_hash = o->is_hex ? pfw_hash_d(host, strlen(host)) : pfw_hash_c(host, strlen(host));
		o->has_hash = true;
	}
}

int pfw_writer_init(struct pfw_writer *w, struct model_run *run, FILE *out, char generation, struct sonde_err *err)
{
	const char *format = model_run_str(run, "source.format");
	int64_t unit_ns = model_run_int(run, "source.unit_ns");
	int64_t real_ns = model_run_int(run, "clock.start_real_ns"),
		mono_ns = model_run_int(run, "clock.start_mono_ns");
	int rc;

	*w = (struct pfw_writer){ .run = run, .out = out, .generation = generation };
	buf_init(&w->line, 0);
	w->is_imported = format && !strcmp(format, "pfw");
	w->unit_ns = w->is_imported && unit_ns > 0 ? unit_ns : 1000;
	w->offset_ns = real_ns != STORE_NULL && mono_ns != STORE_NULL ? real_ns - mono_ns : 0;
	rc = model_load(run, MODEL_ALL, err);
	if (rc == 0 && make_origins(w) < 0)
		rc = err_sys(err, ENOMEM, "cannot write the trace");
	if (rc == 0 && w->is_imported)
		rc = load_meta(w, err);
	if (rc == 0 && w->is_imported)
		rc = load_hashes(w, err);
	if (rc == 0 && !w->is_imported)
		set_own_host(w);
	for (size_t i = 0; rc == 0 && generation && i < w->origin_count; i++)
		w->origins[i].is_hex = generation >= 'D';
	return rc;
}

void pfw_writer_release(struct pfw_writer *w)
{
	free(w->origins);
	free(w->file_hashes);
	map_release(&w->announced);
	buf_release(&w->line);
	pfw_line_release(&w->fields);
}

struct pfw_origin *pfw_origin_of(struct pfw_writer *w, int64_t process)
{
	return &w->origins[process > 0 && (uint64_t)process < w->origin_count ? process : 0];
}

/* Records of runs recorded by sonde. */

static void write_record(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, const char *kind,
		const struct store_text *name, const char *value_text, uint64_t value)
{
	static const struct store_text category = { .data = "dftracer", .bytes = 8 };
	struct store_text kind_text = { .data = kind, .bytes = strlen(kind) };
	struct pfw_head head = { ++o->last_id, o->process ? o->process->pid : STORE_NULL, tid, &kind_text, &category,
		NULL, 'M' };

	pfw_put_head(w, o, &head);
	pfw_put_phase(w, o, 'M');
	buf_adds(&w->line, ",\"args\":{");
	if (o->has_hash)
		pfw_put_hash(&w->line, "\"hhash\":", o->host_hash, o->is_hex);
	pfw_put_text(&w->line, o->has_hash ? ",\"name\":" : "\"name\":", name);
	if (value_text)
		pfw_put_text(&w->line,
				",\"value\":", &(struct store_text){ .data = value_text, .bytes = strlen(value_text) });
	else
		pfw_put_hash(&w->line, ",\"value\":", value, o->is_hex);
	buf_adds(&w->line, "}}");
	pfw_end_line(w);
}

static uint64_t hash_of(const struct pfw_origin *o, const struct store_text *text)
{
	return o->is_hex ? pfw_hash_d(text->data, text->bytes) : pfw_hash_c(text->data, text->bytes);
}

bool pfw_announce_file(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, int64_t file, uint64_t *hash)
{
	struct store_text path = model_file_path(w->run, file);
	uint64_t key[2] = { (uint64_t)(o - w->origins), model_file_number(w->run, file) };
	uint64_t *known;
	bool is_new;

	if (!path.data)
		return false;
	known = map_put(&w->announced, key, sizeof(key), &is_new);
	if (!known)
		return false;
	if (is_new) {
		*known = hash_of(o, &path);
		write_record(w, o, tid, "FH", &path, NULL, *known);
	}
	*hash = *known;
	return true;
}

static void write_string(struct pfw_writer *w, struct pfw_origin *o, const struct store_text *text)
{
	if (text && text->data)
		write_record(w, o, o->process->pid, "SH", text, NULL, hash_of(o, text));
}

/* Joins the arguments to "a;b;c". */
static void join_command(struct buf *out, const struct store_text *argv)
{
	if (!argv)
		return;
	buf_add(out, argv->data, argv->bytes);
	while (out->len && !out->data[out->len - 1])
		out->len--;
	for (size_t i = 0; i < out->len; i++)
		if (!out->data[i])
			out->data[i] = ';';
}

static void write_bound(struct pfw_writer *w, struct pfw_origin *o, const char *name, int64_t ns)
{
	static const struct store_text category = { .data = "dftracer", .bytes = 8 };
	struct store_text name_text = { .data = name, .bytes = strlen(name) };
	struct pfw_head head = { ++o->last_id, o->process->pid, o->process->pid, &name_text, &category, NULL, 'X' };

	pfw_put_head(w, o, &head);
	pfw_put_int(&w->line, ",\"ts\":", (ns + w->offset_ns) / w->unit_ns);
	pfw_put_int(&w->line, ",\"dur\":", 0);
	pfw_put_phase(w, o, 'X');
	buf_adds(&w->line, ",\"args\":{");
	if (o->has_hash) {
		pfw_put_hash(&w->line, "\"hhash\":", o->host_hash, o->is_hex);
		buf_addc(&w->line, ',');
	}
}

static void write_date(struct buf *out, int64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm tm;
	char text[64];

	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm))
		buf_addf(out, ",\"date\":\"%s\"", text);
}

static void write_start(struct pfw_writer *w, struct pfw_origin *o)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;
	const struct store_text *exe = model_name(w->run, o->process->exe);
	struct store_text command_text;

	join_command(&command, o->process->argv);
	command_text = (struct store_text){ .data = command.len ? command.data : NULL, .bytes = command.len };
	if (o->host.data)
		write_record(w, o, o->process->pid, "HH", &o->host, NULL, o->host_hash);
	write_string(w, o, &command_text);
	write_string(w, o, exe);
	if (o->process->start_ns == STORE_NULL)
		return;
	write_bound(w, o, "start", o->process->start_ns);
	pfw_put_int(&w->line, "\"p_idx\":", -1);
	pfw_put_int(&w->line, ",\"level\":", 1);
	if (o->process->ppid != STORE_NULL)
		pfw_put_int(&w->line, ",\"ppid\":", o->process->ppid);
	if (command_text.data)
		pfw_put_hash(&w->line, ",\"cmd_hash\":", hash_of(o, &command_text), o->is_hex);
	if (exe)
		pfw_put_hash(&w->line, ",\"exec_hash\":", hash_of(o, exe), o->is_hex);
	write_date(&w->line, o->process->start_ns + w->offset_ns);
	buf_adds(&w->line, "}}");
	pfw_end_line(w);
}

void pfw_write_starts(struct pfw_writer *w)
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
			write_record(w, o, threads[i].tid, "thread_name", name, "thread_name", 0);
	}
}

void pfw_write_ends(struct pfw_writer *w)
{
	for (size_t i = 1; i < w->origin_count; i++) {
		struct pfw_origin *o = &w->origins[i];

		if (!o->process || o->process->end_ns == STORE_NULL)
			continue;
		write_bound(w, o, "end", o->process->end_ns);
		pfw_put_int(&w->line, "\"num_events\":", (int64_t)o->events);
		buf_adds(&w->line, "}}");
		pfw_end_line(w);
	}
}
