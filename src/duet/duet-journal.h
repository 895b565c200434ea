/*
 * journal: what a comparison has measured, line by line on disk, so that it can go on after an interruption, kill -9 or
 * a full disk, and be looked at later (duet-replay.h).
 *
 * `DIR/runs.jsonl`: the first line says what is compared, how and with which seed; the second what the pilot settled,
 * and what A against itself gave; each further one is a finished run; the last, when it came to its end, how and in
 * which circumstances. A last line that is cut is dropped. doc/format.md has the fields.
 */
#ifndef SONDE_DUET_DUET_JOURNAL_H
#define SONDE_DUET_DUET_JOURNAL_H

#include "base/buf.h"
#include "duet/compare.h"
#include "duet/interference.h"

#define DUET_JOURNAL_FILE "runs.jsonl"

struct duet_journal {
	int fd;
	/* what was read */
	struct duet_setup setup; /* metric, direction, margin, level, seed, what iterations are, priority */
	char *commands[DUET_SIDES];
	char *counter;                 /* the metric, when it is one */
	char *machine;                 /* where */
	char *repeat;                  /* the command line that repeats it */
	struct duet_schedule schedule; /* is_settled: it was reached */
	bool is_design_piloted;
	struct duet_choice choices[DUET_DESIGNS];
	struct duet_self_check self;
	struct duet_run *runs;
	size_t run_count;
	int64_t spent_ns;
	bool has_end;
	enum duet_stop stop;
	struct duet_interference interference;
	double seconds;
};

#define DUET_JOURNAL_INIT { .fd = -1 }

/* Has this directory one? */
bool duet_journal_is(const char *dir);
/* A new one in a directory that is made; -EEXIST when it has one already. */
int duet_journal_create(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err);
/* Read one, and get ready to go on. -EINVAL: it compares other commands or another metric. */
int duet_journal_resume(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err);
/* Only read one; it may be growing. -ENOENT: there is none. */
int duet_journal_read(struct duet_journal *j, const char *dir, struct sonde_err *err);
/* The text of one, as a file has it: *whole are the bytes of its lines that are. */
int duet_journal_parse(struct duet_journal *j, const char *text, size_t *whole, struct sonde_err *err);

int duet_journal_schedule(struct duet_journal *j, const struct duet_result *so_far, const char *repeat,
		struct sonde_err *err);
int duet_journal_run(struct duet_journal *j, const struct duet_run *run, struct sonde_err *err);
int duet_journal_end(struct duet_journal *j, const struct duet_result *result,
		const struct duet_interference *interference, struct sonde_err *err);
void duet_journal_release(struct duet_journal *j);

#endif
