/*
 * args: the arguments of records of the program's own: a head each, and for texts their bytes behind it.
 */
#ifndef SONDE_PFW_LOG_ARGS_H
#define SONDE_PFW_LOG_ARGS_H

#include "pfw/log-private.h"

struct arg {
	struct sonde_arg head;
	const char *text;
	size_t bytes;
};

/* The next of them from *at on; false at the end, or where they make no sense. */
bool args_next(const struct ring_record *v, size_t *at, struct arg *arg);
bool args_known(const struct pfwlog *log, size_t at, unsigned count); /* are all names known? */
char *args_put_value(struct pfwlog *log, char *at, const struct arg *arg);
/* ,"key":value for each. */
char *args_put(struct pfwlog *log, char *at, size_t from, unsigned count);

#endif
