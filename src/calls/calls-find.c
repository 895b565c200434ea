#include "calls/calls-find.h"

#include <string.h>

#define CATEGORY_WORD(NAME, bit, word) [bit] = (word),
#define WORD(NAME, word) #word,
const char *const call_category_words[CALL_CATEGORY_COUNT + 1] = { SONDE_CATEGORIES(CATEGORY_WORD) NULL };
static const char *const kind_words[] = { CALL_KINDS(WORD) };
static const char *const bytes_words[] = { CALL_BYTES(WORD) };
static const char *const wait_words[] = { CALL_WAITS(WORD) };

static const char *word_of(const char *const *words, size_t count, unsigned value)
{
	return value < count ? words[value] : "";
}

static int value_of(const char *const *words, size_t count, const char *word, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == n && !memcmp(words[i], word, n))
			return (int)i;
	return -1;
}

#define WORDS_OF(what, words, count) \
	const char *call_##what##_word(unsigned value) \
	{ \
		return word_of(words, count, value); \
	} \
	int call_##what##_of(const char *word, size_t n) \
	{ \
		return value_of(words, count, word, n); \
	}
WORDS_OF(category, call_category_words, CALL_CATEGORY_COUNT)
WORDS_OF(kind, kind_words, CALL_KIND_COUNT)
WORDS_OF(bytes, bytes_words, CALL_BYTES_COUNT_)
WORDS_OF(wait, wait_words, CALL_WAIT_COUNT)

/* Entries of names.def, after the table. */
#define NAME(how, name) { #name, "", FACTS how },
static const struct call_info other_calls[] = {
#include "calls/names.def"
};

static const struct call_info *find_in(const struct call_info *rows, size_t count, const char *name, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].name[0] == *name && strlen(rows[i].name) == n && !memcmp(rows[i].name, name, n))
			return &rows[i];
	return NULL;
}

static const struct call_info *find_exact(const char *name, size_t n)
{
	const struct call_info *found = n ? find_in(call_info, CALL_COUNT, name, n) : NULL;
	return found || !n ? found : find_in(other_calls, sizeof(other_calls) / sizeof(*other_calls), name, n);
}

/* Strip one decoration; false if none is left. */
static bool strip(const char **name, size_t *n)
{
	static const char *const before[] = { "_", "GI_", "libc_", "isoc99_", "IO_" };
	static const char *const after[] = { "64", "_chk", "_unlocked", "_nocancel" };
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		size_t bytes = strlen(before[i]);
		if (*n > bytes && !memcmp(*name, before[i], bytes)) {
			*name += bytes;
			*n -= bytes;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++) {
		size_t bytes = strlen(after[i]);
		if (*n > bytes && !memcmp(*name + *n - bytes, after[i], bytes)) {
			*n -= bytes;
			return true;
		}
	}
	return false;
}

const struct call_info *calls_find(const char *name, size_t n)
{
	const struct call_info *found;
	while (!(found = find_exact(name, n)) && strip(&name, &n))
		;
	return found;
}

int64_t call_moved_bytes(enum call_bytes from, int64_t result, int64_t size, int64_t arg0, int64_t arg1)
{
	int64_t moved = result;
	switch (from) {
	case CALL_BYTES_RUN:
		return size >= 0 ? size : INT64_MIN;
	case CALL_BYTES_COUNT:
	case CALL_BYTES_LENGTH:
		return result >= 0 ? result : INT64_MIN;
	case CALL_BYTES_SIZE:
		return result >= 0 && size >= 0 ? size : INT64_MIN;
	case CALL_BYTES_ITEMS:
		if (result < 0 || arg0 < 0 || __builtin_mul_overflow(result, arg0, &moved))
			return INT64_MIN;
		break;
	case CALL_BYTES_ARG1:
		moved = arg1;
		break;
	case CALL_BYTES_RESULT:
		break;
	default:
		return INT64_MIN;
	}
	return moved >= 0 && moved <= size ? moved : INT64_MIN;
}

bool call_kind_is_network(unsigned kind)
{
	return kind >= CALL_KIND_SOCKET && kind <= CALL_KIND_POLL;
}

bool call_kind_is_process(unsigned kind)
{
	return kind >= CALL_KIND_FORK && kind <= CALL_KIND_EXIT;
}
