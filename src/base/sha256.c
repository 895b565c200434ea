#include "base/sha256.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const uint32_t rounds[64] = { 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
	0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138,
	0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70,
	0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

static uint32_t turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void spread(uint32_t w[64], const unsigned char *block)
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
				(uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
				(turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void mix(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], v[8];

	spread(w, block);
	memcpy(v, state, sizeof(v));
	for (size_t i = 0; i < 64; i++) {
		uint32_t e = v[4], a = v[0];
		uint32_t one = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & v[5]) ^ (~e & v[6])) +
				rounds[i] + w[i];
		uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += one;
		v[0] = one + two;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
		0x1f83d9ab, 0x5be0cd19 };

	*s = (struct sha256){ .bytes = 0 };
	memcpy(s->state, first, sizeof(first));
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	const unsigned char *from = bytes;

	while (n) {
		size_t used = s->bytes % sizeof(s->block), part = sizeof(s->block) - used;

		part = part < n ? part : n;
		memcpy(s->block + used, from, part);
		s->bytes += part;
		from += part;
		n -= part;
		if (used + part == sizeof(s->block))
			mix(s->state, s->block);
	}
}

void sha256_text(struct sha256 *s, char text[SHA256_TEXT_BYTES])
{
	static const unsigned char padding[64] = { 0x80 };
	uint64_t bits = s->bytes * 8;
	unsigned char length[8];

	for (size_t i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(s, padding, 1 + (119 - s->bytes % 64) % 64);
	sha256_add(s, length, sizeof(length));
	for (size_t i = 0; i < 8; i++)
		snprintf(text + 8 * i, 9, "%08x", s->state[i]);
}

int sha256_file(const char *path, char text[SHA256_TEXT_BYTES], struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char bytes[16384];
	struct sha256 s;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, errno, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "'%s' is not a regular file", path);
	sha256_init(&s);
	while ((n = read(fd, bytes, sizeof(bytes))) != 0) {
		if (n < 0 && errno != EINTR)
			return err_sys(err, errno, "cannot read '%s'", path);
		if (n > 0)
			sha256_add(&s, bytes, (size_t)n);
	}
	sha256_text(&s, text);
	return 0;
}
