/*
 * dump-tau: one text profile of TAU, taken apart. Anything may stand in it.
 */
#ifndef SONDE_SESSION_DUMP_TAU_H
#define SONDE_SESSION_DUMP_TAU_H

#include <stdbool.h>

struct tau_function {
	const char *name, *group; /* groups have a '|' between them */
	double calls, subroutines;
	double exclusive, inclusive; /* of the metric: TIME is in microseconds */
};

struct tau_event { /* that the program told itself: bytes, heap ... */
	const char *name;
	double count, max, min, mean;
};

struct tau_taker {
	void (*metric)(void *arg, const char *metric); /* first */
	void (*function)(void *arg, const struct tau_function *f);
	void (*event)(void *arg, const struct tau_event *e);
	void *arg;
};

/* The text is changed, and what is handed over is within it. False: it is no such profile, or ends too soon. */
bool tau_parse(char *text, const struct tau_taker *taker);

#endif
