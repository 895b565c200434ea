/*
 * pfw-hash: the hashes by which DFTracer names hosts, files and strings.
 *
 * Both are made of the MD5 digest (RFC 1321) of the bytes. Up to generation C the
 * number is that of the high halves of its 16 bytes, which a slip in the tracer
 * once made the format; from generation D on it is that of the bytes 0, 2 .. 14,
 * written as 16 hexadecimal digits.
 */
#ifndef SONDE_PFW_NAME_HASH_H
#define SONDE_PFW_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

void pfw_md5(const void *bytes, size_t n, uint8_t digest[16]);
uint64_t pfw_hash_c(const void *bytes, size_t n);
uint64_t pfw_hash_d(const void *bytes, size_t n);

#endif
