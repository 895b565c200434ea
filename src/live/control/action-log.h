/*
 * action-log: a log of actions with reasons, one JSON object per line, with the newest lines in memory.
 *
 * The watchdog writes to the same file (JOURNAL_SHARED). A refusal or failure that
 * repeats with the same text, possibly at every tick of a regulator, is logged at intervals only.
 */
#ifndef SONDE_LIVE_CONTROL_ACTION_LOG_H
#define SONDE_LIVE_CONTROL_ACTION_LOG_H

#include "base/journal.h"
#include "base/json.h"

#include <stdint.h>

#define ACTION_LOG_LINES 200
#define ACTION_LOG_REFUSALS 16
#define ACTION_LOG_AGAIN_NS 60000000000

struct action_log {
	struct journal file; /* closed: memory only */
	char *lines[ACTION_LOG_LINES];
	uint64_t count; /* lines written so far */
	struct action_refusal {
		char who[64], action[128], message[128];
		int64_t mono_ns;
	} refusals[ACTION_LOG_REFUSALS]; /* recently logged */
	size_t refusal_count;
};

struct action_log_line {
	const char *who, *action, *why, *place, *before, *after;
	const char *result; /* done, dry run, refused, failed, reverted, told */
	const char *message;
	int64_t real_ns;
};

int action_log_open(struct action_log *log, const char *path, struct sonde_err *err); /* path NULL: memory only */
void action_log_close(struct action_log *log);
void action_log_add(struct action_log *log, const struct action_log_line *line);
/* The newest lines as a JSON array, oldest first. */
void action_log_show(const struct action_log *log, struct json *out);
/* For a process that has only the file: writes one line. */
void action_log_write(struct journal *file, const struct action_log_line *line);

#endif
