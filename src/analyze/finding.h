/*
 * finding: diagnosis rules, which check the results of the passes and report findings.
 *
 * A rule is a function `bool diagnose_<name>(struct analyze *, struct finding *)` and a row in diagnoses.def
 * (doc/howto-add-a-diagnosis.md). It returns true if it filled the finding, whose range is preset to the whole run.
 * A finding has evidence: numbers of this run, a time range, an upper limit of the time that could be saved, and a
 * command to try next. Rules run after all other passes.
 */
#ifndef SONDE_ANALYZE_FINDING_H
#define SONDE_ANALYZE_FINDING_H

#include "analyze/io-table.h"
#include "analyze/pass-results.h"
#include "analyze/pass.h"

struct finding {
	char what[256];         /* a sentence without a full stop */
	char evidence[512];     /* likewise */
	char next[512];         /* a command */
	int64_t from_ns, to_ns; /* since the start */
	int64_t recoverable_ns; /* upper limit; STORE_NULL: unknown */
};

#define X(name) bool diagnose_##name(struct analyze *a, struct finding *f);
#include "analyze/diagnoses.def"
#undef X

/* An integer field of a section; STORE_NULL if absent. */
int64_t finding_int(const struct analyze *a, const char *section, const char *field);
int64_t finding_wall_ns(const struct analyze *a);
/* Is it long enough to report? At least 1 % of the wall time and a millisecond. */
bool finding_is_worth(const struct analyze *a, int64_t ns);
/* Sets the range to the time in which calls of a kind started. */
void finding_range_of(struct analyze *a, enum call_kind kind, struct finding *f);

/* Sums of one path and kind of call. */
struct finding_path {
	struct store_text path;
	uint64_t count, buffered; /* calls, and the stdio calls among them */
	int64_t dur_ns, bytes;
};
/* Returns the next path with calls of this kind from *at on; false at the end. */
bool finding_next_path(struct analyze *a, enum call_kind kind, size_t *at, struct finding_path *p);
/* Sets the saving, the sentence (NULL: it is set already) and the evidence. Returns true. */
bool finding_fill(struct finding *f, int64_t recoverable_ns, const char *what, const char *evidence, ...)
		__attribute__((format(printf, 4, 5)));
/* Sets the next command; %s in the text becomes the quoted path of the run. */
void finding_try(const struct analyze *a, const char *text, struct finding *f);
/* Sets the next command to a query of the calls on this path, quoted for the shell. */
void finding_try_path(const struct analyze *a, const struct store_text *path, struct finding *f);

#endif
