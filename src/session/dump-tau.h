/*
 * dump-tau: parser for one text profile of TAU. The input is untrusted.
 */
#ifndef SONDE_SESSION_DUMP_TAU_H
#define SONDE_SESSION_DUMP_TAU_H

#include <stdbool.h>

struct tau_function {
	const char *name, *group; /* groups are separated by '|' */
	double calls, subroutines;
	double exclusive, inclusive; /* of the metric; TIME is in microseconds */
};

struct tau_event { /* reported by the program itself: bytes, heap ... */
	const char *name;
	double count, max, min, mean;
};

struct tau_taker {
	void (*metric)(void *arg, const char *metric); /* called first */
	void (*function)(void *arg, const struct tau_function *f);
	void (*event)(void *arg, const struct tau_event *e);
	void *arg;
};

/* Modifies the text; callbacks get pointers into it. Returns false if it is not a TAU profile or is truncated. */
bool tau_parse(char *text, const struct tau_taker *taker);

#endif
