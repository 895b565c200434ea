#include "yaml.h"

#include "tracer/raw-syscall.h"

#include <fcntl.h>
#include <string.h>

#define DEPTH_MAX 8
#define KEY_BYTES 256
#define FILE_BYTES_MAX (64u << 10)

struct reader {
	void (*tell)(void *arg, const char *key, const char *value);
	void *arg;
	char key[KEY_BYTES];
	size_t depth;
	struct {
		size_t indent;
		size_t key_bytes; /* of the keys above this level */
	} level[DEPTH_MAX];
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim_end(char *text)
{
	size_t n = strlen(text);
	while (n && is_blank(text[n - 1]))
		text[--n] = '\0';
}

/*
 * The end of the quoted text that starts at p; p itself if it is not quoted. An unterminated quote extends to the
 * end.
 */
static char *behind_quotes(char *p)
{
	char quote = *p;
	if (quote != '"' && quote != '\'')
		return p;
	for (p++; *p && *p != quote; p++)
		if (*p == '\\' && quote == '"' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* Remove a comment that is not inside quotes. */
static void cut_comment(char *line)
{
	for (char *p = line, *next; *p; p = next == p ? p + 1 : next) {
		next = behind_quotes(p);
		if (*p == '#' && (p == line || is_blank(p[-1]))) {
			*p = '\0';
			return;
		}
	}
}

/* The value of a scalar: without quotes, with escapes decoded. */
static char *scalar(char *text)
{
	while (is_blank(*text))
		text++;
	trim_end(text);
	char quote = *text;
	if (quote != '"' && quote != '\'')
		return text;
	char *out = text, *start = text;
	for (char *p = text + 1; *p; p++) {
		bool is_escaped = (*p == '\\' && quote == '"' && p[1]) || (*p == '\'' && quote == '\'' && p[1] == '\'');
		if (is_escaped)
			p++;
		else if (*p == quote)
			break;
		*out++ = *p;
	}
	*out = '\0';
	return start;
}

/* The colon between a key and its value; NULL if this is not a mapping. */
static char *colon_of(char *text)
{
	char quote = 0;
	for (char *p = text; *p; p++) {
		if (quote)
			quote = *p == quote ? 0 : quote;
		else if ((*p == '"' || *p == '\'') && p == text)
			quote = *p;
		else if (*p == ':' && (is_blank(p[1]) || !p[1]))
			return p;
	}
	return NULL;
}

/* The comma that ends an item of a list: not one in quotes or braces. */
static char *comma_of(char *item)
{
	unsigned depth = 0;
	for (char *p = item, *next; *p; p = next == p ? p + 1 : next) {
		next = behind_quotes(p);
		if (*p == '{' || *p == '}')
			depth = *p == '{' ? depth + 1 : depth - (depth > 0);
		else if (*p == ',' && !depth)
			return p;
	}
	return NULL;
}

static void report_list(struct reader *r, char *text)
{
	char *end = strrchr(text, ']');
	if (end)
		*end = '\0';
	for (char *item = text + 1; item;) {
		char *comma = comma_of(item);
		if (comma)
			*comma++ = '\0';
		char *value = scalar(item);
		if (*value)
			r->tell(r->arg, r->key, value);
		item = comma;
	}
}

static void report_value(struct reader *r, char *text)
{
	char *value = text;
	while (is_blank(*value))
		value++;
	if (*value == '[')
		report_list(r, value);
	else if (*value && !strchr("|>&*!{", *value))
		r->tell(r->arg, r->key, scalar(value));
}

/* Drop the keys of lines with the same or deeper indentation. */
static void leave(struct reader *r, size_t indent)
{
	while (r->depth && r->level[r->depth - 1].indent >= indent)
		r->key[r->level[--r->depth].key_bytes] = '\0';
}

static void parse_mapping(struct reader *r, char *text, char *colon, size_t indent)
{
	*colon = '\0';
	const char *name = scalar(text);
	size_t have = strlen(r->key), n = strlen(name);
	if (!n || r->depth == DEPTH_MAX || have + n + 2 > KEY_BYTES)
		return;
	r->level[r->depth].indent = indent;
	r->level[r->depth++].key_bytes = have;
	if (have)
		r->key[have++] = '.';
	memcpy(r->key + have, name, n + 1);
	report_value(r, colon + 1);
}

static void parse_line(struct reader *r, char *line)
{
	size_t indent = 0;
	cut_comment(line);
	trim_end(line);
	while (line[indent] == ' ')
		indent++;
	char *text = line + indent;
	if (!*text || !strncmp(text, "---", 3) || !strncmp(text, "...", 3) || *text == '%')
		return;
	if (*text == '-' && (is_blank(text[1]) || !text[1])) {
		leave(r, indent + 1); /* items may have the same indentation as their list's key */
		report_value(r, text + 1);
		return;
	}
	leave(r, indent);
	char *colon = colon_of(text);
	if (colon)
		parse_mapping(r, text, colon, indent);
}

void yaml_read(char *text, void (*tell)(void *arg, const char *key, const char *value), void *arg)
{
	struct reader r = { .tell = tell, .arg = arg };
	while (text && *text) {
		char *next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		parse_line(&r, text);
		text = next;
	}
}

bool yaml_read_file(const char *path, void (*tell)(void *arg, const char *key, const char *value), void *arg)
{
	static char text[FILE_BYTES_MAX + 1];
	size_t len = 0;
	long n = 0;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	while (len < FILE_BYTES_MAX && (n = sys3(SYS_read, fd, text + len, FILE_BYTES_MAX - len)) > 0)
		len += (size_t)n;
	sys_close(fd);
	text[len] = '\0';
	yaml_read(text, tell, arg);
	return n >= 0;
}
