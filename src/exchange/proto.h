/*
 * proto: writes Protocol Buffers messages field by field.
 *
 * A message is a buf; a nested one is first written to a separate buf. Numbers are varints unless the name states
 * otherwise. Invalid UTF-8 in texts is replaced. Errors are those of the buf: check once at the end.
 */
#ifndef SONDE_EXCHANGE_PROTO_H
#define SONDE_EXCHANGE_PROTO_H

#include "base/buf.h"
#include "store/schema.h"

#include <stdint.h>

void proto_varint(struct buf *out, uint64_t v); /* without a tag: an item of a packed field */
void proto_uint(struct buf *out, unsigned field, uint64_t v);
void proto_int(struct buf *out, unsigned field, int64_t v);
void proto_fixed64(struct buf *out, unsigned field, uint64_t v);
void proto_double(struct buf *out, unsigned field, double v);
void proto_bytes(struct buf *out, unsigned field, const void *bytes, size_t n);
void proto_text(struct buf *out, unsigned field, const char *text, size_t n);
void proto_str(struct buf *out, unsigned field, const char *text); /* NULL: nothing */
void proto_message(struct buf *out, unsigned field, const struct buf *message);

#endif
