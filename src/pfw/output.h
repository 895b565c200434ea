/*
 * output: a trace file being written, compressed if its name ends in .gz.
 *
 * The file must not exist: traces are not overwritten. It is renamed to its final name when it is complete.
 */
#ifndef SONDE_PFW_OUTPUT_H
#define SONDE_PFW_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pfw_out {
	bool has_begun;
	uint64_t text_bytes; /* of the lines */
	/* private */
	int fd;
	bool is_gzip, is_framed;
	char *path, *temp;
	struct buf text, packed;
	int error;
};

int pfw_out_open(struct pfw_out *o, const char *path, struct sonde_err *err); /* -EEXIST if the file exists */
/* Call before the first line. is_framed: the trace has array brackets. */
void pfw_out_begin(struct pfw_out *o, bool is_framed);
int pfw_out_line(struct pfw_out *o, const char *line, size_t n); /* 0 or -errno */
/* Writes the rest and frees the contents; err NULL: discards the file. */
int pfw_out_close(struct pfw_out *o, struct sonde_err *err);

#endif
