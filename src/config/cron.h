/* cron: the five fields of a crontab entry, as sets of minutes, hours, days, months and days of the week. */
#ifndef SONDE_CONFIG_CRON_H
#define SONDE_CONFIG_CRON_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct cron {
	uint64_t fields[5]; /* bit n: n is in the set */
	bool is_any_day, is_any_weekday;
};

/* "M H D M W" with *, N, N-M, lists and /STEP; Sunday is 0 and 7. */
int cron_parse(struct cron *c, const char *text, struct sonde_err *err);
/* If both day fields are restricted, either may match, as in crontab(5). */
bool cron_matches(const struct cron *c, const struct tm *at);

#endif
