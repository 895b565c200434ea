/*
 * gzip-stream: a stream that compresses what is written to it.
 *
 * Members hold about GZIP_MEMBER_BYTES of text each and, where the text has
 * lines, whole ones: so that several threads can read the file, and one that is
 * cut loses its last member only. What cannot be written fails the stream, with
 * errno, at the latest when it is closed.
 */
#ifndef SONDE_EXCHANGE_GZIP_STREAM_H
#define SONDE_EXCHANGE_GZIP_STREAM_H

#include <stdio.h>

#define GZIP_MEMBER_BYTES ((size_t)4 << 20)

/* Closing it closes `under` too. NULL and errno on failure: `under` is then still the caller's. */
FILE *gzip_stream_open(FILE *under);

#endif
