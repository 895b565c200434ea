/*
 * codec: encode streams of numbers or bytes as payloads, and decode them. Private to store/.
 *
 * Numbers become u (see enum store_encoding), split into byte planes: all lowest bytes, all next ones, up to the
 * highest that is not always zero. Each plane is a section, compressed separately if that saves space: planes of
 * noise stay raw, constant planes cost one byte.
 *
 * An encoder and a decoder hold the zstd state and scratch memory that many calls share; each belongs to one thread
 * at a time.
 */
#ifndef SONDE_STORE_CODEC_H
#define SONDE_STORE_CODEC_H

#include "base/buf.h"
#include "store/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_encoder {
	void *zstd;
	uint8_t *planes; /* room for 8 planes */
	size_t rows_cap;
};

/* Minimum and maximum of the values that are not null; both STORE_NULL if all are null. */
struct store_range {
	int64_t min, max;
};

void store_encoder_release(struct store_encoder *e);

/* Describe the stream in *s and append its payload to out; 0 or -ENOMEM. */
int store_encode_ints(struct store_encoder *e, int64_t *values /* overwritten */, size_t rows, bool is_time,
		struct store_stream *s, struct store_range *range, struct buf *out);
int store_encode_reals(struct store_encoder *e, const uint64_t *bits, size_t rows, struct store_stream *s,
		struct buf *out);
int store_encode_bytes(struct store_encoder *e, const void *bytes, size_t n, struct store_stream *s, struct buf *out);

struct store_decoder {
	void *zstd;
	uint8_t *planes; /* room for 8 planes and a bitmap */
	size_t rows_cap;
};

void store_decoder_release(struct store_decoder *d);

/*
 * Decode numbers of either kind into out[rows]; 0, -EBADMSG if the payload does not hold exactly that many, or
 * -ENOMEM.
 */
int store_decode_numbers(struct store_decoder *d, const struct store_stream *s, const uint8_t *payload, size_t rows,
		int64_t *out);
/* Decode the s->first bytes of a byte stream into out. */
int store_decode_bytes(struct store_decoder *d, const struct store_stream *s, const uint8_t *payload, uint8_t *out);

#endif
