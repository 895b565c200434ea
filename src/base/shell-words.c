/*
 * Splitting and quoting by the rules of POSIX sh, and "did you mean".
 *
 * The splitter copies into one block as long as the text: unquoting never lengthens it, and each word's '\0' replaces
 * a blank or quote. Anything that a shell would expand or act on is an error.
 */
#include "base/shell-words.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { NEAREST_LENGTH_MAX = 63 };

struct splitter {
	const char *at;
	char *out;
	const char *word;   /* start of the current word in out; NULL between words */
	const char *source; /* where it starts in the text */
	bool is_first;
	struct sonde_err *err;
};

static int refuse(struct splitter *s, const char *what)
{
	err_set(s->err, EINVAL, "cannot split the command: %s", what);
	err_hint(s->err, "quote it to have it taken literally, or use --shell to run the command with a shell");
	return -EINVAL;
}

static int refuse_char(struct splitter *s, char c)
{
	char what[] = "a shell would act on 'x'";

	what[sizeof(what) - 3] = c;
	return refuse(s, what);
}

static int unclosed(struct splitter *s, const char *what)
{
	return err_set(s->err, EINVAL, "cannot split the command: %s is never closed", what);
}

static int double_quotes(struct splitter *s)
{
	for (s->at++; *s->at != '"'; s->at++) {
		if (!*s->at)
			return unclosed(s, "a double quote");
		if (*s->at == '$' || *s->at == '`')
			return refuse_char(s, *s->at);
		if (*s->at == '\\' && s->at[1] && strchr("$`\"\\\n", s->at[1])) {
			s->at++;
			if (*s->at == '\n')
				continue;
		}
		*s->out++ = *s->at;
	}
	s->at++;
	return 0;
}

static bool is_blank_or_end(char c)
{
	return !c || c == ' ' || c == '\t' || c == '\n';
}

/* Would a shell act on this unquoted character? */
static bool is_active(const struct splitter *s)
{
	char c = *s->at;
	bool is_start = s->at == s->source;

	if (c == '~' || c == '#')
		return is_start;
	if (c == '!')
		return is_start && s->is_first && is_blank_or_end(s->at[1]);
	if (c == '[') /* a single '[' is a command name */
		return !(is_start && is_blank_or_end(s->at[1]));
	return strchr("$`*?;|&<>()", c) != NULL;
}

/* NAME=value before a command is an assignment. */
static bool is_assignment(const char *word)
{
	const char *p = word;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return *p == '=';
}

static int one_piece(struct splitter *s)
{
	if (*s->at == '\'') {
		for (s->at++; *s->at != '\''; s->at++) {
			if (!*s->at)
				return unclosed(s, "a single quote");
			*s->out++ = *s->at;
		}
		s->at++;
		return 0;
	}
	if (*s->at == '"')
		return double_quotes(s);
	if (*s->at == '\\') {
		if (!s->at[1])
			return refuse(s, "it ends in a backslash");
		*s->out++ = s->at[1];
		s->at += 2;
		return 0;
	}
	if (is_active(s))
		return refuse_char(s, *s->at);
	*s->out++ = *s->at++;
	return 0;
}

static int one_word(struct splitter *s)
{
	s->word = s->out;
	s->source = s->at;
	if (s->is_first && is_assignment(s->at))
		return refuse(s, "a shell would take its first word for an assignment");
	while (!is_blank_or_end(*s->at)) {
		int rc = one_piece(s);

		if (rc < 0)
			return rc;
		while (s->at[0] == '\\' && s->at[1] == '\n')
			s->at += 2;
	}
	*s->out++ = '\0';
	s->is_first = false;
	return 0;
}

/* Blanks before a word; a newline between words would end a shell's command. */
static int skip_blanks(struct splitter *s)
{
	bool has_newline = false;

	for (;;) {
		if (s->at[0] == '\\' && s->at[1] == '\n')
			s->at++;
		else if (*s->at == '\n')
			has_newline = true;
		else if (*s->at != ' ' && *s->at != '\t')
			break;
		s->at++;
	}
	if (has_newline && *s->at && !s->is_first)
		return refuse(s, "a shell would end it at the line break");
	return 0;
}

int words_split(const char *text, struct arena *arena, char ***argv_out, struct sonde_err *err)
{
	size_t len = strlen(text), count = 0;
	struct splitter s = { .at = text, .is_first = true, .err = err };
	char **argv = arena_alloc(arena, (len / 2 + 2) * sizeof(*argv));
	int rc;

	s.out = arena_alloc(arena, len + 1);
	if (!argv || !s.out)
		return err_sys(err, ENOMEM, "cannot split the command");
	for (;;) {
		rc = skip_blanks(&s);
		if (rc < 0)
			return rc;
		if (!*s.at)
			break;
		argv[count++] = s.out;
		rc = one_word(&s);
		if (rc < 0)
			return rc;
	}
	*argv_out = argv;
	return 0;
}

static bool is_plain(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";

	return *word && !word[strspn(word, plain)];
}

/* Words that a shell interprets at the start of a command. */
static bool is_reserved(const char *word)
{
	static const char *const reserved[] = { "case", "do", "done", "elif", "else", "esac", "fi", "for", "function",
		"if", "in", "select", "then", "time", "until", "while" };

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (!strcmp(word, reserved[i]))
			return true;
	return is_assignment(word);
}

static void quote(struct buf *out, const char *word, bool is_first)
{
	if (is_plain(word) && !(is_first && is_reserved(word))) {
		buf_adds(out, word);
		return;
	}
	buf_addc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *word);
	}
	buf_addc(out, '\'');
}

void words_quote(struct buf *out, const char *word)
{
	quote(out, word, true);
}

void words_join(struct buf *out, char *const argv[])
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_addc(out, ' ');
		quote(out, argv[i], i == 0);
	}
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Edits (insert, delete, replace, swap of neighbours) between two words of at
 * most NEAREST_LENGTH_MAX bytes: optimal string alignment, after Damerau
 * (CACM 7(3), 1964), in three rows.
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][NEAREST_LENGTH_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		const unsigned *before = rows[(i + 1) % 3], *up = rows[(i - 1) % 3];
		unsigned *row = rows[i % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = least(up[j - 1] + (a[i - 1] != b[j - 1]), least(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

const char *words_nearest(const char *typed, const char *const *candidates)
{
	size_t len = strlen(typed);
	unsigned best = len < 3 ? 1 : (unsigned)len / 3;
	const char *nearest = NULL;

	if (len < 2 || len > NEAREST_LENGTH_MAX)
		return NULL;
	best++;
	for (; *candidates; candidates++) {
		unsigned d;

		if (strlen(*candidates) > NEAREST_LENGTH_MAX)
			continue;
		/* An abbreviated word counts as one edit. */
		d = strncmp(*candidates, typed, len) ? distance(typed, *candidates) : 1;
		if (d < best) {
			best = d;
			nearest = *candidates;
		}
	}
	return nearest;
}
