/*
 * harness-parse-text: results in lines: CSV of DaCapo and ScalaBench, logs of SPEC CPU, start and end times, and
 * matches of a regular expression.
 */
#include "duet/harness-parse.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the next line of a text, terminated in place; NULL at the end. is_whole: it ended with a newline. */
static char *next_line(char **at, bool *is_whole)
{
	char *line = *at, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	*is_whole = end != NULL;
	*at = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line;
}

static bool is_blank(const char *line)
{
	return line[strspn(line, " \t\r")] == '\0';
}

/* The time columns of a CSV. */
struct csv {
	char *names[DUET_COLUMNS_MAX];
	size_t count;
	size_t time, start, total, cpu; /* SIZE_MAX: missing */
};

static size_t find_column(const struct csv *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->names[i], name))
			return i;
	return SIZE_MAX;
}

static int csv_header(const struct duet_parse *p, struct csv *c, char *line)
{
	c->count = duet_csv_split(line, c->names, DUET_COLUMNS_MAX);
	c->time = find_column(c, "iteration_time_ns");
	c->start = find_column(c, "start_unix");
	c->total = find_column(c, "total_ms");
	c->cpu = find_column(c, "process_cpu_time_ns");
	if (c->time == SIZE_MAX)
		return duet_parse_wrong(p, "has no column 'iteration_time_ns'");
	return 0;
}

/* Converts a text in ms to ns, without a double if it is an integer. */
static bool ns_of_ms(const char *text, int64_t *ns)
{
	char *end;
	double ms;
	long long whole;

	errno = 0;
	whole = strtoll(text, &end, 10);
	if (end != text && !*end && !errno && llabs(whole) < INT64_MAX / 1000000) {
		*ns = (int64_t)whole * 1000000;
		return true;
	}
	if (!duet_parse_number(text, &ms) || fabs(ms) > 9e12)
		return false;
	*ns = (int64_t)(ms * 1e6);
	return true;
}

static int csv_row(const struct duet_parse *p, const struct csv *c, char *line, int64_t iteration, size_t number)
{
	char *fields[DUET_COLUMNS_MAX];
	size_t n = duet_csv_split(line, fields, DUET_COLUMNS_MAX);
	size_t start = c->start != SIZE_MAX ? c->start : c->total;
	struct duet_row *row;
	double time;

	if (n != c->count)
		return duet_parse_wrong(p, "has %zu fields in line %zu, and its header %zu: it is cut or damaged", n,
				number, c->count);
	if (!duet_parse_number(fields[c->time], &time) || time < 0)
		return duet_parse_wrong(p, "has an invalid time '%.40s' in line %zu", fields[c->time], number);
	row = duet_parse_row(p, iteration, NAN, time);
	if (!row)
		return -ENOMEM;
	if (start != SIZE_MAX && isfinite(row->time_ns) && ns_of_ms(fields[start], &row->start_ns))
		duet_parse_end(row);
	if (c->cpu != SIZE_MAX && !duet_parse_number(fields[c->cpu], &row->cpu_ns))
		row->cpu_ns = NAN;
	for (size_t i = 0; i < n; i++)
		if (i != c->time && duet_table_put(p->table, row, c->names[i], fields[i]))
			return -ENOMEM;
	return 0;
}

int duet_parse_csv(const struct duet_parse *p, char *text, size_t bytes)
{
	struct csv c;
	char *at = text, *line;
	bool is_whole = false;
	int64_t iteration = 0;
	size_t number = 1;
	int rc;

	line = next_line(&at, &is_whole);
	rc = line ? csv_header(p, &c, line) : duet_parse_wrong(p, "is empty");
	while (!rc && (line = next_line(&at, &is_whole))) {
		number++;
		if (!is_blank(line))
			rc = csv_row(p, &c, line, ++iteration, number);
	}
	if (!rc && !is_whole)
		rc = duet_parse_wrong(p, "ends within a line: it is cut");
	return rc;
}

/* Parses "(1652640000.123)" after the word; false if the line has none. */
static bool stamp_after(char *line, const char *word, int64_t *ns)
{
	char *found = strstr(line, word), *open = found ? strrchr(found, '(') : NULL;

	if (!open)
		return false;
	open++;
	return duet_parse_instant(&open, false, ns) && *open == ')';
}

int duet_parse_speccpu(const struct duet_parse *p, char *text, size_t bytes)
{
	char *at = text, *line;
	int64_t start = 0, iteration = 0, from, to;
	bool is_whole, is_within = false;

	while ((line = next_line(&at, &is_whole))) {
		if (stamp_after(line, "Rate Start:", &from)) {
			if (is_within)
				return duet_parse_wrong(p, "has an iteration that starts before the last one ended");
			start = from;
			is_within = true;
		}
		if (stamp_after(line, "Rate End:", &to)) {
			if (!is_within || to < start)
				return duet_parse_wrong(p, "has an iteration that ends without a start");
			if (!duet_parse_span(p, iteration++, start, to))
				return -ENOMEM;
			is_within = false;
		}
	}
	return is_within ? duet_parse_wrong(p, "ends within an iteration: it is cut") : 0;
}

int duet_parse_lines(const struct duet_parse *p, char *text, size_t bytes)
{
	char *at = text, *line;
	int64_t iteration = 0;
	size_t number = 0;
	bool is_whole = true;

	while ((line = next_line(&at, &is_whole))) {
		int64_t start, end;

		number++;
		if (is_blank(line) || line[0] == '#')
			continue;
		if (!duet_parse_instant(&line, true, &start) || !duet_parse_instant(&line, true, &end) ||
				!is_blank(line) || end < start)
			return duet_parse_wrong(p, "has a line %zu that is not a start and an end", number);
		if (!is_whole)
			return duet_parse_wrong(p, "ends within a line: it is cut");
		if (!duet_parse_span(p, iteration++, start, end))
			return -ENOMEM;
	}
	return 0;
}

static int regex_match(const struct duet_parse *p, const char *from, const regmatch_t *m, size_t groups,
		int64_t iteration)
{
	double unit = p->unit_ns > 0 ? p->unit_ns : 1e9, numbers[2] = { NAN, NAN };

	for (size_t g = 0; g < groups; g++) {
		char text[64] = "";
		size_t n = m[g + 1].rm_so < 0 ? 0 : (size_t)(m[g + 1].rm_eo - m[g + 1].rm_so);

		if (n && n < sizeof(text))
			memcpy(text, from + m[g + 1].rm_so, n);
		if (!duet_parse_number(text, &numbers[g]))
			return duet_parse_wrong(p, "has a match '%.40s' that is not a number", text);
	}
	if (groups == 1)
		return duet_parse_row(p, iteration, NAN, numbers[0] * unit) ? 0 : -ENOMEM;
	if (numbers[1] < numbers[0])
		return duet_parse_wrong(p, "has an iteration that ends before it starts");
	return duet_parse_row(p, iteration, numbers[0] * unit, (numbers[1] - numbers[0]) * unit) ? 0 : -ENOMEM;
}

int duet_parse_regex(const struct duet_parse *p, char *text, size_t bytes)
{
	regex_t re;
	regmatch_t m[3];
	int64_t iteration = 0;
	int rc = regcomp(&re, p->pattern ? p->pattern : "", REG_EXTENDED | REG_NEWLINE);

	if (rc) {
		char why[128];

		regerror(rc, &re, why, sizeof(why));
		return err_set(p->err, EINVAL, "invalid regular expression '%s': %s", p->pattern, why);
	}
	if (re.re_nsub < 1 || re.re_nsub > 2)
		rc = err_set(p->err, EINVAL,
				"the regular expression has %zu groups, and needs one (the time) or two "
				"(start and end)",
				re.re_nsub);
	for (char *at = text; !rc && *at && !regexec(&re, at, 3, m, at == text ? 0 : REG_NOTBOL);
			at += m[0].rm_eo > 0 ? m[0].rm_eo : 1)
		rc = regex_match(p, at, m, re.re_nsub, iteration++);
	regfree(&re);
	return rc;
}
