/*
 * harness-parse: result files of benchmark harnesses become rows of a table.
 *
 * One descriptor per format: a new one is a function and a row in duet_formats[]. Files are untrusted: sizes are
 * bounded, numbers are checked, and a mismatch is an error that names the file and what was expected. A partial
 * result (a truncated file) is an error, never a shorter result.
 */
#ifndef SONDE_DUET_HARNESS_PARSE_H
#define SONDE_DUET_HARNESS_PARSE_H

#include "duet/measurements.h"

#include <regex.h>

enum { DUET_RESULT_BYTES_MAX = 256 << 20, DUET_MARKS_MAX = 2 };

struct duet_parse {
	const char *path;                /* for messages */
	struct duet_table *table;        /* rows are added here; the caller fills in the rest of them */
	const char *pattern;             /* regex: with one group, a time, or two, start and end */
	double unit_ns;                  /* regex: unit of the numbers; 0: seconds */
	const struct duet_format **used; /* receives the format of the result; NULL: not wanted */
	struct sonde_err *err;
};

struct duet_format {
	const char *name;
	const char *what;
	const char *const *suites; /* other suites with this result format; NULL: none */
	bool is_directory;         /* the result is a directory; text is the file in it */
	const char *file_ending;   /* is_directory: the ending of its result file */
	/* The text is in this format if it starts with this character, after blanks, and contains all marks; */
	char start; /* 0: any */
	const char *marks[DUET_MARKS_MAX];
	/* or if this returns true. No mark and no function: only if requested by name. */
	bool (*fits)(const char *text);
	/* text ends in '\0' and may be modified. */
	int (*parse)(const struct duet_parse *p, char *text, size_t bytes);
};

extern const struct duet_format duet_formats[]; /* end with name NULL */

/* By the name of a format or suite; NULL if unknown. */
const struct duet_format *duet_format_named(const char *name);
/* By the contents; NULL if no format matches. */
const struct duet_format *duet_format_of(const char *text);

/* Reads the result at p->path. format NULL: detected from the contents. On failure no row is added. */
int duet_parse_result(const struct duet_parse *p, const struct duet_format *format);

/* For formats. */
int duet_parse_wrong(const struct duet_parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a row with times; NaN is an unknown time. NULL if out of memory, reported in p->err. */
struct duet_row *duet_parse_row(const struct duet_parse *p, int64_t iteration, double start_ns, double time_ns);
/* Sets the end from start and time. */
void duet_parse_end(struct duet_row *row);
/* Adds a row from a start to an end time. */
struct duet_row *duet_parse_span(const struct duet_parse *p, int64_t iteration, int64_t start_ns, int64_t end_ns);
/*
 * Parses a timestamp as a decimal number at *at and advances *at: in seconds, exact to the ns (a double of today's
 * date has steps of 256 ns), or, if is_ns and it has no point, in ns. False if there is no number.
 */
bool duet_parse_instant(char **at, bool is_ns, int64_t *ns);
/* The whole text must be one number, with optional surrounding blanks. */
bool duet_parse_number(const char *text, double *number);

int duet_parse_renaissance(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_hyperfine(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_google(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_jmh(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_pytest(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_csv(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_speccpu(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_lines(const struct duet_parse *p, char *text, size_t bytes);
int duet_parse_regex(const struct duet_parse *p, char *text, size_t bytes);

#endif
