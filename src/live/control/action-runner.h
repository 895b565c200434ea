/*
 * action-runner: runs actions in separate processes: commands, webhooks, messages. The number of concurrent actions
 * is limited; each has a timeout. A webhook that failed is written to the spool directory and retried, oldest first.
 */
#ifndef SONDE_LIVE_CONTROL_ACTION_RUNNER_H
#define SONDE_LIVE_CONTROL_ACTION_RUNNER_H

#include "launch/job.h"
#include "live/control/action-log.h"
#include "live/rules/rule-eval.h"

#define ERRANDS_MAX 8
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

struct errands {
	struct action_run all[ERRANDS_MAX];
	struct action_log *journal;
	const char *spool; /* NULL: none */
	int64_t retry_ns;
	uint64_t done, failed, spooled;
};

void errands_init(struct errands *e, struct action_log *log, const char *spool);
void errands_release(struct errands *e); /* kills running actions */
/* -EBUSY: too many actions are running. */
int action_run_exec(struct errands *e, const struct rules_request *r, struct sonde_err *err);
int action_run_webhook(struct errands *e, const struct rules_request *r, struct sonde_err *err);
int action_run_mqtt(struct errands *e, const struct rules_request *r, struct sonde_err *err);
void errands_tick(struct errands *e, int64_t now_ns);

#endif
