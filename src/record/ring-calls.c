#include "record/ring-calls.h"

#include "base/cleanup.h"
#include "calls/calls-find.h"
#include "calls/calls-hash.h"
#include "calls/calls-text.h"
#include "store/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (1u << 20)

#define NAME_OF_CATEGORY(NAME, bit, word) [bit] = #NAME,
#define NAME_OF(NAME, word) #NAME,
static const char *const categories[] = { SONDE_CATEGORIES(NAME_OF_CATEGORY) NULL };
static const char *const kinds[] = { CALL_KINDS(NAME_OF) NULL };
static const char *const bytes[] = { CALL_BYTES(NAME_OF) NULL };
static const char *const waits[] = { CALL_WAITS(NAME_OF) NULL };
static const char *const dfts[] = { CALL_DFTS(NAME_OF) NULL };

/* The number of a value, or `unknown`: another build may have values that we do not. */
static uint8_t value_of(const char *const *names, const char *word, uint8_t unknown)
{
	for (uint8_t i = 0; names[i]; i++)
		if (!strcmp(names[i], word))
			return i;
	return unknown;
}

/* One line of calls-text.h; false if it is not one. */
static bool parse_row(char *line, struct call_info *row)
{
	char *fields[7];
	for (size_t i = 0; i < 7; i++) {
		fields[i] = strsep(&line, " ");
		if (!fields[i])
			return false;
	}
	uint8_t category = value_of(categories, fields[1], UINT8_MAX);
	if (line || strlen(fields[0]) >= sizeof(row->name) || strlen(fields[6]) >= sizeof(row->names) ||
			category == UINT8_MAX)
		return false;
	*row = (struct call_info){ .category = category,
		.kind = value_of(kinds, fields[2], CALL_KIND_OTHER),
		.bytes = value_of(bytes, fields[3], CALL_BYTES_UNKNOWN),
		.wait = value_of(waits, fields[4], CALL_WAIT_NONE),
		.dft = value_of(dfts, fields[5], CALL_DFT_NO) };
	row->mask = row->dft == CALL_DFT_ONLY ? SONDE_CAT_DFTRACER
					      : 1u << category | (row->dft == CALL_DFT_ALSO ? SONDE_CAT_DFTRACER : 0);
	stpcpy(row->name, fields[0]);
	stpcpy(row->names, fields[6]);
	return true;
}

static struct ring_calls *new_table(uint64_t hash, const struct call_info *rows, uint32_t count)
{
	struct ring_calls *t = calloc(1, sizeof(*t) + count * sizeof(*t->ids));
	if (t)
		*t = (struct ring_calls){ .hash = hash, .rows = rows, .count = count };
	return t;
}

static struct ring_calls *parse(char *text, uint64_t hash)
{
	uint32_t count = 0;
	struct call_info *rows = calloc(CALLS_ROWS_MAX, sizeof(*rows));
	for (char *line; rows && (line = strsep(&text, "\n")) && *line && count < CALLS_ROWS_MAX; count++)
		if (!parse_row(line, &rows[count])) {
			free(rows);
			return NULL;
		}
	struct ring_calls *t = rows ? new_table(hash, rows, count) : NULL;
	if (!t)
		free(rows);
	return t;
}

/* A process may have written anything there: only a text with the right hash is a table. */
static struct ring_calls *load(const struct ring_dir *ring, uint64_t hash)
{
	char name[CALLS_FILE_BYTES];
	struct stat st;
	calls_file_name(name, hash);
	CLEANUP(cleanup_fd) int fd = openat(ring->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > TEXT_BYTES_MAX)
		return NULL;
	CLEANUP(cleanup_free) char *text = calloc(1, (size_t)st.st_size + 1);
	if (!text || read(fd, text, (size_t)st.st_size) != (ssize_t)st.st_size ||
			store_hash(text, (size_t)st.st_size, 0) != hash)
		return NULL;
	return parse(text, hash);
}

struct ring_calls *ring_calls_find(struct ring_calls **all, const struct ring_dir *ring, uint64_t hash,
		struct sonde_err *err)
{
	struct ring_calls *t = *all;
	while (t && t->hash != hash)
		t = t->next;
	if (t)
		return t;
	t = hash == CALLS_HASH ? new_table(hash, call_info, CALL_COUNT) : load(ring, hash);
	if (!t) {
		err_set(err, ENOTSUP,
				"ring '%s' was written by another build of libsonde: its table of calls is %016llx, "
				"ours is %016llx, and it has no valid file 'calls-%016llx'",
				ring->path.data, (unsigned long long)hash, (unsigned long long)CALLS_HASH,
				(unsigned long long)hash);
		err_hint(err, "use the version of sonde that libsonde was installed with");
		return NULL;
	}
	t->next = *all;
	*all = t;
	return t;
}

void ring_calls_free(struct ring_calls *all)
{
	for (struct ring_calls *next; all; all = next) {
		next = all->next;
		if (all->rows != call_info)
			free((void *)(uintptr_t)all->rows);
		free(all);
	}
}
