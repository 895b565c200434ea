/*
 * series: the one reader of counters in text files of /proc and cgroups, by the table series.def.
 *
 * series_value reads one number from the text of a file; absent is NaN, never zero. A series_reader is a file that is
 * kept open and read repeatedly into the counters of a run. Devices are found by their name ("cpu0", "vda"), so that
 * one that appears or disappears does not shift the values of others. A new counter is one row in series.def.
 */
#ifndef SONDE_PROBE_PROC_SERIES_H
#define SONDE_PROBE_PROC_SERIES_H

#include "base/buf.h"
#include "base/map.h"
#include "launch/cgroup.h"
#include "store/sink.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Sampled values, as rows of the table counter.
 *
 * A total counts up from 0 at its first reading, or at its start; a level is written unchanged. A value that has not
 * changed is not written again; when it changes, the last reading of the old value is written too, so that the curve
 * between two rows is straight. Each name gets one row of the table series.
 */
struct counters {
	struct store_sink *sink;
	uint64_t rows;
	int64_t now_ns; /* time of the current reading */
	/* private */
	struct map known; /* name ids with a row in series */
};

struct counter {
	int64_t name; /* 0: not initialized */
	int64_t pid;  /* STORE_NULL: a counter of the machine */
	bool is_total;
	bool has_base; /* a total that starts at 0, not at its first reading: it started during the run */
	double base, last;
	int64_t read_ns, written_ns;
};

/* Sets the name, before the first value. `unit`: "ns", "bytes" or what is counted. */
void counter_init(struct counters *c, struct counter *k, const char *name, const char *unit, bool is_total,
		int64_t pid);
void counter_set(struct counters *c, struct counter *k, double value);
void counter_finish(struct counters *c, struct counter *k); /* writes the last reading if it is still pending */
void counters_release(struct counters *c);

enum series_metric_id {
	SERIES_NONE,
#define SERIES_METRIC(id, ...) SERIES_##id,
#include "probe/proc/series.def"
};

enum series_file_id {
#define SERIES_FILE(id, ...) SERIES_FILE_##id,
#include "probe/proc/series.def"
	SERIES_FILES
};

enum series_scope { SERIES_MACHINE, SERIES_CGROUP2, SERIES_CGROUP1, SERIES_PROCESS };
enum series_format { SERIES_KEYS, SERIES_CPUS, SERIES_DISKS, SERIES_INTERFACES, SERIES_STAT, SERIES_CLOCK };

struct series_metric {
	const char *name, *help;
};

struct series_file {
	enum series_scope scope;
	enum cgroup_controller controller; /* CGROUP1: the hierarchy that has the file */
	const char *prefix, *path;
	enum series_format format;
};

struct series_row {
	enum series_file_id file;
	const char *key;
	unsigned column;
	const char *name, *unit;
	bool is_total;
	double scale;
	enum series_metric_id metric;
	const char *labels[4]; /* name, value, name, value; NULL after the last */
};

extern const struct series_metric series_metrics[];
extern const struct series_file series_files[SERIES_FILES];
extern const struct series_row series_rows[];
extern const size_t series_count;

/* The rows of a file, which are adjacent. */
const struct series_row *series_of_file(enum series_file_id file, size_t *count);
/* From the unit of the file to that of the series: times are in ns. */
double series_scale(const struct series_row *s);
/* The value in the text of its file, in the unit of the series; NaN if it is missing. */
double series_value(const struct series_row *s, const char *text);

#define SERIES_KEY_BYTES 48
#define SERIES_ROWS_MAX 13 /* of a file */

struct series_line {
	char key[SERIES_KEY_BYTES]; /* "": the file has no devices */
	struct counter counters[SERIES_ROWS_MAX];
};

struct series_reader {
	enum series_file_id file;
	int fd;
	const struct series_row *rows;
	size_t row_count;
	struct series_line *lines;
	size_t count;
	/* private */
	size_t cap, hint;
};

/* For tests: a reader of texts that are given to series_parse. */
struct series_reader series_reader_of(enum series_file_id file);
/* Opens the file, of the cgroup directory `dir` if it is one; false if it cannot be read. */
bool series_open(struct series_reader *r, enum series_file_id file, const char *dir);
/* Opens the files of the cgroups of `pid`, or of the directory `dir` if not NULL, into out[0..room); their count. */
size_t series_open_cgroups(struct series_reader *out, size_t room, pid_t pid, const char *dir);
/* Reads the values from the file's text, which readers of one file may share. */
void series_parse(struct series_reader *r, struct counters *c, const struct buf *text);
void series_close(struct series_reader *r, struct counters *c);

/* Reads a whole file that is open; false if it cannot be read. */
bool series_text(int fd, struct buf *room);

#endif
