/*
 * file: the log file, plain or compressed.
 *
 * Compressed, each batch is a gzip member of its own, so that readers can start at
 * any of them; the last one holds what ends the file and can be taken off again.
 * A log that is there already is continued.
 */
#ifndef SONDE_PFW_LOG_FILE_H
#define SONDE_PFW_LOG_FILE_H

#include "pfw/deflate.h"
#include "pfw/log-line.h"

struct log_file {
	int fd;
	bool is_gzip;
	uint64_t bytes; /* it has, all of them whole */
	struct deflater *deflater;
};

/* Open at `path` and cut it to `keep` bytes; -1: all but its end. 0 or -errno. */
int log_file_open(struct log_file *f, const char *path, bool is_gzip, int64_t keep);
/* Behind what is there. On failure what is there stays as it was. `packed` is room to compress in. */
int log_file_write(struct log_file *f, const struct text *text, struct text *packed);
/* "]", with nothing behind it. */
int log_file_write_end(struct log_file *f, struct text *packed);
void log_file_release(struct log_file *f);

#endif
