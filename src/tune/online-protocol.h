/*
 * lines: what a job's program and who tunes it say to each other, a line each.
 *
 *	report STEP LOSS [WORKER [CONFIG]]       the program
 *	config INDEX {"name": value, ...}        to the program: go on like this; the next report counts for it
 *	stop                                     to the program: save what a restart needs, and end
 *	knob NAME VALUE                          to whoever tunes: this is fixed from now on
 *	event {"event": ...}                     to the fleet: what was decided
 *
 * What comes in is a program's: lines that are none of these, or longer than TRAIN_LINE_MAX,
 * are counted and left out.
 */
#ifndef SONDE_TUNE_ONLINE_PROTOCOL_H
#define SONDE_TUNE_ONLINE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRAIN_LINE_MAX = 1024 };

struct train_lines { /* all zero: nothing heard */
	uint64_t bad;
	/* private */
	char line[TRAIN_LINE_MAX];
	size_t len;
};

struct train_report {
	int64_t step;
	double loss; /* NAN: reported, and not a number */
	unsigned worker;
	unsigned config; /* of the configuration it was made under, */
	bool has_config; /* where the program says so */
};

/* Bytes as they arrived, cut anywhere; each whole line is told. */
void train_lines_take(struct train_lines *l, const char *bytes, size_t n, void (*tell)(void *arg, const char *line),
		void *arg);
/* Is the line a report? */
bool train_report_parse(const char *line, struct train_report *report);

#endif
