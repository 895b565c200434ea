/*
 * journal: what a comparison has measured, line by line on disk, so that it can go on after an interruption, kill
 * -9 or a
 * full disk. `DIR/runs.jsonl`: the first line says what is compared and with which seed, the second what the pilot
 * settled, and each further one is a finished run. A last line that is cut is dropped.
 */
#ifndef SONDE_DUET_JOURNAL_H
#define SONDE_DUET_JOURNAL_H

#include "duet/compare.h"

#define DUET_JOURNAL_FILE "runs.jsonl"

struct duet_journal {
	int fd;
	/* what was read */
	uint64_t seed;
	struct duet_schedule schedule; /* is_settled: it was reached */
	struct duet_run *runs;
	size_t run_count;
	int64_t spent_ns;
};

#define DUET_JOURNAL_INIT { .fd = -1 }

/* A new one in a directory that is made; -EEXIST when it has one already. */
int duet_journal_create(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err);
/* Read one, and get ready to go on. -EINVAL: it compares other commands or another metric. */
int duet_journal_resume(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err);
int duet_journal_schedule(struct duet_journal *j, const struct duet_schedule *schedule, struct sonde_err *err);
int duet_journal_run(struct duet_journal *j, const struct duet_run *run, struct sonde_err *err);
void duet_journal_release(struct duet_journal *j);

#endif
