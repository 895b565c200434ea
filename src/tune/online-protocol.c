#include "tune/online-protocol.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void train_lines_take(struct train_lines *l, const char *bytes, size_t n, void (*tell)(void *arg, const char *line),
		void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			if (l->len < sizeof(l->line))
				l->line[l->len++] = bytes[i]; /* full: too long, skip to the end of the line */
			continue;
		}
		if (l->len < sizeof(l->line)) {
			l->line[l->len] = '\0';
			tell(arg, l->line);
		} else {
			l->bad++;
		}
		l->len = 0;
	}
}

/* Parses a non-negative number after a blank; advances at. */
static bool take_index(const char **at, unsigned *index)
{
	unsigned long value;
	char *end;

	if (**at != ' ' || (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	errno = 0;
	value = strtoul(*at + 1, &end, 10);
	if (errno || value > UINT_MAX)
		return false;
	*index = (unsigned)value;
	*at = end;
	return true;
}

bool train_report_parse(const char *line, struct train_report *report)
{
	static const char word[] = "report ";
	const char *at = line + sizeof(word) - 1;
	char *end;

	if (strncmp(line, word, sizeof(word) - 1) != 0)
		return false;
	*report = (struct train_report){ 0 };
	errno = 0;
	report->step = strtoll(at, &end, 10);
	if (end == at || *end != ' ' || errno)
		return false;
	at = end + 1;
	report->loss = strtod(at, &end);
	if (end == at)
		return false;
	at = end;
	if (*at && !take_index(&at, &report->worker))
		return false;
	if (*at) {
		report->has_config = take_index(&at, &report->config);
		if (!report->has_config)
			return false;
	}
	return *at == '\0';
}
