/*
 * output: a trace file being written, compressed if its name ends in .gz.
 *
 * The file must not exist: traces are not overwritten. It is renamed to its final name when it is complete.
 */
#include "pfw/pfw-tools.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fs.h"
#include "pfw/gzip-read.h"
#include "pfw/import-part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pfw_out {
	bool has_begun;
	uint64_t text_bytes; /* of the lines */
	/* private */
	int fd;
	bool is_gzip, is_framed;
	char *path, *temp;
	struct buf text, packed;
	int error;
};

#define MEMBER_BYTES ((size_t)16 << 20)

/* -EEXIST if the file exists */
static int pfw_out_open(struct pfw_out *o, const char *path, struct sonde_err *err)
{
	size_t n = strlen(path);

	*o = (struct pfw_out){ .fd = -1 };
	buf_init(&o->text, 0);
	buf_init(&o->packed, 0);
	if (access(path, F_OK) == 0) {
		err_set(err, EEXIST, "cannot write '%s': File exists", path);
		err_hint(err, "remove it or choose another name");
		return -EEXIST;
	}
	o->is_gzip = n > 3 && !strcmp(path + n - 3, ".gz");
	o->path = strdup(path);
	if (!o->path || asprintf(&o->temp, "%s.%d.new", path, (int)getpid()) < 0) {
		free(o->path);
		return err_sys(err, ENOMEM, "cannot write '%s'", path);
	}
	/* Never open an existing file: it may belong to another user, or be a link. */
	o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (o->fd < 0) {
		int error = errno;

		free(o->path);
		free(o->temp);
		return err_sys(err, error, "cannot write '%s'", path);
	}
	return 0;
}

/* Call before the first line. is_framed: the trace has array brackets. */
static void pfw_out_begin(struct pfw_out *o, bool is_framed)
{
	o->has_begun = true;
	o->is_framed = is_framed;
	if (is_framed)
		buf_adds(&o->text, "[\n");
}

static int flush(struct pfw_out *o)
{
	struct buf *bytes = o->is_gzip ? &o->packed : &o->text;

	buf_reset(&o->packed);
	if (o->error == 0 && buf_error(&o->text))
		o->error = -ENOMEM;
	if (o->error == 0 && o->is_gzip)
		o->error = pfw_gzip_deflate(&o->packed, o->text.data, o->text.len);
	if (o->error == 0)
		o->error = fs_write_all(o->fd, bytes->data, bytes->len);
	buf_reset(&o->text);
	return o->error;
}

/* Writes the rest and frees the contents; err NULL: discards the file. */
static int pfw_out_close(struct pfw_out *o, struct sonde_err *err)
{
	if (!o->has_begun)
		pfw_out_begin(o, true);
	if (o->is_framed)
		buf_adds(&o->text, "]");
	int rc = flush(o);
	if (close(o->fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && err && rename(o->temp, o->path) < 0)
		rc = -errno;
	if (rc < 0 || !err)
		unlink(o->temp);
	if (rc < 0)
		err_sys(err, -rc, "cannot write '%s'", o->path);
	free(o->path);
	free(o->temp);
	buf_release(&o->text);
	buf_release(&o->packed);
	return rc;
}

#define KEYS_MAX 100000 /* distinct keys of each kind that are counted */

void pfw_facts_init(struct pfw_facts *f)
{
	*f = (struct pfw_facts){ .first = STORE_NULL, .last = STORE_NULL };
}

void pfw_facts_release(struct pfw_facts *f)
{
	map_release(&f->pids);
	map_release(&f->tids);
	map_release(&f->hosts);
	map_release(&f->categories);
}

static void meet(struct map *map, const void *key, size_t n, uint64_t times)
{
	uint64_t *count = map->count < KEYS_MAX ? map_put(map, key, n, NULL) : map_get(map, key, n);

	if (count)
		*count += times;
}

static void widen(struct pfw_facts *f, int64_t first, int64_t last)
{
	if (first != STORE_NULL && (f->first == STORE_NULL || first < f->first))
		f->first = first;
	if (last != STORE_NULL && (f->last == STORE_NULL || last > f->last))
		f->last = last;
}

static void add_map(struct map *to, const struct map *from)
{
	for (size_t i = 0; i < from->count; i++) {
		size_t n;
		const void *key = map_key(from, i, &n);

		meet(to, key, n, map_value(from, i));
	}
}

void pfw_facts_add(struct pfw_facts *sum, const struct pfw_facts *one)
{
	uint64_t *const to[] = { &sum->bytes, &sum->text_bytes, &sum->members, &sum->lines, &sum->events,
		&sum->metadata, &sum->counters, &sum->other, &sum->brackets, &sum->invalid, &sum->too_long };
	const uint64_t from[] = { one->bytes, one->text_bytes, one->members, one->lines, one->events, one->metadata,
		one->counters, one->other, one->brackets, one->invalid, one->too_long };

	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++)
		*to[i] += from[i];
	sum->forms |= one->forms;
	widen(sum, one->first, one->last);
	add_map(&sum->pids, &one->pids);
	add_map(&sum->tids, &one->tids);
	add_map(&sum->hosts, &one->hosts);
	add_map(&sum->categories, &one->categories);
}

/* Reading an input line by line. */

struct reading {
	const struct pfw_tools *tools;
	struct pfw_input *input;
	struct pfw_facts *facts;
	struct pfw_line line;
	uint64_t number; /* current line, from 1 */
	/* Called for each record; may be NULL. A result other than 0 stops the reading. */
	int (*record)(struct reading *r, const char *text, size_t n);
	void *arg;
	int rc;
};

static bool phase_is(const struct pfw_field *ph, char letter, char digit)
{
	return ph && ph->bytes == 1 &&
			((ph->kind == JSONSCAN_STRING && *ph->value == letter) ||
					(ph->kind == JSONSCAN_INTEGER && *ph->value == digit));
}

static void record_forms(struct pfw_facts *f, const struct pfw_line *line, const struct pfw_field *ph)
{
	const struct pfw_field *id = pfw_line_get(line, PFW_KEY_id), *host = pfw_line_arg(line, PFW_KEY_hhash);
	uint64_t hash;
	bool is_hex;

	if (id && id->kind == JSONSCAN_STRING)
		f->forms |= PFW_FORM_QUOTED;
	if (ph && ph->kind == JSONSCAN_INTEGER)
		f->forms |= PFW_FORM_INTEGER_PHASE;
	if (!host || !pfw_field_hash(host, &hash, &is_hex))
		return;
	f->forms |= is_hex                           ? PFW_FORM_HEX_HASH
			: hash <= PFW_SHORT_HASH_MAX ? PFW_FORM_SHORT_HASH
						     : PFW_FORM_INTEGER_HASH;
	meet(&f->hosts, host->value, host->bytes, 1);
}

static void record_field(struct map *map, const struct pfw_field *f)
{
	if (f)
		meet(map, f->value, f->bytes, 1);
}

static void count_record(struct pfw_facts *f, const struct pfw_line *line)
{
	const struct pfw_field *ph = pfw_line_get(line, PFW_KEY_ph);

	if (phase_is(ph, 'X', '1')) {
		f->events++;
		record_field(&f->categories, pfw_line_get(line, PFW_KEY_cat));
	} else if (phase_is(ph, 'M', '4')) {
		f->metadata++;
	} else if (phase_is(ph, 'C', '2') || phase_is(ph, 'A', '3')) {
		f->counters++;
	} else {
		f->other++;
	}
	record_field(&f->pids, pfw_line_get(line, PFW_KEY_pid));
	record_field(&f->tids, pfw_line_get(line, PFW_KEY_tid));
	record_field(&f->hosts, pfw_line_arg(line, PFW_KEY_hostname));
	record_forms(f, line, ph);
	const struct pfw_field *ts = pfw_line_get(line, PFW_KEY_ts), *dur = pfw_line_get(line, PFW_KEY_dur);
	int64_t time, length = 0, end;
	if (!ts || !pfw_field_int(ts, &time))
		return;
	if (!dur || !pfw_field_int(dur, &length) || length < 0 || __builtin_add_overflow(time, length, &end))
		end = time;
	widen(f, time, end);
}

static void tell(struct reading *r, const char *reason, size_t where)
{
	if (r->tools->tell)
		r->tools->tell(r->tools->arg, r->input->path, r->number, reason, where);
}

static void take_line(struct reading *r, const char *text, size_t n)
{
	struct pfw_facts *f = r->facts;
	enum pfw_line_kind kind = PFW_LINE_INVALID;

	r->number++;
	if (n <= PFW_LINE_BYTES_MAX)
		kind = pfw_line_scan(&r->line, text, n);
	f->lines += kind != PFW_LINE_BLANK;
	if (kind == PFW_LINE_RECORD) {
		count_record(f, &r->line);
		if (r->record && r->rc == 0)
			r->rc = r->record(r, text, n);
	} else if (kind == PFW_LINE_BRACKET) {
		f->brackets++;
	} else if (n > PFW_LINE_BYTES_MAX) {
		f->too_long++;
		tell(r, PFW_TOO_LONG, 0);
	} else if (kind == PFW_LINE_INVALID) {
		f->invalid++;
		tell(r, r->line.reason, r->line.where);
	} else if (kind == PFW_LINE_NO_MEMORY) {
		r->rc = -ENOMEM;
	}
}

static struct pfw_piece *take_piece(void *arg, struct pfw_piece *piece)
{
	struct reading *r = arg;
	const char *at = piece->text + piece->from, *end = piece->text + piece->to;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		take_line(r, at, (size_t)(newline - at));
		at = newline + 1;
	}
	return piece;
}

static void skip_line(void *arg, struct pfw_part *part, size_t number)
{
	struct reading *r = arg;

	(void)part, (void)number;
	r->number++;
	r->facts->lines++;
	r->facts->too_long++;
	tell(r, PFW_TOO_LONG, 0);
}

/* Reads all lines of an input in order, as one part. */
static int read_input(struct reading *r, struct sonde_err *err)
{
	atomic_size_t seam_bytes = 0;
	struct pfw_part_ops ops = { .take = take_piece, .skip = skip_line, .arg = r, .seam_bytes = &seam_bytes };
	struct pfw_part part = { .input = r->input, .to = UINT64_MAX };
	struct pfw_inspection look = { .unit_ns = 1,
		.gzip_part_bytes = UINT64_MAX,
		.text_part_bytes = (uint64_t)1 << 62 };

	r->number = 0;
	pfw_input_inspect(r->input, NULL, &look);
	if (r->input->error)
		return err_sys(err, r->input->error, "cannot read '%s'", r->input->path);
	r->facts->bytes += r->input->bytes;
	pfw_part_read(&part, &ops);
	r->facts->text_bytes += part.text_bytes;
	r->facts->members += part.members;
	pfw_part_describe(&part, r->facts->trouble, sizeof(r->facts->trouble));
	pfw_part_release(&part);
	/* A write error has already set err. */
	if (r->rc < 0 && !(err && err->text[0]))
		err_sys(err, -r->rc, "cannot process '%s'", r->input->path);
	return r->rc;
}

int pfw_tool_inspect(const struct pfw_tools *tools, struct pfw_input *in, struct pfw_facts *facts,
		struct sonde_err *err)
{
	struct reading r = { .tools = tools, .input = in, .facts = facts };
	int rc = read_input(&r, err);

	pfw_line_release(&r.line);
	return rc;
}

/* Writing. */

struct writing {
	struct pfw_out out;
	struct buf text; /* the current record, if it is changed */
	bool is_open;
	struct sonde_err *err;
	/* for split */
	const char *dir, *name;
	uint64_t bytes_max, count;
};

static bool has_integer_phase(const struct pfw_line *line)
{
	const struct pfw_field *ph = pfw_line_get(line, PFW_KEY_ph);

	return ph && ph->kind == JSONSCAN_INTEGER;
}

/* Removes the brackets, commas and blanks around a record. */
static void trim(const char **text, size_t *n)
{
	const char *from = memchr(*text, '{', *n), *to = memrchr(*text, '}', *n);

	*n = (size_t)(to - from) + 1;
	*text = from;
}

static int put_record(struct reading *r, const char *text, size_t n)
{
	struct writing *w = r->arg;

	trim(&text, &n);
	if (!w->out.has_begun)
		pfw_out_begin(&w->out, !has_integer_phase(&r->line));
	/* 0 or -errno */
	struct pfw_out *o = &w->out;
	buf_add(&o->text, text, n);
	buf_addc(&o->text, '\n');
	o->text_bytes += n + 1;
	return o->text.len >= MEMBER_BYTES ? flush(o) : o->error;
}

static int read_all(const struct pfw_tools *tools, struct pfw_inputs *in, struct pfw_facts *facts,
		int (*record)(struct reading *r, const char *text, size_t n), struct writing *w, struct sonde_err *err)
{
	struct reading r = { .tools = tools, .record = record, .arg = w, .facts = facts };
	int rc = 0;

	for (size_t i = 0; i < in->count && rc == 0; i++) {
		r.input = &in->items[i];
		rc = read_input(&r, err);
	}
	pfw_line_release(&r.line);
	return rc;
}

int pfw_tool_merge(const struct pfw_tools *tools, struct pfw_inputs *in, const char *path, struct pfw_facts *facts,
		struct sonde_err *err)
{
	struct writing w = { .is_open = false };
	int rc = pfw_out_open(&w.out, path, err), close_rc;

	if (rc < 0)
		return rc;
	rc = read_all(tools, in, facts, put_record, &w, err);
	close_rc = pfw_out_close(&w.out, rc < 0 ? NULL : err);
	return rc < 0 ? rc : close_rc;
}

static int open_next(struct writing *w)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = w->is_open ? pfw_out_close(&w->out, w->err) : 0;

	w->is_open = false;
	buf_addf(&path, "%s/%s-%" PRIu64 ".pfw.gz", w->dir, w->name, w->count + 1);
	if (rc == 0)
		rc = pfw_out_open(&w->out, path.data, w->err);
	if (rc < 0)
		return rc;
	w->is_open = true;
	w->count++;
	return 0;
}

static int split_record(struct reading *r, const char *text, size_t n)
{
	struct writing *w = r->arg;
	int rc = 0;

	if (!w->is_open || (w->out.text_bytes + n > w->bytes_max && w->out.text_bytes > 0))
		rc = open_next(w);
	return rc < 0 ? rc : put_record(r, text, n);
}

int pfw_tool_split(const struct pfw_tools *tools, struct pfw_inputs *in, const char *dir, const char *name,
		uint64_t bytes, struct pfw_facts *facts, uint64_t *count, struct sonde_err *err)
{
	struct writing w = { .dir = dir, .name = name, .bytes_max = bytes, .err = err };
	int rc = fs_mkdir_p(dir, 0777, err), close_rc;

	if (rc == 0)
		rc = read_all(tools, in, facts, split_record, &w, err);
	close_rc = w.is_open ? pfw_out_close(&w.out, rc < 0 ? NULL : err) : 0;
	*count = w.count;
	return rc < 0 ? rc : close_rc;
}

static int anonymize_record(struct reading *r, const char *text, size_t n)
{
	struct writing *w = r->arg;

	buf_reset(&w->text);
	pfw_anonymize(&w->text, &r->line, text, n);
	return buf_error(&w->text) ? -ENOMEM : put_record(r, w->text.data, w->text.len);
}

static int anonymize_input(const struct pfw_tools *tools, struct pfw_input *in, const char *dir,
		struct pfw_facts *facts, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct writing w = { .text = BUF_INIT };
	struct reading r = { .tools = tools, .record = anonymize_record, .arg = &w, .facts = facts, .input = in };
	const char *slash = strrchr(in->path, '/');

	buf_addf(&path, "%s/%s", dir, slash ? slash + 1 : in->path);
	int rc = pfw_out_open(&w.out, path.data, err);
	if (rc < 0)
		return rc;
	rc = read_input(&r, err);
	int close_rc = pfw_out_close(&w.out, rc < 0 ? NULL : err);
	pfw_line_release(&r.line);
	buf_release(&w.text);
	return rc < 0 ? rc : close_rc;
}

int pfw_tool_anonymize(const struct pfw_tools *tools, struct pfw_inputs *in, const char *dir, struct pfw_facts *facts,
		struct sonde_err *err)
{
	int rc = fs_mkdir_p(dir, 0777, err);

	for (size_t i = 0; i < in->count && rc == 0; i++)
		rc = anonymize_input(tools, &in->items[i], dir, facts, err);
	return rc;
}
