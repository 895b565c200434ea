/* Writes the parts of a trace's lines; see pfw-write.h. */
#include "pfw/pfw-write.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void pfw_put_int(struct buf *out, const char *key, int64_t v)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do {
		digits[--at] = (char)('0' + size % 10);
		size /= 10;
	} while (size);
	if (v < 0)
		digits[--at] = '-';
	buf_adds(out, key);
	buf_add(out, digits + at, sizeof(digits) - at);
}

/* An id or a time: quoted in generation A. */
static void put_number(struct buf *out, const struct pfw_origin *o, const char *key, int64_t v)
{
	buf_adds(out, key);
	pfw_put_int(out, o->generation == 'A' ? "\"" : "", v);
	if (o->generation == 'A')
		buf_addc(out, '"');
}

/* Decimals of the remainder of the unit, a power of ten. */
static void put_decimals(struct buf *out, int64_t left, int64_t unit)
{
	buf_addc(out, '.');
	for (; left; left %= unit) {
		unit /= 10;
		buf_addc(out, (char)('0' + left / unit));
	}
}

void pfw_put_time(struct pfw_writer *w, const struct pfw_origin *o, const char *key, int64_t ns)
{
	const char *quote = o->generation == 'A' ? "\"" : "";
	int64_t left = ns % w->unit_ns;

	if (left < 0)
		left += w->unit_ns;
	buf_adds(&w->line, key);
	pfw_put_int(&w->line, quote, (ns - left) / w->unit_ns);
	if (left && w->is_imported)
		put_decimals(&w->line, left, w->unit_ns);
	buf_adds(&w->line, quote);
}

void pfw_put_ts(struct pfw_writer *w, const struct pfw_origin *o, int64_t ns)
{
	int64_t real_ns;

	if (ns != STORE_NULL && !__builtin_add_overflow(ns, w->offset_ns, &real_ns))
		pfw_put_time(w, o, ",\"ts\":", real_ns);
}

void pfw_put_text(struct buf *out, const char *key, const struct store_text *text)
{
	buf_adds(out, key);
	pfw_encode(out, text && text->data ? text->data : "", text && text->data ? text->bytes : 0);
}

void pfw_put_hash(struct buf *out, const char *key, uint64_t hash, bool is_hex)
{
	if (is_hex)
		buf_addf(out, "%s\"%016" PRIx64 "\"", key, hash);
	else
		buf_addf(out, "%s%" PRIu64, key, hash);
}

void pfw_end_line(struct pfw_writer *w)
{
	buf_addc(&w->line, '\n');
	if (buf_error(&w->line))
		w->error = -ENOMEM;
	else if (fwrite(w->line.data, 1, w->line.len, w->out) != w->line.len && !w->error)
		w->error = errno ? -errno : -EIO;
	buf_reset(&w->line);
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

static bool has_field(const struct pfw_line *line, const char *key)
{
	for (size_t i = 0; i < line->count; i++)
		if (line->fields[i].key_bytes == strlen(key) && !memcmp(line->fields[i].key, key, strlen(key)))
			return true;
	return false;
}

/* Writes the fields without a column, except the marker of a missing host. */
static bool put_extra(struct pfw_writer *w, const struct store_text *extra)
{
	bool has_type;

	if (!extra || extra->bytes > PFW_LINE_BYTES_MAX ||
			pfw_object_scan(&w->fields, extra->data, extra->bytes) != PFW_LINE_RECORD)
		return false;
	has_type = has_field(&w->fields, "type");
	for (size_t i = 0; i < w->fields.count; i++) {
		const struct pfw_field *f = &w->fields.fields[i];

		if (f->id == PFW_KEY_hhash)
			continue;
		buf_addc(&w->line, ',');
		buf_add(&w->line, f->from, (size_t)(f->to - f->from));
	}
	return has_type;
}

void pfw_put_head(struct pfw_writer *w, const struct pfw_origin *o, const struct pfw_head *head)
{
	size_t begin = w->line.len;

	buf_addc(&w->line, '{');
	if (head->id != STORE_NULL)
		put_number(&w->line, o, ",\"id\":", head->id);
	if (head->name)
		pfw_put_text(&w->line, ",\"name\":", head->name);
	if (head->category)
		pfw_put_text(&w->line, ",\"cat\":", head->category);
	if (!put_extra(w, head->extra) && o->generation == 'E' && head->phase)
		pfw_put_int(&w->line, ",\"type\":", type_of(head->category));
	if (head->pid != STORE_NULL)
		put_number(&w->line, o, ",\"pid\":", head->pid);
	if (head->tid != STORE_NULL)
		put_number(&w->line, o, ",\"tid\":", head->tid);
	/* The first field has no comma. */
	if (w->line.len > begin + 1) {
		memmove(w->line.data + begin + 1, w->line.data + begin + 2, w->line.len - begin - 2);
		w->line.len--;
	}
}

void pfw_put_phase(struct pfw_writer *w, const struct pfw_origin *o, char phase)
{
	static const char letters[] = "XCAM";
	const char *place = strchr(letters, phase);

	if (o->generation == 'E')
		pfw_put_int(&w->line, ",\"ph\":", place - letters + 1);
	else
		buf_addf(&w->line, ",\"ph\":\"%c\"", phase == 'A' && w->generation ? 'C' : phase);
}

/* Returns whether the field may hold a hash. */
static bool is_hash_field(const struct pfw_field *f, bool is_definition)
{
	return (f->key_bytes >= 4 && !memcmp(f->key + f->key_bytes - 4, "hash", 4)) || f->id == PFW_KEY_cwd ||
			(is_definition && f->id == PFW_KEY_value);
}

static void put_field(struct pfw_writer *w, const struct pfw_origin *o, const struct pfw_field *f, bool is_definition)
{
	uint64_t hash;
	bool is_hex;

	/* A hash is only reformatted if another generation was requested. */
	if (w->generation && is_hash_field(f, is_definition) && pfw_field_hash(f, &hash, &is_hex) &&
			is_hex != o->is_hex) {
		buf_add(&w->line, f->from, f->key_bytes + 2);
		pfw_put_hash(&w->line, ":", hash, o->is_hex);
		return;
	}
	buf_add(&w->line, f->from, (size_t)(f->to - f->from));
}

bool pfw_put_fields(struct pfw_writer *w, const struct pfw_origin *o, const struct store_text *object,
		const char *before, bool is_definition)
{
	if (object->bytes > PFW_LINE_BYTES_MAX ||
			pfw_object_scan(&w->fields, object->data, object->bytes) != PFW_LINE_RECORD)
		return false;
	for (size_t i = 0; i < w->fields.count; i++) {
		buf_adds(&w->line, i ? "," : before);
		put_field(w, o, &w->fields.fields[i], is_definition);
	}
	return w->fields.count > 0;
}
