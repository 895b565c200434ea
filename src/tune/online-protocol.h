/*
 * online-protocol: the line protocol between a training program and its controller.
 *
 *	report STEP LOSS [WORKER [CONFIG]]       from the program
 *	config INDEX {"name": value, ...}        to the program: use this; the next report counts for it
 *	stop                                     to the program: write a checkpoint and exit
 *	knob NAME VALUE                          to the controller: fix this parameter
 *	event {"event": ...}                     to the fleet: a decision
 *
 * Input from the program is untrusted: unknown lines, and those longer than TRAIN_LINE_MAX, are
 * counted and skipped.
 */
#ifndef SONDE_TUNE_ONLINE_PROTOCOL_H
#define SONDE_TUNE_ONLINE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRAIN_LINE_MAX = 1024 };

struct train_lines { /* all zero: initial state */
	uint64_t bad;
	/* private */
	char line[TRAIN_LINE_MAX];
	size_t len;
};

struct train_report {
	int64_t step;
	double loss; /* NAN: reported, and not a number */
	unsigned worker;
	unsigned config; /* the configuration it was made under, */
	bool has_config; /* if the program reports it */
};

/* Parses bytes as received, split anywhere; the callback gets each complete line. */
void train_lines_take(struct train_lines *l, const char *bytes, size_t n, void (*tell)(void *arg, const char *line),
		void *arg);
/* Parses a report; false if the line is another one. */
bool train_report_parse(const char *line, struct train_report *report);

#endif
