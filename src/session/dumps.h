/*
 * dumps: reads the output of external tools in a run: functions, groups and events of TAU, activities of a device
 * from nsys, series of tegrastats.
 *
 * Their data become values of the profile, the first SESSION_DUMP_ROWS names per kind; the files are left unchanged.
 * A dump that cannot be read is not an error: the profile has the reason. Tools run next to untrusted programs, so a
 * dump may contain anything.
 */
#ifndef SONDE_SESSION_DUMPS_H
#define SONDE_SESSION_DUMPS_H

#include "session/profile.h"

#include <stdbool.h>
#include <stddef.h>

#define SESSION_DUMP_ROWS 20

/* Reads those of the last repeat, from directory `tools` of its run. */
void session_dumps_read(struct session_profile *p, const char *run);
/* Whether a value was read from a dump. */
bool session_value_is_dumped(const struct session_value *v);

/* Private: between dumps.c and its readers. */

#define DUMP_FILE_BYTES_MAX (256u << 20)

/* The files of one tool, as sorted paths relative to its directory; no symbolic links. */
struct dump_files {
	const char *dir;
	char **names;
	size_t count;
};

/* Reads the files of its kind; adds to d->files and d->rows, and reports errors in d->reason. */
typedef void dump_reader(struct session_profile *p, struct session_dump *d, const struct dump_files *f);
dump_reader dump_read_tau, dump_read_nsys, dump_read_tegrastats;

/* Sets the reason; only the first error is kept. */
void dump_reason(struct session_dump *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *dump_base(const char *name); /* after the last slash */
/* Copies a name as a label; the middle of a long name is cut out. */
void dump_name(char out[SESSION_LABEL_BYTES], const char *name);

/*
 * Parser for one text profile of TAU. The input is untrusted.
 */

struct tau_function {
	const char *name, *group; /* groups are separated by '|' */
	double calls, subroutines;
	double exclusive, inclusive; /* of the metric; TIME is in microseconds */
};

struct tau_event { /* reported by the program itself: bytes, heap ... */
	const char *name;
	double count, max, min, mean;
};

struct tau_taker {
	void (*metric)(void *arg, const char *metric); /* called first */
	void (*function)(void *arg, const struct tau_function *f);
	void (*event)(void *arg, const struct tau_event *e);
	void *arg;
};

/* Modifies the text; callbacks get pointers into it. Returns false if it is not a TAU profile or is truncated. */
bool tau_parse(char *text, const struct tau_taker *taker);

#endif
