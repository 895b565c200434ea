/*
 * suite-run: the steps of a configuration file, in containers.
 *
 * Every step has fresh containers. Both sides of a step have one deadline; when it passes, or a side fails, the
 * containers go at once. Result files appear under their names only when they are whole, and those of a run that
 * failed never do, so what is there is finished, and a step whose results are all there need not be made again.
 */
#ifndef SONDE_DUET_SUITE_RUN_H
#define SONDE_DUET_SUITE_RUN_H

#include "duet/suite.h"

enum duet_event { DUET_EVENT_INFO, DUET_EVENT_WARNING, DUET_EVENT_ERROR };

struct duet_suite_run {
	const struct duet_suite *suite;
	const char *outdir; /* exists */
	const char *docker; /* NULL: the suite's */
	int interrupt_fd;   /* -1: none */
	bool is_resumed;    /* leave out steps whose results are there */
	bool has_output;    /* commands write to our stderr */
	void (*on_event)(void *arg, enum duet_event kind, const char *sentence);
	void *arg;
	/* what came of it */
	size_t done, left_out, failed;
};

/* The artifacts that are not there yet; a command that fails is a warning. */
int duet_suite_artifacts(struct duet_suite_run *r, struct sonde_err *err);
/* All steps. A step that fails is told and counted, and the next is made. -EINTR, or a failure of ours. */
int duet_suite_execute(struct duet_suite_run *r, const struct duet_step *steps, size_t count, struct sonde_err *err);

#endif
