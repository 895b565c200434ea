/*
 * proto: messages of Protocol Buffers, written field by field.
 *
 * A message is a buf; one inside another is written into a buf of its own
 * first. What is a number here is a varint there unless the name says
 * otherwise. Texts become valid UTF-8 whatever they are. Failures are the
 * buf's: look once at the end.
 */
#ifndef SONDE_EXCHANGE_PROTO_H
#define SONDE_EXCHANGE_PROTO_H

#include "base/buf.h"
#include "store/schema.h"

#include <stdint.h>

void proto_varint(struct buf *out, uint64_t v); /* alone: an item of a packed field */
void proto_uint(struct buf *out, unsigned field, uint64_t v);
void proto_int(struct buf *out, unsigned field, int64_t v);
void proto_fixed64(struct buf *out, unsigned field, uint64_t v);
void proto_double(struct buf *out, unsigned field, double v);
void proto_bytes(struct buf *out, unsigned field, const void *bytes, size_t n);
void proto_text(struct buf *out, unsigned field, const char *text, size_t n);
void proto_str(struct buf *out, unsigned field, const char *text); /* NULL: nothing */
void proto_message(struct buf *out, unsigned field, const struct buf *message);

#endif
