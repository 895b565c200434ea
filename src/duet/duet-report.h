/*
 * duet-report: what was compared and the results, for all output formats.
 *
 * One comparison and several benchmarks are the same report. With several, p values are adjusted (Holm) so that
 * "differs" is wrong about any of them with probability at most 1 - level; so are the verdicts slower and faster, and
 * there is a geometric mean of all.
 */
#ifndef SONDE_DUET_DUET_REPORT_H
#define SONDE_DUET_DUET_REPORT_H

#include "base/json.h"
#include "duet/compare.h"
#include "duet/interference.h"

#include <stddef.h>

struct duet_explanation; /* explain.h */

struct duet_entry {
	const char *name; /* of the benchmark; NULL: a single comparison */
	const char *commands[DUET_SIDES];
	struct duet_result *result;
	double p_adjusted; /* NaN: no test */
	bool is_held_back; /* faster or slower by its interval alone, but not after the adjustment for all benchmarks */
};

struct duet_report {
	struct duet_entry *entries;
	size_t count;
	const struct duet_setup *setup;
	struct duet_interference interference;
	struct stats_interval mean;  /* geometric mean ratio of the entries that have one; n is their number */
	const char *const *warnings; /* full sentences, without a full stop */
	size_t warning_count;
	const char *repeat;  /* command line to reproduce it; NULL: unknown */
	const char *machine; /* where it was measured; NULL: unknown */
	double seconds;
	size_t sessions; /* the runs are these sessions; 0: one session, of runs */
	bool is_ranking; /* the entries compare one command, A, with each of several others */
	const struct duet_explanation *explanation; /* NULL: not requested */
};

extern const char *const duet_stop_names[]; /* by enum duet_stop; ends with NULL */

/* Computes adjusted p values, the verdicts that remain and the mean. Scratch memory from the arena. 0 or -ENOMEM. */
int duet_report_finish(struct duet_report *r, struct arena *arena, struct sonde_err *err);

/* The fields of one comparison: ratio lo hi verdict runs design metric seconds, and their details. */
void duet_report_json(struct json *j, const struct duet_report *r, bool has_samples);
void duet_report_markdown(struct buf *out, const struct duet_report *r);
void duet_report_csv(struct buf *out, const struct duet_report *r);
/* The wall times of each command in the formats of hyperfine. */
enum duet_export { DUET_EXPORT_JSON, DUET_EXPORT_CSV, DUET_EXPORT_MARKDOWN, DUET_EXPORTS };
void duet_export(struct buf *out, const struct duet_report *r, enum duet_export format);
/* A self-contained page; reloads itself while the comparison is running. */
void duet_report_html(struct buf *out, const struct duet_report *r, bool is_growing);

/* "4.2 % slower", "0.3 % less memory": in the words of the metric */
void duet_say_change(struct buf *out, const struct duet_pairing *how, double ratio);
/* "slower", "more memory", "equivalent" */
const char *duet_verdict_word(const struct duet_pairing *how, enum stats_verdict verdict);
/* "+1.1 %", "-1.2 to +3.4 %" and "95 % interval -1.2 to +3.4 %" */
void duet_say_estimate(struct buf *out, const struct stats_interval *ratio);
void duet_say_bounds(struct buf *out, const struct stats_interval *ratio);
void duet_say_interval(struct buf *out, const struct stats_interval *ratio);
/* "B is 4.2 % slower than A (95 % interval ...)": the answer as one sentence without a full stop */
void duet_say_answer(struct buf *out, const struct duet_report *r, const struct duet_entry *e);
/* What is needed to decide, or "" if decided */
void duet_say_need(struct buf *out, const struct duet_report *r, const struct duet_entry *e);
/* Reports verdicts that hold alone but not after the adjustment, or "". */
void duet_say_held_back(struct buf *out, const struct duet_report *r);
/* Why the pilot chose this design, as part of a sentence. There must have been a pilot. */
void duet_say_pilot(struct buf *out, const struct duet_result *r);
/* "12.3 ms", "4.1 MiB", "3.5": a value of a metric */
void duet_say_value(struct buf *out, enum duet_metric metric, double value);

/* Full sentences about what makes a result doubtful; at most `most`, texts from the arena. */
size_t duet_warnings(const struct duet_setup *setup, const struct duet_result *r,
		const struct duet_interference *interference, size_t cpu_count, const char **out, size_t most,
		struct arena *arena);

/* Round numbers for the axis of a plot: multiples of 1, 2 or 5 times a power of ten. */

struct duet_ticks {
	double step;
	double first; /* the first tick in steps from 0: an integer */
	size_t count;
	int digits; /* decimals needed to distinguish them */
};

/* The closest ticks of which at most `most` are within [lo, hi]; none if the range is empty. */
struct duet_ticks duet_ticks_for(double lo, double hi, size_t most);
double duet_tick(const struct duet_ticks *t, size_t i);
/* "+2.5 %", "0 %" */
void duet_tick_label(const struct duet_ticks *t, size_t i, char *out, size_t size);

#endif
