/*
 * memcpy and related functions for libsonde alone, under the names that the compiler calls.
 *
 * Another library in the program may interpose libc's: ThreadSanitizer's treats each write into a ring as the
 * program's own and reports a race when the chunk gets another owner.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OURS __attribute__((visibility("hidden")))
/* Prevents the compiler from replacing the loop by a call of the function that contains it. */
#define KEEP_THE_LOOP(at) __asm__ volatile("" : "+r"(at))

struct word {
	uint64_t bits;
} __attribute__((packed, may_alias));

OURS void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *out = to;
	const char *in = from;
	for (; n >= sizeof(struct word); n -= sizeof(struct word)) {
		*(struct word *)out = *(const struct word *)in;
		out += sizeof(struct word);
		in += sizeof(struct word);
		KEEP_THE_LOOP(out);
	}
	while (n--) {
		*out++ = *in++;
		KEEP_THE_LOOP(out);
	}
	return to;
}

OURS void *memset(void *to, int byte, size_t n)
{
	char *out = to;
	const struct word eight = { (uint8_t)byte * 0x0101010101010101ull };
	for (; n >= sizeof(eight); n -= sizeof(eight)) {
		*(struct word *)out = eight;
		out += sizeof(eight);
		KEEP_THE_LOOP(out);
	}
	while (n--) {
		*out++ = (char)byte;
		KEEP_THE_LOOP(out);
	}
	return to;
}

OURS void *memmove(void *to, const void *from, size_t n)
{
	char *out = to;
	const char *in = from;
	if ((uintptr_t)out - (uintptr_t)in >= n)
		return memcpy(to, from, n);
	while (n--) {
		out[n] = in[n];
		KEEP_THE_LOOP(n);
	}
	return to;
}

/* The build flags keep the compiler from calling strcpy instead if the result is not used. */
OURS char *stpcpy(char *restrict to, const char *restrict from)
{
	for (; (*to = *from); to++, from++)
		KEEP_THE_LOOP(from);
	return to;
}
