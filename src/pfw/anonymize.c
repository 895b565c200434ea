/*
 * Anonymized records.
 *
 * Each string among the arguments, at any depth, becomes "name-" and its hash, so equal strings stay equal. Strings
 * that are not names stay: quoted numbers, hashes, modes, dates, versions. A record that defines the name of a hash
 * gets the hash as the name. Event names and categories stay: they describe the operation, not its object.
 */
#include "pfw/line-write.h"
#include "pfw/pfw-tools.h"

#include <inttypes.h>
#include <string.h>

static bool is_key(const struct pfw_field *f, const char *key)
{
	return f->key_bytes == strlen(key) && !memcmp(f->key, key, f->key_bytes);
}

static bool is_harmless(const char *at, size_t n)
{
	uint64_t hash;
	int64_t number;

	return n == 0 || pfw_parse_int(at, n, &number) || pfw_parse_hex(at, n, &hash);
}

/* at[0..n) is the text between the quotes of a string. */
static void put_string(struct buf *out, const char *at, size_t n)
{
	if (is_harmless(at, n))
		buf_addf(out, "\"%.*s\"", (int)n, at);
	else
		buf_addf(out, "\"name-%016" PRIx64 "\"", pfw_hash_d(at, n));
}

/* Writes a value of any kind; keys inside it are not changed. */
static void put_value(struct buf *out, const char *at, const char *end)
{
	while (at < end) {
		unsigned flags = 0;

		if (*at != '"') {
			buf_addc(out, *at++);
			continue;
		}
		const char *to = jsonscan_string(at + 1, end, &flags);
		if (!to)
			return;
		const char *next = jsonscan_blanks(to, end);
		if (next < end && *next == ':')
			buf_add(out, at, (size_t)(to - at));
		else
			put_string(out, at + 1, (size_t)(to - at) - 2);
		at = to;
	}
}

static bool is_definition(const struct pfw_line *line)
{
	const struct pfw_field *name = pfw_line_get(line, PFW_KEY_name);

	return name && name->kind == JSONSCAN_STRING && name->bytes == 2 && name->value[1] == 'H' &&
			strchr("FSH", name->value[0]);
}

static bool stays(const struct pfw_field *f)
{
	return f->kind == JSONSCAN_INTEGER || f->kind == JSONSCAN_REAL || f->kind == JSONSCAN_WORD ||
			f->id == PFW_KEY_mode || is_key(f, "date") || is_key(f, "version");
}

/* The name defined for a hash becomes the hash itself. */
static void put_defined(struct buf *out, const struct pfw_line *line, const struct pfw_field *f)
{
	const struct pfw_field *value = pfw_line_arg(line, PFW_KEY_value);

	buf_adds(out, "\"name-");
	if (value)
		buf_add(out, value->value, value->bytes);
	else
		buf_addf(out, "%016" PRIx64, pfw_hash_d(f->value, f->bytes));
	buf_addc(out, '"');
}

static bool is_name_of_thread(const struct pfw_line *line, const struct pfw_field *f)
{
	const struct pfw_field *name = pfw_line_get(line, PFW_KEY_name);

	/* The "value" of these records repeats the record's name. */
	return f->id == PFW_KEY_value && name && f->kind == JSONSCAN_STRING && name->bytes == f->bytes &&
			!memcmp(name->value, f->value, f->bytes);
}

static void put_arg(struct buf *out, const struct pfw_line *line, const struct pfw_field *f)
{
	const char *value = f->value - (f->kind == JSONSCAN_STRING);

	if (stays(f) || is_name_of_thread(line, f)) {
		buf_add(out, f->from, (size_t)(f->to - f->from));
		return;
	}
	buf_add(out, f->from, (size_t)(value - f->from));
	if (f->id == PFW_KEY_name && f->kind == JSONSCAN_STRING && is_definition(line))
		put_defined(out, line, f);
	else
		put_value(out, value, f->to);
}

void pfw_anonymize(struct buf *out, const struct pfw_line *line, const char *text, size_t n)
{
	const char *at = text;

	for (size_t i = 0; i < line->count; i++) {
		const struct pfw_field *f = &line->fields[i];

		buf_add(out, at, (size_t)(f->from - at));
		if (f->is_arg || (f->kind != JSONSCAN_STRING && f->id == PFW_KEY_args))
			put_arg(out, line, f);
		else
			buf_add(out, f->from, (size_t)(f->to - f->from));
		at = f->to;
	}
	buf_add(out, at, (size_t)(text + n - at));
}
