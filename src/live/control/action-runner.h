/*
 * action-runner: runs actions in separate processes: commands, webhooks, messages. The number of concurrent actions
 * is limited; each has a timeout. A webhook that failed is written to the spool directory and retried, oldest first.
 */
#ifndef SONDE_LIVE_CONTROL_ACTION_RUNNER_H
#define SONDE_LIVE_CONTROL_ACTION_RUNNER_H

#include "base/journal.h"
#include "base/json.h"
#include "launch/job.h"
#include "live/rules/rule-eval.h"

#include <stdint.h>

/*
 * A log of actions with reasons, one JSON object per line, with the newest lines in memory.
 *
 * The watchdog writes to the same file (JOURNAL_SHARED). A refusal or failure that
 * repeats with the same text, possibly at every tick of a regulator, is logged at intervals only.
 */

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

#define ACTION_RUNS_MAX 8
#define ACTION_SECONDS 30

struct action_run {
	struct job *job; /* NULL: free */
	int out;         /* its response; -1: none */
	int64_t end_ns;
	char who[64], action[256];
	char *request; /* of a webhook, for the spool; NULL: not spooled */
	size_t request_bytes;
	char spooled[300]; /* its spool file; "": not from the spool */
};

struct action_runs {
	struct action_run all[ACTION_RUNS_MAX];
	struct action_log *journal;
	const char *spool; /* NULL: none */
	int64_t retry_ns;
	uint64_t done, failed, spooled;
};

void action_runs_init(struct action_runs *e, struct action_log *log, const char *spool);
void action_runs_release(struct action_runs *e); /* kills running actions */
/* -EBUSY: too many actions are running. */
int action_run_exec(struct action_runs *e, const struct rules_request *r, struct sonde_err *err);
int action_run_webhook(struct action_runs *e, const struct rules_request *r, struct sonde_err *err);
int action_run_mqtt(struct action_runs *e, const struct rules_request *r, struct sonde_err *err);
void action_runs_tick(struct action_runs *e, int64_t now_ns);

#endif
