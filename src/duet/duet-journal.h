/*
 * duet-journal: the measurements of a comparison, line by line on disk, so that it can be resumed after an
 * interruption, kill -9 or a full disk, and shown later (duet-replay.h).
 *
 * `DIR/runs.jsonl`: the first line has the commands, options and seed; the second the schedule and the result of A
 * against itself; each further line is a finished run; the last one, if it finished, the end and its circumstances.
 * An incomplete last line is ignored (base/journal.h). doc/format.md has the fields.
 */
#ifndef SONDE_DUET_DUET_JOURNAL_H
#define SONDE_DUET_DUET_JOURNAL_H

#include "base/journal.h"
#include "duet/compare.h"
#include "duet/interference.h"

#define DUET_JOURNAL_FILE "runs.jsonl"

struct duet_journal {
	struct journal file;
	/* contents */
	struct duet_setup setup; /* metric, direction, margin, level, seed, kind of iterations, priority */
	char *commands[DUET_SIDES];
	char *counter;                 /* if the metric is a counter */
	char *machine;                 /* where it was measured */
	char *repeat;                  /* command line to reproduce it */
	struct duet_schedule schedule; /* is_settled: the schedule was written */
	bool is_design_piloted;
	struct duet_choice choices[DUET_DESIGNS];
	struct duet_self_check self;
	struct duet_run *runs;
	size_t run_count, run_cap;
	int64_t spent_ns;
	bool has_end;
	enum duet_stop stop;
	struct duet_interference interference;
	double seconds;
};

#define DUET_JOURNAL_INIT { .file = JOURNAL_INIT }

/* Does this directory have a journal? */
bool duet_journal_is(const char *dir);
/* Creates a journal and its directory; -EEXIST if it has one already. */
int duet_journal_create(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err);
/* Reads a journal and prepares to append, or creates it. -EINVAL if it compares other commands or another metric. */
int duet_journal_resume(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err);
/* Reads a journal, which may still grow. -ENOENT if there is none. */
int duet_journal_read(struct duet_journal *j, const char *dir, struct sonde_err *err);
/* Parses the text of a journal file. */
int duet_journal_parse(struct duet_journal *j, const struct buf *text, struct sonde_err *err);

/* Each returns when its line is on disk; a journal that was not opened ignores it. */
int duet_journal_schedule(struct duet_journal *j, const struct duet_result *so_far, const char *repeat,
		struct sonde_err *err);
int duet_journal_run(struct duet_journal *j, const struct duet_run *run, struct sonde_err *err);
int duet_journal_end(struct duet_journal *j, const struct duet_result *result,
		const struct duet_interference *interference, struct sonde_err *err);
void duet_journal_release(struct duet_journal *j);

#endif
