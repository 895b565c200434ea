/* dumps-private: shared by dumps.c and its readers. */
#ifndef SONDE_SESSION_DUMPS_PRIVATE_H
#define SONDE_SESSION_DUMPS_PRIVATE_H

#include "session/dumps.h"

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

#endif
