#include "config/cron.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned low, high;
} fields[] = { { "minute", 0, 59 }, { "hour", 0, 23 }, { "day", 1, 31 }, { "month", 1, 12 }, { "weekday", 0, 7 } };

static bool number(const char **at, unsigned *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = (unsigned)strtoul(*at, &end, 10);
	*at = end;
	return true;
}

/* Parses one item of a list: *, N, N-M, each optionally with /STEP. */
static bool item(const char **at, size_t field, uint64_t *set)
{
	unsigned low = fields[field].low, high = fields[field].high, step = 1;

	if (**at == '*') {
		++*at;
	} else {
		if (!number(at, &low))
			return false;
		high = low;
		if (**at == '-' && (++*at, !number(at, &high)))
			return false;
	}
	if (**at == '/' && (++*at, !number(at, &step)))
		return false;
	if (low < fields[field].low || high > fields[field].high || low > high || !step || step > 60)
		return false;
	for (unsigned n = low; n <= high; n += step)
		*set |= 1ull << (field == 4 ? n % 7 : n);
	return true;
}

int cron_parse(struct cron *c, const char *text, struct sonde_err *err)
{
	const char *at = text;

	*c = (struct cron){ .is_any_day = false };
	for (size_t i = 0; i < 5; i++) {
		while (*at == ' ')
			at++;
		if (i == 2)
			c->is_any_day = *at == '*';
		if (i == 4)
			c->is_any_weekday = *at == '*';
		do {
			if (!item(&at, i, &c->fields[i]))
				return err_set(err, EINVAL, "invalid cron schedule '%s': invalid %s", text,
						fields[i].name);
		} while (*at == ',' && *++at);
		if (*at && *at != ' ')
			return err_set(err, EINVAL, "invalid cron schedule '%s': invalid %s", text, fields[i].name);
	}
	while (*at == ' ')
		at++;
	return *at ? err_set(err, EINVAL, "invalid cron schedule '%s': more than five fields", text) : 0;
}

static bool has(const struct cron *c, size_t field, int n)
{
	return c->fields[field] >> n & 1;
}

bool cron_matches(const struct cron *c, const struct tm *at)
{
	bool day = has(c, 2, at->tm_mday), weekday = has(c, 4, at->tm_wday);

	if (!has(c, 0, at->tm_min) || !has(c, 1, at->tm_hour) || !has(c, 3, at->tm_mon + 1))
		return false;
	return c->is_any_day || c->is_any_weekday ? day && weekday : day || weekday;
}
