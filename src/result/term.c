/*
 * term: capabilities of a stream, styled and wrapped text, and the progress line.
 */
#include "result/term.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WRAP_ROOM_MIN 20
#define PROGRESS_EVERY_NS 100000000

static const char *const styles[] = {
	[TERM_PLAIN] = "",
	[TERM_BOLD] = "\033[1m",
	[TERM_DIM] = "\033[2m",
	[TERM_GREEN] = "\033[32m",
	[TERM_YELLOW] = "\033[33m",
	[TERM_RED] = "\033[31m",
	[TERM_CYAN] = "\033[36m",
};

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool is_dumb(void)
{
	const char *kind = getenv("TERM");

	return !kind || strcmp(kind, "dumb") == 0;
}

static size_t width_of(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return n > 0 && n <= 10000 ? n : WIDTH_DEFAULT;
}

struct term term_of(FILE *stream)
{
	int fd = fileno(stream);
	bool is_terminal = isatty(fd);

	return (struct term){
		.is_terminal = is_terminal,
		.has_colour = is_terminal && !is_set("NO_COLOR") && !is_dumb(),
		.width = width_of(fd),
	};
}

void term_add(struct buf *out, const struct term *term, enum term_style style, const char *text)
{
	bool is_styled = term->has_colour && style != TERM_PLAIN;

	buf_adds(out, is_styled ? styles[style] : "");
	buf_adds(out, text);
	buf_adds(out, is_styled ? "\033[0m" : "");
}

/* Returns the length of the well-formed UTF-8 sequence at text; 0 if it is malformed or a control character. */
static size_t printable(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t n = c[0] < 0x80                        ? 1
			: c[0] >= 0xc2 && c[0] < 0xe0 ? 2
			: (c[0] & 0xf0) == 0xe0       ? 3
			: c[0] >= 0xf0 && c[0] < 0xf5 ? 4
						      : 0;

	if (n == 1)
		return c[0] >= 0x20 && c[0] != 0x7f;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if (c[0] == 0xc2 && c[1] < 0xa0) /* C1 controls */
		return 0;
	return n;
}

void term_safe(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = printable(text);

		buf_add(out, n ? text : "?", n ? n : 1);
		text += n ? n : 1;
	}
}

size_t term_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static size_t columns_of(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

void term_wrap(struct buf *out, const char *text, size_t at, size_t indent, size_t width)
{
	bool is_start = true;

	if (width < indent + WRAP_ROOM_MIN) {
		buf_adds(out, text);
		return;
	}
	while (*text) {
		size_t len = strcspn(text, " "), columns = columns_of(text, len);

		if (!is_start && at + 1 + columns > width) {
			buf_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!is_start) {
			buf_addc(out, ' ');
			at++;
		}
		buf_add(out, text, len);
		at += columns;
		text += len + (text[len] == ' ');
		is_start = false;
	}
}

void term_progress_init(struct term_progress *p)
{
	struct term term = term_of(stderr);

	*p = (struct term_progress){ .is_on = term.is_terminal && !is_dumb(), .width = term.width };
}

/* Bytes of text that fill at most `columns` columns. */
static size_t cut(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++) {
		bool is_head = ((unsigned char)text[i] & 0xc0) != 0x80;

		if (is_head && columns-- == 0)
			break;
	}
	return i;
}

void term_progress_show(struct term_progress *p, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(buf_release) struct buf safe = BUF_INIT;
	int64_t now_ns;
	va_list ap;

	if (!p->is_on)
		return;
	now_ns = clock_mono_ns();
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + PROGRESS_EVERY_NS;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	term_safe(&safe, text.data);
	fprintf(stderr, "\r%.*s\033[K", (int)cut(safe.data, p->width - 1), safe.data);
	fflush(stderr);
	p->is_shown = true;
}

void term_progress_end(struct term_progress *p)
{
	if (p->is_shown)
		fputs("\r\033[K", stderr);
	p->is_shown = false;
}
