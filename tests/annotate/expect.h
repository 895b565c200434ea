/*
 * expect.h: a test program prints the lines that its ring must hold, as ring.py
 * shows them. Each function prints one annotation.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Not traced where the program's own functions are. */
#define EXPECT static inline __attribute__((no_instrument_function, unused))

EXPECT void expect_text(const char *text, size_t bytes)
{
	if (!bytes)
		printf("\"\"");
	for (size_t i = 0; i < bytes; i++) {
		unsigned c = (unsigned char)text[i];
		printf(c >= 33 && c < 127 && c != '\\' ? "%c" : "\\x%02x", c);
	}
}

EXPECT void expect_head(const char *kind, const char *name, const char *category, int depth)
{
	printf("%s ", kind);
	expect_text(name, strlen(name));
	printf(" ");
	expect_text(category ? category : "-", category ? strlen(category) : 1);
	printf(" %d", depth);
}

EXPECT void expect_arg_int(const char *key, int64_t value)
{
	printf(" ");
	expect_text(key, strlen(key));
	printf("=i:%lld", (long long)value);
}

EXPECT void expect_arg_uint(const char *key, uint64_t value)
{
	printf(" ");
	expect_text(key, strlen(key));
	printf("=u:%llu", (unsigned long long)value);
}

EXPECT void expect_arg_real(const char *key, double value)
{
	printf(" ");
	expect_text(key, strlen(key));
	printf("=r:%.17g", value);
}

EXPECT void expect_arg_text(const char *key, const char *text, size_t bytes)
{
	printf(" ");
	expect_text(key, strlen(key));
	printf("=s:");
	expect_text(text, bytes);
}

EXPECT void expect_end(void)
{
	printf("\n");
}

EXPECT void expect(const char *kind, const char *name, const char *category, int depth)
{
	expect_head(kind, name, category, depth);
	expect_end();
}

#endif
