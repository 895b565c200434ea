/*
 * Logs of tegrastats: one line per sample, with the fields that the board has. Each series gets its mean and maximum
 * over the log; the log as a table is written to LOG.csv next to it.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/gpu/gpu.h"
#include "session/dumps.h"
#include "session/profile.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool take_line(struct log *log, const char *at)
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
		d->rows += take_line(log, at);
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
