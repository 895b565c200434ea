/*
 * gzip-stream: a stream that compresses what is written to it.
 *
 * Each member holds about GZIP_MEMBER_BYTES of text, and whole lines if the text has lines. So several threads can read
 * the file, and a truncated file loses only its last member. A write error fails the stream, with errno, at the latest
 * when it is closed.
 */
#ifndef SONDE_EXCHANGE_GZIP_STREAM_H
#define SONDE_EXCHANGE_GZIP_STREAM_H

#include <stdio.h>

#define GZIP_MEMBER_BYTES ((size_t)4 << 20)

/* Closing it also closes `under`. NULL and errno on failure; the caller then still owns `under`. */
FILE *gzip_stream_open(FILE *under);

#endif
