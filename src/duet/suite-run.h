/*
 * suite-run: executes the steps of a configuration file, in containers.
 *
 * Every step has new containers. Both sides of a step have one deadline; when it passes, or a side fails, the
 * containers are removed immediately. Result files appear under their names only when complete, and those of a failed
 * run never do, so existing results are finished, and a step that has all of them is not repeated.
 */
#ifndef SONDE_DUET_SUITE_RUN_H
#define SONDE_DUET_SUITE_RUN_H

#include "duet/suite.h"

enum duet_event { DUET_EVENT_INFO, DUET_EVENT_WARNING, DUET_EVENT_ERROR };

struct duet_suite_run {
	const struct duet_suite *suite;
	const char *outdir; /* must exist */
	const char *docker; /* NULL: as in the suite */
	int interrupt_fd;   /* -1: none */
	bool is_resumed;    /* skip steps that have results */
	bool has_output;    /* commands write to our stderr */
	void (*on_event)(void *arg, enum duet_event kind, const char *sentence);
	void *arg;
	/* results */
	size_t done, left_out, failed;
};

/* Creates the missing artifacts; a command that fails is a warning. */
int duet_suite_artifacts(struct duet_suite_run *r, struct sonde_err *err);
/* Executes all steps. A step that fails is reported and counted, and the next one is executed. Returns -EINTR, or an
 * internal error. */
int duet_suite_execute(struct duet_suite_run *r, const struct duet_step *steps, size_t count, struct sonde_err *err);

#endif
