/*
 * name-hash: the hashes with which DFTracer refers to hosts, files and strings.
 *
 * Both are taken from the MD5 digest (RFC 1321) of the bytes. Up to generation C the number consists of the high halves
 * of the digest's 16 bytes: a bug in the tracer that became the format. From generation D on it consists of the bytes
 * 0, 2 .. 14, written as 16 hexadecimal digits.
 */
#ifndef SONDE_PFW_NAME_HASH_H
#define SONDE_PFW_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

void pfw_md5(const void *bytes, size_t n, uint8_t digest[16]);
uint64_t pfw_hash_c(const void *bytes, size_t n);
uint64_t pfw_hash_d(const void *bytes, size_t n);

#endif
