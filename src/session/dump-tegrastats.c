/*
 * Logs of tegrastats: a line a look, of whatever the board has.
 *
 *	05-14-2026 12:00:01 RAM 2700/6850MB (lfb 4x4MB) SWAP 12/3425MB (cached 0MB) CPU [12%@1190,off,3%@1190]
 *	GR3D_FREQ 45%@[1109] CPU@41.5C VDD_IN 2763mW/2846mW
 *
 * Each series has its mean and its most over the log; the log as a table, LOG.csv, stands beside it.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "session/dumps-private.h"
#include "session/profile-private.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX 64
#define MEBIBYTE 1048576.0

struct series {
	char name[SESSION_LABEL_BYTES];
	double sum, max;
	size_t count;
};

struct log {
	struct series all[SERIES_MAX];
	size_t count, lines;
	struct buf csv;
};

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r");
}

static void tell(struct log *log, double value, const char *what, const char *of, size_t of_bytes)
{
	char name[SESSION_LABEL_BYTES];
	struct series *s = log->all;

	snprintf(name, sizeof(name), "%s%s%.*s", what, of_bytes ? " " : "", (int)of_bytes, of);
	while (s < log->all + log->count && strcmp(s->name, name) != 0)
		s++;
	if (s == log->all + SERIES_MAX)
		return;
	if (s == log->all + log->count) {
		log->count++;
		*s = (struct series){ .max = -INFINITY };
		memcpy(s->name, name, sizeof(name));
	}
	s->sum += value;
	s->count++;
	s->max = fmax(s->max, value);
	buf_addf(&log->csv, "%zu,%s,%.17g\n", log->lines, name, value);
}

/* "12%@1190": the part of one; NaN: it is none. */
static double ratio(const char *at, const char **end)
{
	char *behind;
	double value = strtod(at, &behind);

	*end = behind;
	return behind > at && *behind == '%' ? value / 100 : NAN;
}

/* "[12%@1190,off,3%@1190]": the mean of those that are on. */
static const char *take_cpus(struct log *log, const char *at)
{
	const char *end = at + strcspn(at, "]");
	double sum = 0;
	int n = 0;

	while (at < end) {
		const char *behind;
		double one = ratio(at + 1, &behind);

		if (!isnan(one)) {
			sum += one;
			n++;
		}
		at++;
		at += strcspn(at, ",]");
	}
	if (n)
		tell(log, sum / n, "cpu_busy_ratio", "", 0);
	return *end ? end + 1 : end;
}

/* "2763mW/2846mW", "6140/5510": now and on average. */
static bool take_rail(struct log *log, const char *value, const char *name, size_t n)
{
	char *end;
	double now = strtod(value, &end);

	if (end == value)
		return false;
	end += strncmp(end, "mW", 2) == 0 ? 2 : 0;
	if (*end != '/')
		return false;
	value = end + 1;
	strtod(value, &end);
	if (end == value || *end == 'M' || *end == 'k')
		return false;
	tell(log, now / 1000, "power_watts", name, n);
	return true;
}

/* A word and what stands behind it; where to go on. */
static const char *take_word(struct log *log, const char *word, size_t n)
{
	const char *at = memchr(word, '@', n), *value = skip_blanks(word + n), *end = word + n;
	size_t value_bytes = strcspn(value, " \t\r");

	if (at && word[n - 1] == 'C') {
		tell(log, strtod(at + 1, NULL), "temperature_celsius", word, (size_t)(at - word));
	} else if (n == 3 && strncmp(word, "CPU", n) == 0 && *value == '[') {
		end = take_cpus(log, value);
	} else if ((n == 3 && strncmp(word, "RAM", n) == 0) || (n == 4 && strncmp(word, "SWAP", n) == 0)) {
		tell(log, strtod(value, NULL) * MEBIBYTE, n == 3 ? "ram_used_bytes" : "swap_used_bytes", "", 0);
		end = value + value_bytes;
	} else if (n > 5 && strncmp(word + n - 5, "_FREQ", 5) == 0) {
		double part = ratio(value, &end);

		if (!isnan(part))
			tell(log, part, "busy_ratio", word, n - 5);
		end = value + value_bytes;
	} else if (take_rail(log, value, word, n)) {
		end = value + value_bytes;
	}
	return end;
}

static bool take_line(struct log *log, const char *at)
{
	size_t before = log->csv.len;

	log->lines++;
	for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
		size_t n = strcspn(at, " \t\r[(");

		if (n)
			at = take_word(log, at, n);
		else
			at += strcspn(at, *at == '[' ? "]" : ")"), at += *at != '\0';
	}
	return log->csv.len > before;
}

static void read_log(struct session_profile *p, struct session_dump *d, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, beside = BUF_INIT;
	struct log *log = calloc(1, sizeof(*log));
	struct sonde_err err;

	buf_init(&text, DUMP_FILE_BYTES_MAX + 1);
	if (!log || fs_read_file(AT_FDCWD, path, DUMP_FILE_BYTES_MAX, &text, &err) < 0) {
		dump_reason(d, "%s", log ? err.text : "there is not enough memory");
		free(log);
		return;
	}
	buf_init(&log->csv, DUMP_FILE_BYTES_MAX);
	buf_adds(&log->csv, "line,series,value\n");
	for (char *at = text.data, *end; at && *at; at = end) {
		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		d->rows += take_line(log, at);
	}
	if (!d->rows)
		dump_reason(d, "no line of '%s' is one of tegrastats", dump_base(path));
	for (struct series *s = log->all; s < log->all + log->count; s++) {
		session_put(p, "tegrastats_mean", "series", s->name, "Mean of what tegrastats told",
				s->sum / (double)s->count);
		session_put(p, "tegrastats_max", "series", s->name, "The most that it told", s->max);
	}
	buf_addf(&beside, "%s.csv", path);
	if (d->rows &&
			(buf_error(&log->csv) < 0 ||
					fs_replace_file(AT_FDCWD, beside.data, log->csv.data, log->csv.len, &err) < 0))
		dump_reason(d, "cannot write '%s'", dump_base(beside.data));
	buf_release(&log->csv);
	free(log);
}

void dump_read_tegrastats(struct session_profile *p, struct session_dump *d, const struct dump_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		const char *base = dump_base(f->names[i]), *dot = strrchr(base, '.');

		if (!strstr(base, "tegrastats") || !dot || strcmp(dot, ".log") != 0)
			continue;
		buf_addf(&path, "%s/%s", f->dir, f->names[i]);
		d->files++;
		read_log(p, d, path.data);
	}
}
