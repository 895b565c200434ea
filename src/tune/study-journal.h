/*
 * study-journal: everything that happened in a study, in order.
 *
 * One JSON object per line, on disk before anything depends on it (base/journal.h). The first line identifies the
 * study: the journal of a study that has changed since is refused.
 *
 * Lines: {"study":..}, {"ask":id,"params":{..}}, {"tell":id,..},
 * {"pair":n,"best":v,"default":v,"of":id}, {"retry":id}.
 */
#ifndef SONDE_TUNE_STUDY_JOURNAL_H
#define SONDE_TUNE_STUDY_JOURNAL_H

#include "base/journal.h"
#include "tune/study.h"

enum { TUNE_PAIRS_MAX = 1000 };

/* Best and default, measured in pairs at the end: values of the first objective. */
struct tune_pair {
	uint64_t of; /* the trial of the best */
	double best, start;
};

struct tune_journal {
	struct tune_pair pairs[TUNE_PAIRS_MAX];
	size_t pair_count;
	bool is_paired;  /* set before opening: values are relative to the default's */
	bool is_resumed; /* it had trials already */
	/* private */
	struct journal file;
	struct buf line;
};

#define TUNE_JOURNAL_INIT { .file = JOURNAL_INIT, .line = BUF_INIT }

/*
 * Creates it, or replays it into the optimizer. -EBUSY: another process writes it; -EINVAL: of another study, or
 * corrupt.
 */
int tune_journal_open(struct tune_journal *j, const char *path, const struct tune_study *study,
		struct tune_optimizer *o, struct sonde_err *err);
void tune_journal_release(struct tune_journal *j);

/* Each returns when the line is on disk. */
int tune_journal_ask(struct tune_journal *j, const struct tune_optimizer *o, const struct tune_trial *t,
		struct sonde_err *err);
int tune_journal_tell(struct tune_journal *j, const struct tune_optimizer *o, const struct tune_trial *t,
		const char *why, struct sonde_err *err);
int tune_journal_retry(struct tune_journal *j, uint64_t id, struct sonde_err *err); /* see tune_retry */
int tune_journal_pair(struct tune_journal *j, const struct tune_pair *pair, struct sonde_err *err);

/*
 * The journal of a study as an SQLite database, for SQL queries.
 *
 * It is a copy, rebuilt each time and renamed into place; the journal is authoritative. Tables:
 *
 *	study  key, value                                          name, seed, version, is_paired
 *	trial  id, state, repeats, wall_s, why, asked_at, told_at  state "pending" until it has a result
 *	param  trial, name, value                                  active parameters, in their own type
 *	value  trial, name, value                                  objectives and limited metrics
 *	rung   trial, steps, value                                 of trials that report steps
 *	pair   number, trial, best, start, at                      the confirmation
 */

int tune_database_write(const char *path, const char *journal, const struct tune_study *study, struct sonde_err *err);

#endif
