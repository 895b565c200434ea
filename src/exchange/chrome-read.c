#include "exchange/chrome-read.h"

#include "base/cleanup.h"
#include "pfw/line-parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 16 /* bytes of a member's name that are compared */

static void chrome_split_init(struct chrome_split *s, int (*take)(void *arg, char *text, size_t n), void *arg)
{
	*s = (struct chrome_split){ .take = take, .arg = arg };
	buf_init(&s->event, 2 * PFW_LINE_BYTES_MAX);
	buf_init(&s->key, 0);
}

static void chrome_split_release(struct chrome_split *s)
{
	buf_release(&s->event);
	buf_release(&s->key);
}

static bool is_named_events(const struct chrome_split *s)
{
	return s->key.len == 11 && !memcmp(s->key.data, "traceEvents", 11);
}

static int close_bracket(struct chrome_split *s)
{
	bool is_end = s->is_event && s->depth == s->events_depth + 1;

	if (s->depth)
		s->depth--;
	if (s->depth < s->events_depth)
		s->events_depth = 0; /* no events follow the array */
	if (!is_end)
		return 0;
	s->is_event = false;
	if (s->is_skipped) {
		s->too_long++;
		return 0;
	}
	if (buf_error(&s->event))
		return -ENOMEM;
	return s->take(s->arg, s->event.data, s->event.len);
}

static void keep(struct chrome_split *s, char c)
{
	if (s->event.len >= PFW_LINE_BYTES_MAX) {
		s->is_skipped = true;
		buf_release(&s->event);
		buf_init(&s->event, 2 * PFW_LINE_BYTES_MAX);
	}
	/* Newlines between tokens are blanks; inside strings they are not valid JSON. */
	if (!s->is_skipped)
		buf_addc(&s->event, c == '\n' && !s->is_string ? ' ' : c);
}

static void on_string_byte(struct chrome_split *s, char c)
{
	if (s->is_event)
		keep(s, c);
	if (s->is_escaped)
		s->is_escaped = false;
	else if (c == '\\')
		s->is_escaped = true;
	else if (c == '"')
		s->is_string = false;
	if (s->is_string && !s->is_event && s->depth == 1 && s->key.len < KEY_BYTES)
		buf_addc(&s->key, c);
}

static int on_byte(struct chrome_split *s, char c)
{
	int rc = 0;

	if (s->is_string) {
		on_string_byte(s, c);
		return 0;
	}
	if (c == '{' || c == '[') {
		s->depth++;
		if (c == '[' && !s->has_array && (s->depth == 1 || (s->depth == 2 && is_named_events(s)))) {
			s->events_depth = s->depth;
			s->has_array = true;
		}
		if (c == '{' && s->events_depth && s->depth == s->events_depth + 1) {
			s->is_event = true;
			s->is_skipped = false;
			buf_reset(&s->event);
		}
	}
	if (s->is_event)
		keep(s, c);
	if (c == '"') {
		s->is_string = true;
		if (!s->is_event && s->depth == 1)
			buf_reset(&s->key);
	} else if (c == '}' || c == ']') {
		rc = close_bracket(s);
	}
	return rc;
}

/* 0, or the result of take */
static int chrome_split_add(struct chrome_split *s, const char *bytes, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = on_byte(s, bytes[i]);
	return rc;
}

#define READ_BYTES ((size_t)64 << 10)

/* Values. */

static int64_t int_of(struct chrome_reader *r, const struct pfw_field *f)
{
	int64_t v;

	if (f && pfw_field_int(f, &v))
		return v;
	if (!f || f->kind != JSONSCAN_STRING || !f->bytes)
		return STORE_NULL;
	/* Some tracers name processes and threads: the name is mapped to a number. */
	v = foreign_string(r->f, f->value, f->bytes);
	return v == STORE_NULL ? v : v + ((int64_t)1 << 32);
}

int64_t chrome_time_of(const struct pfw_field *f)
{
	int64_t ns;

	return f && (f->kind == JSONSCAN_INTEGER || f->kind == JSONSCAN_REAL || f->kind == JSONSCAN_STRING) &&
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

const struct pfw_field *chrome_field_of(const struct chrome_reader *r, const char *key, bool is_arg)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < r->line.count; i++) {
		const struct pfw_field *f = &r->line.fields[i];

		if (f->is_arg == is_arg && f->key_bytes == n && !memcmp(f->key, key, n))
			return f;
	}
	return NULL;
}

/* Returns whether rows have a column for it. */
static bool is_column(const struct pfw_field *f)
{
	static const enum pfw_key columns[] = { PFW_KEY_name, PFW_KEY_cat, PFW_KEY_ph, PFW_KEY_ts, PFW_KEY_dur,
		PFW_KEY_pid, PFW_KEY_tid };

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (f->id == columns[i])
			return true;
	return false;
}

const struct store_text *chrome_object_of(struct chrome_reader *r, bool is_arg, struct buf *out,
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

void chrome_keep_line(struct chrome_reader *r)
{
	const struct pfw_field *ph = pfw_line_get(&r->line, PFW_KEY_ph);
	struct store_line row = store_line_nulls;
	struct store_text args, extra;

	r->f->counts->other++;
	row.phase = string_of(r, ph);
	CHROME_STAMP(row, r);
	row.name = r->name;
	row.category = r->category;
	row.args = chrome_object_of(r, true, &r->args, &args);
	row.extra = chrome_object_of(r, false, &r->text, &extra);
	foreign_add(r->f, STORE_TABLE_LINE, &row);
}

static void on_mark(struct chrome_reader *r)
{
	struct store_mark row = store_mark_nulls;
	struct store_text args;

	r->f->counts->events++;
	CHROME_STAMP(row, r);
	row.name = r->name;
	row.category = r->category;
	row.args = chrome_object_of(r, true, &r->args, &args);
	foreign_add(r->f, STORE_TABLE_MARK, &row);
	foreign_count_event(r->f, r->process, r->tid, r->ts_ns, STORE_NULL);
}

static bool read_real(struct chrome_reader *r, const struct pfw_field *f, double *v)
{
	if (f->kind != JSONSCAN_INTEGER && f->kind != JSONSCAN_REAL)
		return false;
	buf_reset(&r->text);
	buf_add(&r->text, f->value, f->bytes);
	*v = strtod(r->text.data, NULL);
	return isfinite(*v);
}

static void on_counter(struct chrome_reader *r)
{
	struct store_counter row = store_counter_nulls;

	r->f->counts->counters++;
	CHROME_STAMP(row, r);
	for (size_t i = 0; i < r->line.count; i++) {
		const struct pfw_field *f = &r->line.fields[i];

		if (!f->is_arg || !read_real(r, f, &row.value))
			continue;
		/* "name", or "name.key" if there are several keys or a key with a meaning. */
		const struct pfw_field *name = pfw_line_get(&r->line, PFW_KEY_name);
		buf_reset(&r->text);
		if (name)
			pfw_field_text(name, &r->text);
		if (f->id != PFW_KEY_value) {
			buf_addc(&r->text, '.');
			buf_add(&r->text, f->key, f->key_bytes);
		}
		row.name = foreign_string(r->f, r->text.data, r->text.len);
		foreign_add(r->f, STORE_TABLE_COUNTER, &row);
	}
}

static bool is_called(const struct pfw_field *name, const char *text)
{
	return name && name->bytes == strlen(text) && !memcmp(name->value, text, name->bytes);
}

static void on_metadata(struct chrome_reader *r)
{
	const struct pfw_field *name = pfw_line_get(&r->line, PFW_KEY_name),
			       *value = pfw_line_arg(&r->line, PFW_KEY_name);
	const struct pfw_field *labels = chrome_field_of(r, "labels", true);

	r->f->counts->metadata++;
	if (is_called(name, "process_name") && value && r->process)
		r->process->exe = string_of(r, value);
	else if (is_called(name, "thread_name") && value && r->process)
		foreign_thread_name(r->f, r->process, r->tid, string_of(r, value));
	else if (is_called(name, "process_labels") && labels && r->process)
		r->process->argv = string_of(r, labels);
	else if (!is_called(name, "process_sort_index") && !is_called(name, "thread_sort_index"))
		chrome_keep_line(r);
}

static const struct {
	char phase;
	bool needs_time;
	void (*take)(struct chrome_reader *r);
} phases[] = {
	{ 'X', true, chrome_on_complete },
	{ 'B', true, chrome_on_begin },
	{ 'E', true, chrome_on_end },
	{ 'i', true, on_mark },
	{ 'I', true, on_mark },
	{ 'R', true, on_mark },
	{ 'n', true, on_mark },
	{ 'C', true, on_counter },
	{ 'b', true, chrome_on_pair_begin },
	{ 'S', true, chrome_on_pair_begin },
	{ 'e', true, chrome_on_pair_end },
	{ 'F', true, chrome_on_pair_end },
	{ 'M', false, on_metadata },
};

static void on_record(struct chrome_reader *r)
{
	const struct pfw_field *ph = pfw_line_get(&r->line, PFW_KEY_ph);
	char phase = ph && ph->kind == JSONSCAN_STRING && ph->bytes == 1 ? ph->value[0] : '\0';

	r->pid = int_of(r, pfw_line_get(&r->line, PFW_KEY_pid));
	r->tid = int_of(r, pfw_line_get(&r->line, PFW_KEY_tid));
	r->pid = r->pid == STORE_NULL ? 0 : r->pid;
	r->tid = r->tid == STORE_NULL ? r->pid : r->tid;
	r->ts_ns = chrome_time_of(pfw_line_get(&r->line, PFW_KEY_ts));
	r->name = string_of(r, pfw_line_get(&r->line, PFW_KEY_name));
	r->category = string_of(r, pfw_line_get(&r->line, PFW_KEY_cat));
	r->process = foreign_process(r->f, r->pid);
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		if (phases[i].phase == phase && (r->ts_ns != STORE_NULL || !phases[i].needs_time)) {
			phases[i].take(r);
			return;
		}
	}
	chrome_keep_line(r);
}

static int on_event(void *arg, char *text, size_t n)
{
	struct chrome_reader *r = arg;
	enum pfw_line_kind kind = pfw_line_scan(&r->line, text, n);

	r->f->line++;
	r->f->counts->lines++;
	if (kind == PFW_LINE_NO_MEMORY)
		return -ENOMEM;
	if (kind == PFW_LINE_RECORD)
		on_record(r);
	else
		foreign_lost(r->f, r->line.reason ? r->line.reason : "not an event", r->line.where, text, n);
	return 0;
}

int chrome_read(struct foreign *f)
{
	CLEANUP(cleanup_free) char *bytes = malloc(READ_BYTES);
	struct chrome_reader r = { .f = f, .text = BUF_INIT, .args = BUF_INIT };
	size_t n;
	int rc = bytes ? 0 : -ENOMEM;

	chrome_split_init(&r.split, on_event, &r);
	while (rc == 0 && (n = foreign_read(f, bytes, READ_BYTES)) > 0)
		rc = chrome_split_add(&r.split, bytes, n);
	if (rc == 0)
		chrome_end_spans(&r);
	f->counts->too_long += r.split.too_long;
	if (rc == 0 && !r.split.has_array)
		foreign_lost(f, "no array of events found", 0, "", 0);
	chrome_release_spans(&r);
	chrome_split_release(&r.split);
	pfw_line_release(&r.line);
	buf_release(&r.text);
	buf_release(&r.args);
	return rc;
}

/* Result of inspecting the start of a file: an event, and the text after it. */
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
 * An object with "traceEvents", or an array of events separated by commas: DFTracer's have none. The inspected bytes
 * may end before the first event does.
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
