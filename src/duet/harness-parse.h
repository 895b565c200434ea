/*
 * parse: result files of benchmark harnesses become rows of a table.
 *
 * One descriptor a format: a new one is a function and a row in formats[]. Files are hostile input: sizes are bounded,
 * numbers are checked, and what does not fit is an error that names the file and what was expected. Half a result
 * (a cut file) is an error, never a shorter result.
 */
#ifndef SONDE_DUET_HARNESS_PARSE_H
#define SONDE_DUET_HARNESS_PARSE_H

#include "duet/measurements.h"

#include <regex.h>

enum { DUET_RESULT_BYTES_MAX = 256 << 20 };

struct duet_parse {
	const char *path;         /* for messages */
	struct duet_table *table; /* rows are added here, with what the caller knows of them still to be filled in */
	const char *pattern;      /* regex: with one group, a time, or two, start and end */
	double unit_ns;           /* regex: of the numbers; 0: seconds */
	struct sonde_err *err;
};

struct duet_format {
	const char *name;
	const char *what;
	const char *const *suites; /* names of suites whose results are so, besides its own; NULL: none */
	bool is_directory;         /* the result is a directory; text is the file in it */
	const char *file_ending;   /* is_directory: the one file that ends so */
	/* Does a text look so? NULL: only when asked for by name. */
	bool (*fits)(const char *text);
	/* text ends in '\0' and may be changed. */
	int (*parse)(const struct duet_parse *p, char *text, size_t bytes);
};

extern const struct duet_format duet_formats[]; /* end with name NULL */

/* By its name or a suite's; NULL: none. */
const struct duet_format *duet_format_named(const char *name);
/* By how the text looks; NULL: none fits. */
const struct duet_format *duet_format_of(const char *text);

/* Read the result at p->path. format NULL: by how it looks. On failure no row is added. */
int duet_parse_result(const struct duet_parse *p, const struct duet_format *format);

/* For formats. */
int duet_parse_wrong(const struct duet_parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A row with times; time_ns is unknown when NaN. NULL: no memory, said in p->err. */
struct duet_row *duet_parse_row(const struct duet_parse *p, int64_t iteration, double start_ns, double time_ns);
/* Its end, from its start and time. */
void duet_parse_end(struct duet_row *row);
/* A row from an instant to another. */
struct duet_row *duet_parse_span(const struct duet_parse *p, int64_t iteration, int64_t start_ns, int64_t end_ns);
/*
 * An instant as a decimal number at *at, which goes behind it: of seconds, exact to the ns whatever its size (a double
 * of today's date has steps of 256 ns), or, when is_ns and it has no point, of ns. False: there is none.
 */
bool duet_parse_instant(char **at, bool is_ns, int64_t *ns);
/* A number that is the whole text (blanks around it are fine). */
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
