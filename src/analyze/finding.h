/*
 * finding: diagnosis: a rule looks at what the passes found and may accuse.
 *
 * A rule is one file diagnose-<name>.c with a struct diagnosis_rule and a row in
 * diagnoses.def. It accuses only with evidence: numbers of this run, where in
 * time, how much time could be had back at most, and a command to try next.
 * Tests have a faulty and a clean program for each (tests/analyze/diagnosis.t).
 */
#ifndef SONDE_ANALYZE_FINDING_H
#define SONDE_ANALYZE_FINDING_H

#include "analyze/io-table.h"
#include "analyze/pass.h"

struct finding {
	char what[256];         /* a sentence without a full stop */
	char evidence[512];     /* another */
	char next[512];         /* a command */
	int64_t from_ns, to_ns; /* since the start */
	int64_t recoverable_ns; /* at most; STORE_NULL: not known */
};

struct diagnosis_rule {
	const char *key;
	/* true: f is filled; its range is the whole run before. All other passes have finished. */
	bool (*check)(struct analyze *a, struct finding *f);
};

/* An integer that a pass found; STORE_NULL when it is absent. */
int64_t finding_int(const struct analyze *a, const char *section, const char *field);
int64_t finding_wall_ns(const struct analyze *a);
/* Is it worth a word? One part in a hundred of the wall time, and a millisecond. */
bool finding_is_worth(const struct analyze *a, int64_t ns);
/* The time during which calls of a kind began. */
void finding_range_of(struct analyze *a, enum call_kind kind, struct finding *f);

/* Sums of one path and kind, and the path with most of what a rule asks for. */
struct finding_path {
	struct store_text path;
	uint64_t count, buffered; /* calls, and those of them of stdio */
	int64_t dur_ns, bytes;
};
/* The next path with calls of this kind from *at on; false when there is none. */
bool finding_next_path(struct analyze *a, enum call_kind kind, size_t *at, struct finding_path *p);
/* Next: a command with the run's path, quoted, where the text has %s. */
void finding_try(const struct analyze *a, const char *text, struct finding *f);
/* Next: look at the calls on this path. What is pasted into a shell is quoted. */
void finding_try_path(const struct analyze *a, const struct store_text *path, struct finding *f);

#endif
