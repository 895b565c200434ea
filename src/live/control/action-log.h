/*
 * journal: what was done and why, one JSON object a line, and the newest lines in memory.
 *
 * Each line is one write to a file opened for appending: the warden writes its own there too.
 * What is refused or fails again in the same words, as a regulator's effort may at every tick, is
 * written once in a while only.
 */
#ifndef SONDE_LIVE_CONTROL_ACTION_LOG_H
#define SONDE_LIVE_CONTROL_ACTION_LOG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include <stdint.h>

#define JOURNAL_KEPT 200
#define JOURNAL_REFUSALS 16
#define JOURNAL_AGAIN_NS 60000000000

struct journal {
	int fd; /* -1: memory only */
	char *lines[JOURNAL_KEPT];
	uint64_t count; /* written so far */
	struct journal_refusal {
		char who[64], action[128], message[128];
		int64_t mono_ns;
	} refusals[JOURNAL_REFUSALS]; /* that were written */
	size_t refusal_count;
};

struct journal_line {
	const char *who, *action, *why, *place, *before, *after;
	const char *result; /* done, dry run, refused, failed, reverted, told */
	const char *message;
	int64_t real_ns;
};

int journal_open(struct journal *j, const char *path, struct sonde_err *err); /* path NULL: memory only */
void journal_close(struct journal *j);
void journal_add(struct journal *j, const struct journal_line *line);
/* The newest as a JSON array, oldest first. */
void journal_show(const struct journal *j, struct json *out);
/* One line's text, with its newline; fields that are NULL are left out. */
void journal_format(struct buf *out, const struct journal_line *line);

#endif
