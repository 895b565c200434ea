/*
 * Text profiles of TAU, one file per thread: profile.NODE.CONTEXT.THREAD; with several metrics, one directory
 * MULTI__METRIC per metric.
 *
 *	3 templated_functions_MULTI_TIME
 *	# Name Calls Subrs Excl Incl ProfileCalls # <metadata>...</metadata>
 *	"main" 1 2 120 2000000 0 GROUP="TAU_USER"
 *	"main => work" 2 0 999940 1999880 0 GROUP="TAU_CALLPATH|TAU_USER"
 *	0 aggregates
 *	1 userevents
 *	# eventname numevents max min mean sumsqr
 *	"Bytes read" 4 4096 12 2048 33554576
 *
 * Times are microseconds. Call paths (`=>`) repeat the same functions and are not additional ones.
 */
#include "session/dump-tau.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MULTI "_MULTI_"

/* Returns the next line, NUL-terminated; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at, *end = line ? strchr(line, '\n') : NULL;

	if (!line || !*line)
		return NULL;
	if (end)
		*end = '\0';
	*at = end ? end + 1 : NULL;
	return line;
}

static bool take_number(char **at, double *to)
{
	char *end;

	*to = strtod(*at, &end);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* Parses "NAME" of a line; numbers follow. A name may contain quotes itself. */
static char *take_name(char *line, char **rest)
{
	char *end = strrchr(line, '"');

	if (line[0] != '"' || end == line)
		return NULL;
	*rest = end + 1;
	while (end > line + 1 && end[-1] == ' ')
		end--;
	*end = '\0';
	return line + 1;
}

static bool parse_function(char *line, struct tau_function *f, double *further)
{
	static char none[] = "";
	char *group = NULL, *at = line, *end;

	while ((at = strstr(at, " GROUP=\"")))
		group = at++;
	f->group = none;
	if (group) {
		*group = '\0';
		f->group = group + strlen(" GROUP=\"");
		end = strchr(f->group, '"');
		if (end)
			*end = '\0';
	}
	f->name = take_name(line, &at);
	*further = 0;
	if (!f->name || !take_number(&at, &f->calls) || !take_number(&at, &f->subroutines) ||
			!take_number(&at, &f->exclusive) || !take_number(&at, &f->inclusive))
		return false;
	take_number(&at, further);
	return true;
}

static bool parse_event(char *line, struct tau_event *e)
{
	char *at;

	e->name = take_name(line, &at);
	return e->name && take_number(&at, &e->count) && take_number(&at, &e->max) && take_number(&at, &e->min) &&
			take_number(&at, &e->mean);
}

/* "12 WORD": the number of lines that follow; -1 if the line does not match. */
static int64_t count_of(const char *line, const char *word)
{
	char *end;
	int64_t n = line ? strtoll(line, &end, 10) : -1;

	return line && end > line && *end == ' ' && strncmp(end + 1, word, strlen(word)) == 0 ? n : -1;
}

static bool parse_functions(char **at, int64_t count, const struct tau_taker *taker)
{
	struct tau_function f;
	double further;

	for (int64_t i = 0; i < count; i++) {
		char *line = next_line(at);

		if (!line || !parse_function(line, &f, &further))
			return false;
		taker->function(taker->arg, &f);
		while (further-- > 0) /* ProfileCalls rows; current versions of TAU do not write them */
			if (!next_line(at))
				return false;
	}
	return true;
}

bool tau_parse(char *text, const struct tau_taker *taker)
{
	char *at = text, *line = next_line(&at), *metric;
	int64_t count = count_of(line, "templated_functions");
	struct tau_event e;

	if (count < 0)
		return false;
	metric = strstr(line, MULTI);
	taker->metric(taker->arg, metric ? metric + strlen(MULTI) : "TIME");
	if (!next_line(&at) || !parse_functions(&at, count, taker))
		return false;
	count = count_of(next_line(&at), "aggregates");
	if (count < 0)
		return false;
	while (count-- > 0)
		if (!next_line(&at))
			return false;
	count = count_of(next_line(&at), "userevents");
	if (count > 0)
		next_line(&at); /* skip the heading */
	for (; count > 0; count--) {
		line = next_line(&at);
		if (!line || !parse_event(line, &e))
			return false;
		taker->event(taker->arg, &e);
	}
	return true;
}
