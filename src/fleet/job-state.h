/*
 * ledger: what the events of a fleet add up to.
 *
 * The stream of events is the truth; a ledger is its fold, in stream order, and
 * nothing else: the monitor, an agent and a client that read the same events hold
 * the same jobs. So whoever is killed reads again and goes on.
 *
 * A lease's epoch is the sequence number of its claim in the stream: the server
 * gives it, it only grows, and no two leases share one. A report or an end that
 * carries another epoch than the job's last claim comes from somebody who has lost
 * the job; it is refused, and counted. A job ends once: what comes later is refused.
 *
 * Events are JSON from the network: what is malformed is refused, never half taken.
 */
#ifndef SONDE_FLEET_JOB_STATE_H
#define SONDE_FLEET_JOB_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "fleet/requirements.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fleet_state {
	FLEET_SUBMITTED, /* nobody has queued it yet */
	FLEET_QUEUED,
	FLEET_RUNNING, /* an agent has claimed it, or had and was lost: the queue will deliver it again */
	FLEET_DONE,
	FLEET_FAILED,
	FLEET_CANCELLED,
};

enum fleet_stop { FLEET_GO_ON, FLEET_STOP_TARGET, FLEET_STOP_CANCEL };

enum {
	FLEET_NAME_MAX = 64,   /* of jobs and agents, with the '\0' */
	FLEET_WINDOW_MAX = 64, /* losses that the finish rule averages */
	FLEET_ARGS_MAX = 1024,
	FLEET_ATTEMPTS_MAX = 5, /* a job whose agents die that often is not tried again */
};

struct fleet_report {
	int64_t step;
	double loss;            /* NAN: reported, and not a number */
	double time_s;          /* since the command started */
	int64_t worker, config; /* -1: not told */
};

struct fleet_job {
	const char *id, *name, *cwd;
	char **argv;
	char **env; /* "NAME=value", ended by NULL */
	struct fleet_requirements needs;
	const char *files;    /* hash of those that it brings (upload.h); NULL: it runs in cwd */
	uint64_t file_chunks; /* of these */
	enum fleet_state state;
	enum fleet_stop stop;
	uint64_t sequence; /* of its last event that was read */
	uint64_t epoch;    /* 0: never claimed */
	uint64_t message;  /* of the queue, by which it was claimed */
	unsigned attempts;
	uint64_t refused;        /* events of lost leases, and of after its end */
	const char *agent, *why; /* NULL: none yet; why it ended, where there is more to say than the exit code */
	int exit_code;           /* -1: not known */
	int64_t submitted_ns, claimed_ns, ended_ns; /* wall time; 0: not yet */
	bool has_target;
	bool has_reached; /* who tunes the job has said so */
	double target_loss;
	size_t window;
	uint64_t report_count; /* of this lease */
	struct fleet_report last;
	/* private */
	double recent[FLEET_WINDOW_MAX];
};

struct fleet_jobs {
	struct fleet_job **jobs; /* in the order they were submitted */
	size_t count;
	/* Told each report that is accepted; NULL: nobody is. */
	void (*on_report)(void *arg, const struct fleet_job *job, const struct fleet_report *report);
	/* Told each note of who tunes the job, JSON; NULL: nobody is. */
	void (*on_note)(void *arg, const struct fleet_job *job, const char *note);
	void *arg; /* of both */
	/* private */
	struct map ids;
	struct arena arena;
	size_t cap;
};

void fleet_jobs_init(struct fleet_jobs *l);
void fleet_jobs_release(struct fleet_jobs *l);
/* One event of job `id`, number `sequence` of the stream. 1: accepted. 0: refused. -ENOMEM. */
int fleet_jobs_apply(struct fleet_jobs *l, const char *id, uint64_t sequence, const char *text, size_t len);
struct fleet_job *fleet_jobs_find(const struct fleet_jobs *l, const char *id);

bool fleet_job_has_ended(const struct fleet_job *job);
/* The moving average of the last `window` losses has reached the target. Fewer reports than that: not yet. */
bool fleet_job_has_reached(const struct fleet_job *job);
const char *fleet_state_word(enum fleet_state state);

/* The lease: held for `lease_ns` after the last renewal that the server is known to have; delivered again later. */
static inline int64_t fleet_lease_redelivery_ns(int64_t lease_ns)
{
	return lease_ns + lease_ns / 2;
}

static inline int64_t fleet_lease_of_redelivery_ns(int64_t redelivery_ns)
{
	return redelivery_ns / 3 * 2;
}

#endif
