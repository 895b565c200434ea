#include "exchange/strace-calls.h"

#include "calls/calls.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SYSCALL(kernel_name, name, letters, effect) { #kernel_name, letters, SYSCALL_##effect },
#define SYSNAME SYSCALL
static const struct {
	const char *name, *letters;
	enum syscall_effect effect;
} rows[] = {
#include "calls/calls-each.h"
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static struct strace_shape shapes[ROWS]; /* sorted by name */

static signed char place_of(const char *letters, char letter)
{
	const char *at = strchr(letters, letter);

	return at ? (signed char)(at - letters) : -1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct strace_shape *)a)->name, ((const struct strace_shape *)b)->name);
}

static void make_shapes(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		const char *letters = rows[i].letters;
		signed char listener = place_of(letters, 'l');

		shapes[i] = (struct strace_shape){ .name = rows[i].name,
			.fd = listener >= 0 ? listener : place_of(letters, 'f'),
			.dir = place_of(letters, 'd'),
			.path = place_of(letters, 'p'),
			.dir2 = place_of(letters, 'D'),
			.path2 = place_of(letters, 'P'),
			.size = place_of(letters, 's'),
			.offset = place_of(letters, 'o'),
			.target = rows[i].effect == SYSCALL_COPIES ? place_of(letters, 'a') : (signed char)-1,
			.effect = rows[i].effect };
	}
	qsort(shapes, ROWS, sizeof(*shapes), by_name);
}

struct word {
	const char *text;
	size_t n;
};

static int compare(const void *key, const void *row)
{
	const struct word *word = key;
	const char *name = ((const struct strace_shape *)row)->name;
	int order = strncmp(word->text, name, word->n);

	return order ? order : name[word->n] ? -1 : 0;
}

const struct strace_shape *strace_shape(const char *name, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct word word = { name, n };

	pthread_once(&once, make_shapes);
	return bsearch(&word, shapes, ROWS, sizeof(*shapes), compare);
}
