/* log-args: the arguments of the program's records: a header each, followed by the bytes of a text. */
#ifndef SONDE_PFW_LOG_ARGS_H
#define SONDE_PFW_LOG_ARGS_H

#include "pfw/log-private.h"

struct arg {
	struct sonde_arg head;
	const char *text;
	size_t bytes;
};

/* Reads the next argument at *at; returns false at the end, or if it is invalid. */
bool args_next(const struct ring_record *v, size_t *at, struct arg *arg);
bool args_known(const struct pfwlog *log, size_t at, unsigned count); /* whether all names are known */
char *args_put_value(struct pfwlog *log, char *at, const struct arg *arg);
/* Writes ,"key":value for each. */
char *args_put(struct pfwlog *log, char *at, size_t from, unsigned count);

#endif
