/*
 * duet-replay: a report of earlier measurements: of a comparison from its journal, with the same interim analyses, so
 * that the verdict is the same; or of a directory of result files. An unfinished one is shown as far as it is.
 */
#ifndef SONDE_DUET_DUET_REPLAY_H
#define SONDE_DUET_DUET_REPLAY_H

#include "duet/duet-journal.h"
#include "duet/duet-report.h"
#include "duet/results.h"

enum { DUET_REPLAY_WARNINGS = 16 };

struct duet_replay {
	struct duet_report report;
	bool is_growing; /* a journal without an end */
	/* private */
	struct duet_journal journal;
	struct duet_results results;
	struct duet_setup setup;
	struct duet_result result;
	struct duet_entry entry;
	const char *warnings[DUET_REPLAY_WARNINGS];
	struct arena arena;
};

/* Can duet_replay_open show this directory? */
bool duet_replay_is(const char *dir);
/* Release it in any case. -ENODATA if there is no pair yet. */
int duet_replay_open(struct duet_replay *r, const char *dir, struct sonde_err *err);
/* The same for a journal that was read; takes ownership of it. */
int duet_replay_of(struct duet_replay *r, struct duet_journal *j, struct sonde_err *err);
void duet_replay_release(struct duet_replay *r);

#endif
