/*
 * action-log: a log of actions with reasons, one JSON object per line, with the newest lines in memory.
 *
 * Each line is one write to a file opened for appending: the watchdog writes to it too. A refusal or failure that
 * repeats with the same text, possibly at every tick of a regulator, is logged at intervals only.
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
	uint64_t count; /* lines written so far */
	struct journal_refusal {
		char who[64], action[128], message[128];
		int64_t mono_ns;
	} refusals[JOURNAL_REFUSALS]; /* recently logged */
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
/* The newest lines as a JSON array, oldest first. */
void journal_show(const struct journal *j, struct json *out);
/* Formats one line with its newline; NULL fields are omitted. */
void journal_format(struct buf *out, const struct journal_line *line);

#endif
