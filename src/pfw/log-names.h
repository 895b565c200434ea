/*
 * names: the texts of a log, each kept once: paths, names of events, keys, commands.
 *
 * They lie in files of the ring directory, so that whoever finishes the log of a
 * killed process finds them; the table that finds a text is private and is made anew.
 * A name remembers where in the log the record stands that announces it, so that it is
 * announced again when that record was not committed.
 */
#ifndef SONDE_PFW_LOG_NAMES_H
#define SONDE_PFW_LOG_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name {
	uint64_t hash;      /* as the log writes it */
	uint64_t file_at;   /* 1 + place of its FH record in the text; 0 none */
	uint64_t string_at; /* of its SH record */
	uint32_t quick;     /* for the table */
	uint32_t bytes;
	char text[];
};

/* A file that is mapped whole and allocated as it is used; without a file plain memory. */
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

/* In the directory; existing files are taken over. Works without them, too: then nothing survives. */
bool names_open(struct names *n, int dirfd, bool is_hex);
void names_release(struct names *n);

struct name *names_put(struct names *n, const char *text, size_t bytes); /* NULL: no room */

/* What the ring calls `id`; NULL: not (yet) known. */
struct name *names_string(const struct names *n, uint64_t id);
struct name *names_file(const struct names *n, uint64_t number);
void names_set_string(struct names *n, uint64_t id, const struct name *name);
void names_set_file(struct names *n, uint64_t number, const struct name *name);

/* Announcements at or behind this place of the text are not there. */
void names_forget_behind(struct names *n, uint64_t text_bytes);

#endif
