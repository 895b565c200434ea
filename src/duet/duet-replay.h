/*
 * replay: a report of what was measured before, to be shown again: of a comparison by its journal, judged with the same
 * looks, so that it says what it said; or of a directory of result files. One that is growing is shown as far as it is.
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

/* Is this a directory that duet_replay_open could show? */
bool duet_replay_is(const char *dir);
/* Release in any case. -ENODATA: there is no pair yet. */
int duet_replay_open(struct duet_replay *r, const char *dir, struct sonde_err *err);
/* The same of a journal that was read, which is taken. */
int duet_replay_of(struct duet_replay *r, struct duet_journal *j, struct sonde_err *err);
void duet_replay_release(struct duet_replay *r);

#endif
