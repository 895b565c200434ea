/*
 * log-file: the log file, plain or compressed, and the text to be written to it.
 *
 * In a compressed file each batch is a separate gzip member, so readers can start at any of them. The last member holds
 * the end marker and can be removed again. An existing log is appended to.
 */
#ifndef SONDE_PFW_LOG_FILE_H
#define SONDE_PFW_LOG_FILE_H

#include "pfw/deflate.h"
#include "pfw/line-write.h"

/* A text buffer in mapped memory. Reserve room before a line starts: its parts are written without checks. */
struct text {
	char *data;
	size_t len, room;
};

/* Reserves `bytes` more; returns false if out of memory. */
bool text_need(struct text *t, size_t bytes);
void text_release(struct text *t);

struct log_file {
	int fd;
	bool is_gzip;
	uint64_t bytes; /* number of bytes, always whole batches */
	struct deflater *deflater;
};

/* Opens `path` and truncates it to `keep` bytes; -1: removes only its end marker. 0 or -errno. */
int log_file_open(struct log_file *f, const char *path, bool is_gzip, int64_t keep);
/* Appends. On failure the file is unchanged. `packed` is a buffer for compression. */
int log_file_write(struct log_file *f, const struct text *text, struct text *packed);
/* Appends "]", the end marker. */
int log_file_write_end(struct log_file *f, struct text *packed);
void log_file_release(struct log_file *f);

#endif
