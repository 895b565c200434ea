/* The files of external tools, and the table of their readers. */
#include "session/dumps.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/gpu/gpu.h"
#include "session/profile.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 16384
#define DEPTH_MAX 3

static const struct {
	const char *kind;
	dump_reader *read;
} readers[] = {
	{ "TAU profiles", dump_read_tau },
	{ "nsys reports", dump_read_nsys },
	{ "tegrastats logs", dump_read_tegrastats },
};

void dump_reason(struct session_dump *d, const char *fmt, ...)
{
	va_list args;

	if (*d->reason)
		return;
	va_start(args, fmt);
	vsnprintf(d->reason, sizeof(d->reason), fmt, args);
	va_end(args);
}

const char *dump_base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

void dump_name(char out[SESSION_LABEL_BYTES], const char *name)
{
	const int half = SESSION_LABEL_BYTES / 2 - 3;
	size_t n = strlen(name);

	if (n < SESSION_LABEL_BYTES)
		memcpy(out, name, n + 1);
	else
		snprintf(out, SESSION_LABEL_BYTES, "%.*s...%s", half, name, name + n - half);
}

static void collect(struct dump_files *f, const char *below, int depth)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct dirent **entries = NULL;
	int n;

	buf_addf(&path, "%s/%s", f->dir, below);
	n = scandir(path.data, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;
		struct stat st;

		buf_addf(&name, "%s%s%s", below, *below ? "/" : "", entries[i]->d_name);
		buf_reset(&path);
		buf_addf(&path, "%s/%s", f->dir, name.data);
		if (entries[i]->d_name[0] != '.' && lstat(path.data, &st) == 0) {
			if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
				collect(f, name.data, depth + 1);
			else if (S_ISREG(st.st_mode) && f->count < FILES_MAX)
				f->names[f->count++] = buf_take(&name);
		}
		free(entries[i]);
	}
	free(entries);
}

void session_dumps_read(struct session_profile *p, const char *run)
{
	struct dump_files f = { .names = calloc(FILES_MAX, sizeof(*f.names)) };
	struct companion at = { .count = 0 };

	snprintf(at.dir, sizeof(at.dir), "%s/tools", run);

	for (size_t i = 0; f.names && i < p->spec->tool_count; i++) {
		CLEANUP(buf_release) struct buf dir = BUF_INIT;

		tools_dir(&at, &p->spec->tools[i], &dir);
		f.dir = dir.data;
		f.count = 0;
		collect(&f, "", 0);
		for (size_t k = 0; k < sizeof(readers) / sizeof(readers[0]); k++) {
			struct session_dump d = { .tool = p->spec->tools[i].name,
				.kind = readers[k].kind,
				.repeat = p->repeat_count };

			readers[k].read(p, &d, &f);
			if (d.files && p->dump_count < SESSION_DUMPS_MAX)
				p->dumps[p->dump_count++] = d;
		}
		while (f.count)
			free(f.names[--f.count]);
	}
	free(f.names);
}

bool session_value_is_dumped(const struct session_value *v)
{
	static const char *const prefixes[] = { "tau_", "nsys_", "tegrastats_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(v->name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/*
 * Logs of tegrastats: one line per sample, with the fields that the board has. Each series gets its mean and maximum
 * over the log; the log as a table is written to LOG.csv next to it.
 */

#define SERIES_MAX 64

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

static void tell(struct log *log, const char *name, double value)
{
	struct series *s = log->all;

	while (s < log->all + log->count && strcmp(s->name, name) != 0)
		s++;
	if (s == log->all + SERIES_MAX)
		return;
	if (s == log->all + log->count) {
		log->count++;
		*s = (struct series){ .max = -INFINITY };
		snprintf(s->name, sizeof(s->name), "%s", name);
	}
	s->sum += value;
	s->count++;
	s->max = fmax(s->max, value);
	buf_addf(&log->csv, "%zu,%s,%.17g\n", log->lines, name, value);
}

static bool parse_line(struct log *log, const char *at)
{
	static const struct {
		const char *name;
		double scale;
	} kinds[TEGRA_KIND_COUNT] = {
		[TEGRA_RAM] = { "ram_used_bytes", 1 },
		[TEGRA_SWAP] = { "swap_used_bytes", 1 },
		[TEGRA_CPUS] = { "cpu_busy_ratio", 100 },
		[TEGRA_ENGINE] = { "busy_ratio", 100 },
		[TEGRA_TEMPERATURE] = { "temperature_celsius", 1 },
		[TEGRA_POWER] = { "power_watts", 1 },
	};
	size_t before = log->csv.len;
	struct tegra_reading r;

	log->lines++;
	while ((at = tegra_next(at, &r))) {
		char name[SESSION_LABEL_BYTES];

		snprintf(name, sizeof(name), "%s%s%.*s", kinds[r.kind].name, r.name_bytes ? " " : "", (int)r.name_bytes,
				r.name);
		tell(log, name, r.value / kinds[r.kind].scale);
	}
	return log->csv.len > before;
}

static void read_log(struct session_profile *p, struct session_dump *d, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, companion = BUF_INIT;
	struct log *log = calloc(1, sizeof(*log));
	struct sonde_err err;

	buf_init(&text, DUMP_FILE_BYTES_MAX + 1);
	if (!log || fs_read_file(AT_FDCWD, path, DUMP_FILE_BYTES_MAX, &text, &err) < 0) {
		dump_reason(d, "%s", log ? err.text : "out of memory");
		free(log);
		return;
	}
	buf_init(&log->csv, DUMP_FILE_BYTES_MAX);
	buf_adds(&log->csv, "line,series,value\n");
	for (char *at = text.data, *end; at && *at; at = end) {
		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		d->rows += parse_line(log, at);
	}
	if (!d->rows)
		dump_reason(d, "no lines of tegrastats in '%s'", dump_base(path));
	for (struct series *s = log->all; s < log->all + log->count; s++) {
		session_put(p, "tegrastats_mean", "series", s->name, "Mean reported by tegrastats",
				s->sum / (double)s->count);
		session_put(p, "tegrastats_max", "series", s->name, "Maximum reported by tegrastats", s->max);
	}
	buf_addf(&companion, "%s.csv", path);
	if (d->rows &&
			(buf_error(&log->csv) < 0 ||
					fs_replace_file(AT_FDCWD, companion.data, log->csv.data, log->csv.len, &err) <
							0))
		dump_reason(d, "cannot write '%s'", dump_base(companion.data));
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
