/*
 * log-names: the texts of a log, each stored once: paths, event names, keys, commands.
 *
 * They are stored in files of the ring directory, so that recovery can finish the log of a killed process. The lookup
 * table is private and is rebuilt. A name stores the position of the record that announces it, so that it is announced
 * again if that record was not committed.
 */
#ifndef SONDE_PFW_LOG_NAMES_H
#define SONDE_PFW_LOG_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name {
	uint64_t hash;      /* as written in the log */
	uint64_t file_at;   /* 1 + position of its FH record in the text; 0: none */
	uint64_t string_at; /* the same for its SH record */
	uint32_t quick;     /* for the table */
	uint32_t bytes;
	char text[];
};

/* A file, mapped at its maximum size and allocated on demand; without a file, anonymous memory. */
struct grown {
	char *at;
	size_t reserved, allocated;
	int fd;
};

struct names {
	bool is_hex; /* hashes of generation D and E */
	struct grown arena, strings, files;
	uint32_t *table;
	size_t slots, count;
};

/*
 * Opens the files in the directory and reuses existing ones. Works without them, but then nothing survives the process.
 */
bool names_open(struct names *n, int dirfd, bool is_hex);
void names_release(struct names *n);

struct name *names_put(struct names *n, const char *text, size_t bytes); /* NULL if out of room */

/* The name with the ring's number `id`; NULL if not (yet) known. */
struct name *names_string(const struct names *n, uint64_t id);
struct name *names_file(const struct names *n, uint64_t number);
void names_set_string(struct names *n, uint64_t id, const struct name *name);
void names_set_file(struct names *n, uint64_t number, const struct name *name);

/* Forgets announcements at or after this position of the text. */
void names_forget_behind(struct names *n, uint64_t text_bytes);

#endif
