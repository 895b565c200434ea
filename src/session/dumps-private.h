/* dumps-private: between dumps.c and its readers; see dumps.h. */
#ifndef SONDE_SESSION_DUMPS_PRIVATE_H
#define SONDE_SESSION_DUMPS_PRIVATE_H

#include "session/dumps.h"

#define DUMP_FILE_BYTES_MAX (256u << 20)

/* The files of one tool, by their names below its directory, sorted; no symbolic links. */
struct dump_files {
	const char *dir;
	char **names;
	size_t count;
};

/* Read those of the files that are of its kind: counts them in d->files, and what they hold in d->rows; what went
 * wrong goes to d->reason. */
typedef void dump_reader(struct session_profile *p, struct session_dump *d, const struct dump_files *f);
dump_reader dump_read_tau, dump_read_nsys, dump_read_tegrastats;

/* The first thing that went wrong is the one to tell. */
void dump_reason(struct session_dump *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *dump_base(const char *name); /* behind the last slash */
/* As a label: one that is too long loses its middle. */
void dump_name(char out[SESSION_LABEL_BYTES], const char *name);

#endif
