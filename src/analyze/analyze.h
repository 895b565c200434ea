/*
 * analyze: passes over a run, and the result that they make together.
 *
 * A pass (pass.h) says what it wants to know of which table; all of it is
 * answered in one scan a table, with all CPUs, and the pass then turns the
 * answers into a section of the result. The scan can be done in parts by
 * several processes: each saves what it found, and one loads all of it and
 * finishes. The result is the same to the byte.
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
	const char *rules;      /* of the layers: posix, dlio or a file; NULL: posix */
	const char *rules_text; /* NULL, or the text of the rules, which are then not looked for */
	bool has_range;         /* only what touches [from_ns, to_ns), instants as in the tables */
	int64_t from_ns, to_ns;
	const char *cpu_filters, *gpu_filters; /* NULL, or groups of functions and kernels: "word:colour,word:colour" */
	size_t top;                            /* rows of a list at most; 0: all */
	size_t iterations;                     /* of those found, how many each for itself; 0: as top */
	unsigned threads;                      /* 0: one a CPU */
	struct engine_part part;
};

/* The run must outlive it, and be used by nobody else meanwhile. */
int analyze_new(struct analyze **out, struct model_run *run, const struct analyze_opts *opts, struct sonde_err *err);
void analyze_free(struct analyze *a); /* NULL is fine */

int analyze_scan(struct analyze *a, struct sonde_err *err);
/* The result lives as long as a. */
int analyze_finish(struct analyze *a, const struct analyze_result **result, struct sonde_err *err);

/* After a scan: what the part found, with the options and the run's path. */
int analyze_save(struct analyze *a, struct buf *out, struct sonde_err *err);

/* What a saved part is of. Texts point into the bytes. */
struct analyze_part {
	const char *run;  /* absolute path */
	const char *name; /* as the user wrote it */
	struct analyze_opts opts;
	/* private */
	const uint8_t *at, *end;
	uint64_t rows; /* of the run's tables: another run at the same path is noticed */
};

/* Read the head of a saved part; -EBADMSG. `name` is for messages. */
int analyze_part_open(struct analyze_part *part, const void *bytes, size_t n, const char *name, struct sonde_err *err);
/* Take what it found. */
int analyze_load(struct analyze *a, const struct analyze_part *part, struct sonde_err *err);

/* The range of a span or step of that name, from its first begin to its last end; -ENOENT. */
int analyze_named_range(struct model_run *run, const char *name, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err);

/*
 * The region in which a counter is high (SOFA's spotlight): from when it has mostly been at least half of its highest
 * value until it has mostly been below a tenth of it; the longest such stretch. Of a counter that counts up its rate is
 * meant. -ENOENT when there is no such counter or region.
 */
int analyze_spotlight(struct model_run *run, const char *counter, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err);

#endif
