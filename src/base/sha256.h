/* sha256: SHA-256 digests (FIPS 180-4). */
#ifndef SONDE_BASE_SHA256_H
#define SONDE_BASE_SHA256_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define SHA256_TEXT_BYTES 65 /* hexadecimal, lower case, and a NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
void sha256_text(struct sha256 *s, char text[SHA256_TEXT_BYTES]); /* finishes the digest */
/* Digest of a regular file of any size. */
int sha256_file(const char *path, char text[SHA256_TEXT_BYTES], struct sonde_err *err);

#endif
