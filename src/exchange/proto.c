/* Protocol Buffers encoder; see https://protobuf.dev/programming-guides/encoding/. */
#include "exchange/proto.h"

#include "base/jsonscan.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

#define VARINT_BYTES_MAX 10

void proto_varint(struct buf *out, uint64_t v)
{
	unsigned char bytes[VARINT_BYTES_MAX];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (unsigned char)(v | 0x80);
	bytes[n++] = (unsigned char)v;
	buf_add(out, bytes, n);
}

static void add_tag(struct buf *out, unsigned field, enum wire wire)
{
	proto_varint(out, (uint64_t)field << 3 | wire);
}

void proto_uint(struct buf *out, unsigned field, uint64_t v)
{
	add_tag(out, field, WIRE_VARINT);
	proto_varint(out, v);
}

void proto_int(struct buf *out, unsigned field, int64_t v)
{
	proto_uint(out, field, (uint64_t)v);
}

void proto_fixed64(struct buf *out, unsigned field, uint64_t bits)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(bits >> 8 * i);
	add_tag(out, field, WIRE_64);
	buf_add(out, bytes, sizeof(bytes));
}

void proto_double(struct buf *out, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	proto_fixed64(out, field, bits);
}

void proto_bytes(struct buf *out, unsigned field, const void *bytes, size_t n)
{
	add_tag(out, field, WIRE_BYTES);
	proto_varint(out, n);
	buf_add(out, bytes, n);
}

/* The length of the valid UTF-8 prefix. */
static size_t clean_bytes(const char *text, size_t n)
{
	size_t i = 0, len = 1;

	for (; i < n && len; i += len)
		len = jsonscan_utf8((const unsigned char *)text + i, n - i);
	return i;
}

void proto_text(struct buf *out, unsigned field, const char *text, size_t n)
{
	struct buf clean = BUF_INIT;
	size_t good = clean_bytes(text, n);

	if (good == n) {
		proto_bytes(out, field, text, n);
		return;
	}
	while (n) {
		good = clean_bytes(text, n);
		buf_add(&clean, text, good);
		if (good < n) {
			buf_adds(&clean, "\xef\xbf\xbd"); /* U+FFFD for one invalid byte */
			good++;
		}
		text += good;
		n -= good;
	}
	proto_bytes(out, field, clean.data, clean.len);
	buf_release(&clean);
}

void proto_str(struct buf *out, unsigned field, const char *text)
{
	if (text)
		proto_text(out, field, text, strlen(text));
}

void proto_message(struct buf *out, unsigned field, const struct buf *message)
{
	proto_bytes(out, field, message->data, message->len);
}
