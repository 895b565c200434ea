#include "exchange/strace-private.h"

#include "pfw/line-parse.h"
#include "store/schema.h"

#include <ctype.h>
#include <string.h>

#define ERRNO_MAX 4095
#define DEPTH_MAX 64

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && isdigit((unsigned char)*at))
		at++;
	return at;
}

static bool starts(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - at) >= n && !memcmp(at, word, n);
}

/* A line. */

static void fail(struct strace_line *l, const char *text, const char *at, const char *reason)
{
	l->kind = STRACE_NONE;
	l->reason = reason;
	l->where = (size_t)(at - text);
}

/* "1234 " or "[pid 1234] "; a timestamp is not a thread. */
static const char *parse_thread(struct strace_line *l, const char *at, const char *end)
{
	bool has_bracket = starts(at, end, "[pid");
	const char *from = has_bracket ? skip_spaces(at + 4, end) : at, *to = skip_digits(from, end);

	if (to == from || (has_bracket ? *to != ']' : *to != ' '))
		return at;
	if (!pfw_parse_int(from, (size_t)(to - from), &l->tid))
		return at;
	return skip_spaces(to + has_bracket, end);
}

static const char *parse_time(struct strace_line *l, const char *at, const char *end)
{
	const char *dot = skip_digits(at, end), *to;

	if (dot == at || dot == end || *dot != '.')
		return NULL;
	to = skip_digits(dot + 1, end);
	if (to == dot + 1 || to == end || *to != ' ' || !pfw_parse_scaled(at, (size_t)(to - at), 1000000000, &l->ts_ns))
		return NULL;
	return skip_spaces(to, end);
}

/* "exited with 0 +++", "killed by SIGKILL (core dumped) +++" */
static void parse_end(struct strace_line *l, const char *text, const char *at, const char *end)
{
	const char *from, *to;

	if (starts(at, end, "exited with ")) {
		from = at + 12;
		to = skip_digits(from, end);
		l->kind = STRACE_EXITED;
		if (pfw_parse_int(from, (size_t)(to - from), &l->value))
			return;
	} else if (starts(at, end, "killed by ")) {
		from = at + 10;
		for (to = from; to < end && is_word(*to); to++)
			;
		l->kind = STRACE_KILLED;
		l->name = (struct strace_text){ from, (size_t)(to - from) };
		return;
	} else if (starts(at, end, "superseded by ")) {
		l->kind = STRACE_TALK;
		return;
	}
	fail(l, text, at, "unknown process exit");
}

static void parse_call(struct strace_line *l, const char *text, const char *at, const char *end)
{
	static const char cut[] = "<unfinished ...>";
	const char *to = at;

	while (to < end && is_word(*to))
		to++;
	if (to == at || to == end || *to != '(') {
		fail(l, text, at, "expected a call, signal or exit");
		return;
	}
	l->name = (struct strace_text){ at, (size_t)(to - at) };
	l->rest = (struct strace_text){ to + 1, (size_t)(end - to - 1) };
	l->kind = STRACE_CALL;
	if (l->rest.n >= sizeof(cut) - 1 && !memcmp(end - (sizeof(cut) - 1), cut, sizeof(cut) - 1)) {
		l->kind = STRACE_UNFINISHED;
		l->rest.n -= sizeof(cut) - 1;
	}
}

/* "<... read resumed>" or, in older versions, "<... read resumed> " */
static void parse_rest(struct strace_line *l, const char *text, const char *at, const char *end)
{
	const char *from = at + 5, *to = from, *behind;

	while (to < end && is_word(*to))
		to++;
	behind = memchr(to, '>', (size_t)(end - to));
	if (to == from || !starts(to, end, " resumed") || !behind) {
		fail(l, text, at, "expected the name of the resumed call");
		return;
	}
	l->kind = STRACE_RESUMED;
	l->name = (struct strace_text){ from, (size_t)(to - from) };
	l->rest = (struct strace_text){ behind + 1, (size_t)(end - behind - 1) };
}

void strace_line_parse(struct strace_line *l, const char *text, size_t n)
{
	const char *end = text + n, *at = skip_spaces(text, end), *next, *to;

	*l = (struct strace_line){ .kind = STRACE_NONE, .tid = STORE_NULL, .value = STORE_NULL };
	if (starts(at, end, "strace: ")) {
		l->kind = STRACE_TALK;
		return;
	}
	at = parse_thread(l, at, end);
	next = parse_time(l, at, end);
	if (!next) {
		fail(l, text, at, "expected a time in seconds (strace -ttt)");
	} else if (starts(next, end, "+++ ")) {
		parse_end(l, text, next + 4, end);
	} else if (starts(next, end, "--- ")) {
		for (to = next + 4; to < end && is_word(*to); to++)
			;
		l->kind = to > next + 4 ? STRACE_SIGNAL : STRACE_TALK;
		l->name = (struct strace_text){ next + 4, (size_t)(to - next - 4) };
	} else if (starts(next, end, "<... ")) {
		parse_rest(l, text, next, end);
	} else {
		parse_call(l, text, next, end);
	}
}

/* A call. */

/* The position after the closing quote. */
static const char *skip_quoted(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at < end ? at + 1 : end;
}

static void add_arg(struct strace_call *c, const char *from, const char *to)
{
	from = skip_spaces(from, to);
	while (to > from && to[-1] == ' ')
		to--;
	if (c->count < STRACE_ARGS_MAX && from < to)
		c->args[c->count++] = (struct strace_text){ from, (size_t)(to - from) };
}

/* Up to the parenthesis that closes the arguments; NULL if it is missing. */
static const char *parse_args(struct strace_call *c, const char *at, const char *end)
{
	const char *from = at, *begin = at;
	unsigned depth = 0;

	for (; at < end; at++) {
		if (*at == '"') {
			at = skip_quoted(at, end) - 1;
		} else if (*at == '<' && at > begin && (isdigit((unsigned char)at[-1]) || at[-1] == 'D')) {
			const char *close = memchr(at, '>', (size_t)(end - at));

			at = close ? close : at;
		} else if (*at == '(' || *at == '[' || *at == '{') {
			depth++;
		} else if (depth == 0 && *at == ')') {
			add_arg(c, from, at);
			return at;
		} else if (*at == ')' || *at == ']' || *at == '}') {
			depth -= depth > 0;
		} else if (*at == ',' && depth == 0) {
			add_arg(c, from, at);
			from = at + 1;
		}
	}
	return NULL;
}

static int errnum_of(const char *name, size_t n)
{
	for (int i = 1; i < ERRNO_MAX; i++) {
		const char *known = strerrorname_np(i);

		if (i > 200 && !known)
			break;
		if (known && strlen(known) == n && !memcmp(known, name, n))
			return i;
	}
	return 0;
}

/* " = -1 ENOENT (No such file or directory) <0.000012>" */
static void parse_result(struct strace_call *c, const char *at, const char *end)
{
	const char *to, *less = memrchr(at, '<', (size_t)(end - at));

	if (less && end[-1] == '>' && pfw_parse_scaled(less + 1, (size_t)(end - less - 2), 1000000000, &c->dur_ns))
		end = less;
	at = skip_spaces(at, end);
	if (at == end || *at != '=')
		return;
	at = skip_spaces(at + 1, end);
	for (to = at; to < end && *to != ' ' && *to != '<'; to++)
		;
	struct strace_text number = (struct strace_text){ at, (size_t)(to - at) };
	c->ret = strace_number(&number);
	number.n = (size_t)(end - at);
	c->what = to < end && *to == '<' ? strace_decoration(&number) : c->what;
	at = skip_spaces(to, end);
	for (to = at; to < end && is_word(*to); to++)
		;
	if (c->ret == -1 && to > at)
		c->errnum = errnum_of(at, (size_t)(to - at));
}

bool strace_call_parse(struct strace_call *c, const char *text, size_t n)
{
	const char *end = text + n, *close;

	*c = (struct strace_call){ .ret = STORE_NULL, .dur_ns = STORE_NULL };
	close = parse_args(c, text, end);
	if (!close)
		return false;
	c->all = (struct strace_text){ text, (size_t)(close - text) };
	if (close + 1 < end)
		parse_result(c, close + 1, end);
	return true;
}

/* Arguments. */

static bool parse_hex(const char *at, size_t n, int64_t *v)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)at[i]) || i >= 16)
			return false;
		bits = bits << 4 | (uint64_t)(isdigit((unsigned char)at[i]) ? at[i] - '0' : (at[i] | 32) - 'a' + 10);
	}
	*v = (int64_t)bits;
	return n > 0;
}

int64_t strace_number(const struct strace_text *arg)
{
	const char *end = arg->at + arg->n, *to = arg->at + (arg->n && *arg->at == '-');
	int64_t v = STORE_NULL;

	if (arg->n > 2 && arg->at[0] == '0' && arg->at[1] == 'x')
		return parse_hex(arg->at + 2, arg->n - 2, &v) ? v : STORE_NULL;
	to = skip_digits(to, end);
	if ((to < end && *to != '<') || !pfw_parse_int(arg->at, (size_t)(to - arg->at), &v))
		return STORE_NULL;
	return v;
}

struct strace_text strace_decoration(const struct strace_text *arg)
{
	const char *end = arg->at + arg->n, *from = memchr(arg->at, '<', arg->n);
	const char *to = from ? memrchr(from, '>', (size_t)(end - from)) : NULL;
	struct strace_text none = { .at = NULL };

	return to ? (struct strace_text){ from + 1, (size_t)(to - from - 1) } : none;
}

/* One escaped byte; at is after the backslash. */
static const char *parse_escape(const char *at, const char *end, struct buf *out)
{
	static const char letters[] = "ntrvfab", bytes[] = "\n\t\r\v\f\a\b";
	const char *known = at < end && *at ? strchr(letters, *at) : NULL;
	unsigned value = 0, digits = 0;

	if (known) {
		buf_addc(out, bytes[known - letters]);
		return at + 1;
	}
	if (at + 2 < end && *at == 'x' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
		int64_t v = 0;

		parse_hex(at + 1, 2, &v);
		buf_addc(out, (char)v);
		return at + 3;
	}
	for (; at < end && digits < 3 && *at >= '0' && *at <= '7'; at++, digits++)
		value = value * 8 + (unsigned)(*at - '0');
	if (digits) {
		buf_addc(out, (char)value);
		return at;
	}
	if (at < end)
		buf_addc(out, *at++);
	return at;
}

bool strace_string(const struct strace_text *arg, struct buf *out)
{
	const char *at = arg->at, *end = at + arg->n;

	if (at == end || *at != '"')
		return false;
	for (at++; at < end && *at != '"';) {
		if (*at == '\\')
			at = parse_escape(at + 1, end, out);
		else
			buf_addc(out, *at++);
	}
	return at < end;
}
