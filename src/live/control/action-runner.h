/*
 * errand: what is done beside the controller, in processes of their own: commands, webhooks,
 * messages. A few at a time; each has a time limit. A webhook that failed is written into the
 * spool directory and tried again, oldest first.
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
	int out;         /* its answer; -1: none */
	int64_t end_ns;
	char who[64], action[256];
	char *request; /* of a webhook: to be spooled; NULL: not */
	size_t request_bytes;
	char spooled[300]; /* it comes from this file; "": it does not */
};

struct errands {
	struct action_run all[ERRANDS_MAX];
	struct journal *journal;
	const char *spool; /* NULL: none */
	int64_t retry_ns;
	uint64_t done, failed, spooled;
};

void errands_init(struct errands *e, struct journal *j, const char *spool);
void errands_release(struct errands *e); /* ends what runs */
/* -EBUSY: too many are under way. */
int action_run_exec(struct errands *e, const struct rules_request *r, struct sonde_err *err);
int action_run_webhook(struct errands *e, const struct rules_request *r, struct sonde_err *err);
int action_run_mqtt(struct errands *e, const struct rules_request *r, struct sonde_err *err);
void errands_tick(struct errands *e, int64_t now_ns);

#endif
