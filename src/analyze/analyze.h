/*
 * analyze: passes over a run, and their combined result.
 *
 * A pass (pass.h) adds queries to the plans of tables. All queries on a table are answered in one scan, on all CPUs;
 * the pass then turns the answers into a section of the result. Several processes can scan parts: each saves its
 * partial state, and one loads all of them and finishes. The result is identical to the byte.
 *
 *	analyze_new, then analyze_scan (or analyze_load for each part), then analyze_finish (or analyze_save).
 */
#ifndef SONDE_ANALYZE_ANALYZE_H
#define SONDE_ANALYZE_ANALYZE_H

#include "base/buf.h"
#include "base/err.h"
#include "engine/part.h"
#include "model/run-model.h"
#include "result/result.h"

struct analyze;

struct analyze_opts {
	const char *rules;      /* layer rules: posix, dlio or a file; NULL: posix */
	const char *rules_text; /* text of the layer rules, used instead of `rules`; NULL: none */
	bool has_range;         /* only the window [from_ns, to_ns), timestamps as in the tables; see engine/plan.h */
	int64_t from_ns, to_ns;
	const char *cpu_filters, *gpu_filters; /* "word:colour,word:colour", groups of names; NULL: none */
	size_t top;                            /* maximum rows of a list; 0: all */
	size_t iterations;                     /* maximum detected iterations listed one by one; 0: as top */
	unsigned threads;                      /* 0: one per CPU */
	struct engine_part part;
};

/* The run must outlive it and must not be used otherwise meanwhile. */
int analyze_new(struct analyze **out, struct model_run *run, const struct analyze_opts *opts, struct sonde_err *err);
void analyze_free(struct analyze *a); /* NULL is accepted */

int analyze_scan(struct analyze *a, struct sonde_err *err);
/* The result is valid as long as a. */
int analyze_finish(struct analyze *a, const struct analyze_result **result, struct sonde_err *err);

/* After a scan: serializes the part's state, with the options and the run's path. */
int analyze_save(struct analyze *a, struct buf *out, struct sonde_err *err);

/* Header of a saved part. Texts point into the bytes. */
struct analyze_part {
	const char *run;  /* absolute path */
	const char *name; /* as the user wrote it */
	struct analyze_opts opts;
	/* private */
	const uint8_t *at, *end;
	uint64_t rows; /* of the run's tables: detects another run at the same path */
};

/* Parses the header of a saved part; -EBADMSG if invalid. `name` is for messages. */
int analyze_part_open(struct analyze_part *part, const void *bytes, size_t n, const char *name, struct sonde_err *err);
/* Merges the state of a part. */
int analyze_load(struct analyze *a, const struct analyze_part *part, struct sonde_err *err);

/* Finds the range of a span or step by name, from its first start to its last end; -ENOENT. */
int analyze_named_range(struct model_run *run, const char *name, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err);

/*
 * Finds the high-counter region of a counter (SOFA's spotlight): from when it is mostly at least half of its maximum
 * until it is mostly below a tenth of it; the longest such region. For a monotonic counter its rate is used. -ENOENT
 * if the counter or the region does not exist.
 */
int analyze_spotlight(struct model_run *run, const char *counter, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err);

#endif
