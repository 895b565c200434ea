#include "duet/harness-parse.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int duet_parse_wrong(const struct duet_parse *p, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	return err_set(p->err, EBADMSG, "'%s' %s", p->path, text.data);
}

bool duet_parse_number(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	while (isspace((unsigned char)*end))
		end++;
	return end != text && !*end && isfinite(*number);
}

static bool fits_ns(double ns)
{
	return fabs(ns) < 9e18;
}

struct duet_row *duet_parse_row(const struct duet_parse *p, int64_t iteration, double start_ns, double time_ns)
{
	struct duet_row *row = duet_table_add(p->table);

	if (!row) {
		err_sys(p->err, ENOMEM, "cannot keep the iterations of '%s'", p->path);
		return NULL;
	}
	row->iteration = iteration;
	if (isfinite(start_ns) && fits_ns(start_ns))
		row->start_ns = (int64_t)start_ns;
	if (isfinite(time_ns) && fits_ns(time_ns))
		row->time_ns = round(time_ns * 1e6) / 1e6; /* finer digits are unit conversion noise: 0.0012 s in ns */
	duet_parse_end(row);
	return row;
}

void duet_parse_end(struct duet_row *row)
{
	int64_t end;

	if (row->start_ns != DUET_UNKNOWN_NS && isfinite(row->time_ns) &&
			!__builtin_add_overflow(row->start_ns, llround(row->time_ns), &end))
		row->end_ns = end;
}

struct duet_row *duet_parse_span(const struct duet_parse *p, int64_t iteration, int64_t start_ns, int64_t end_ns)
{
	struct duet_row *row = duet_parse_row(p, iteration, NAN, NAN);

	if (!row)
		return NULL;
	row->start_ns = start_ns;
	row->end_ns = end_ns;
	row->time_ns = (double)(end_ns - start_ns);
	return row;
}

bool duet_parse_instant(char **at, bool is_ns, int64_t *ns)
{
	char *from = *at + strspn(*at, " \t"), *end = from;
	int64_t whole = 0, fraction = 0, unit = 1000000000;
	bool has_point;

	for (; isdigit((unsigned char)*end); end++)
		if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *end - '0', &whole))
			return false;
	has_point = *end == '.';
	if (end == from)
		return false;
	/* The digits after the point as ns; finer ones are truncated. */
	for (end += has_point; has_point && isdigit((unsigned char)*end); end++)
		fraction += (unit /= 10) * (*end - '0');
	if (*end == 'e' || *end == 'E') { /* printf's %e: limited to its precision */
		double value = strtod(from, &end) * (has_point || !is_ns ? 1e9 : 1);

		*at = end;
		*ns = fits_ns(value) ? llround(value) : 0;
		return fits_ns(value);
	}
	if ((has_point || !is_ns) &&
			(__builtin_mul_overflow(whole, 1000000000, &whole) ||
					__builtin_add_overflow(whole, fraction, &whole)))
		return false;
	*ns = whole;
	*at = end;
	return true;
}

static bool fits_csv(const char *text)
{
	const char *column = strstr(text, "iteration_time_ns");

	return column && !memchr(text, '\n', (size_t)(column - text));
}

static bool fits_lines(const char *text)
{
	double start, end;
	int n = 0;

	while (*text == '#')
		text = strchr(text, '\n') ? strchr(text, '\n') + 1 : "";
	return sscanf(text, "%lf %lf%n", &start, &end, &n) == 2 && (text[n] == '\n' || text[n] == '\0');
}

static const char *const dacapo_suites[] = { "scalabench", "dacapo-9", "dacapo-23", NULL };
static const char *const speccpu_suites[] = { "spec", "speccpu2017", NULL };
static const char *const google_suites[] = { "googlebenchmark", "gbench", NULL };
static const char *const pytest_suites[] = { "pytest", NULL };

const struct duet_format duet_formats[] = {
	{ "renaissance", "Renaissance's JSON", .start = '{', .marks = { "\"start_unix_ms\"" },
			.parse = duet_parse_renaissance },
	{ "dacapo", "CSV of DaCapo and ScalaBench", dacapo_suites, .fits = fits_csv, .parse = duet_parse_csv },
	{ "speccpu", "a directory with a log of SPEC CPU", speccpu_suites, true, "002.log", .marks = { "Rate Start:" },
			.parse = duet_parse_speccpu },
	{ "jmh", "JMH's JSON", .start = '[', .marks = { "\"primaryMetric\"" }, .parse = duet_parse_jmh },
	{ "google-benchmark", "Google Benchmark's JSON", google_suites, .start = '{',
			.marks = { "\"real_time\"", "\"time_unit\"" }, .parse = duet_parse_google },
	{ "pytest-benchmark", "pytest-benchmark's JSON", pytest_suites, .start = '{',
			.marks = { "\"benchmarks\"", "\"stats\"" }, .parse = duet_parse_pytest },
	{ "hyperfine", "hyperfine's JSON", .start = '{', .marks = { "\"results\"", "\"command\"" },
			.parse = duet_parse_hyperfine },
	{ "lines", "a line an iteration: its start and end, in ns or as decimals in s", .fits = fits_lines,
			.parse = duet_parse_lines },
	{ "regex", "what a regular expression finds", .parse = duet_parse_regex },
	{ NULL },
};

const struct duet_format *duet_format_named(const char *name)
{
	for (const struct duet_format *f = duet_formats; f->name; f++) {
		if (!strcmp(f->name, name))
			return f;
		for (size_t i = 0; f->suites && f->suites[i]; i++)
			if (!strcmp(f->suites[i], name))
				return f;
	}
	return NULL;
}

const struct duet_format *duet_format_of(const char *text)
{
	char first = text[strspn(text, " \t\r\n\v\f")];

	for (const struct duet_format *f = duet_formats; f->name; f++) {
		bool fits = f->fits ? f->fits(text) : f->marks[0] && (!f->start || first == f->start);

		for (size_t i = 0; fits && i < DUET_MARKS_MAX && f->marks[i]; i++)
			fits = strstr(text, f->marks[i]) != NULL;
		if (fits)
			return f;
	}
	return NULL;
}

/* Finds the one file in a result directory with that ending. */
static int find_file(const struct duet_parse *p, const char *ending, struct buf *path)
{
	DIR *dir = opendir(p->path);
	size_t found = 0, n = strlen(ending);

	if (!dir)
		return err_sys(p->err, errno, "cannot open '%s'", p->path);
	for (struct dirent *e; (e = readdir(dir));)
		if (strlen(e->d_name) >= n && !strcmp(e->d_name + strlen(e->d_name) - n, ending)) {
			buf_reset(path);
			buf_addf(path, "%s/%s", p->path, e->d_name);
			found++;
		}
	closedir(dir);
	if (found != 1)
		return duet_parse_wrong(p, "has %zu files that end in '%s', and must have one", found, ending);
	return buf_error(path) ? err_sys(p->err, ENOMEM, "cannot read '%s'", p->path) : 0;
}

int duet_parse_result(const struct duet_parse *p, const struct duet_format *format)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	size_t before = p->table->count;
	struct stat st;
	int rc = 0;

	if (!stat(p->path, &st) && S_ISDIR(st.st_mode))
		rc = find_file(p, format && format->is_directory ? format->file_ending : "002.log", &path);
	else
		buf_adds(&path, p->path);
	if (!rc)
		rc = fs_read_file(AT_FDCWD, path.data, DUET_RESULT_BYTES_MAX, &text, p->err);
	if (rc)
		return rc;
	if (!format)
		format = p->pattern ? duet_format_named("regex") : duet_format_of(text.data);
	if (!format) {
		rc = duet_parse_wrong(p, "looks like no format of results that is known");
		err_hint(p->err, "--regex takes times out of any text");
		return rc;
	}
	if (p->used)
		*p->used = format;
	rc = format->parse(p, text.data, text.len);
	if (!rc && p->table->count == before)
		rc = duet_parse_wrong(p, "has no iterations in it");
	if (rc)
		p->table->count = before;
	return rc;
}
