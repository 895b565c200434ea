/*
 * job-state: the state of a fleet's jobs, computed from its events.
 *
 * The event stream is the source of truth; the state is a pure fold of it, in stream order. The
 * monitor, an agent and a client that read the same events have the same jobs, so each can be
 * killed and rebuild its state.
 *
 * A lease's epoch is the sequence number of its claim in the stream: assigned by the server,
 * increasing and unique. A report or an end with another epoch than that of the job's last claim
 * comes from an agent that has lost the job; it is refused and counted. A job ends once: later
 * events are refused.
 *
 * Events are untrusted JSON from the network: a malformed one is refused as a whole.
 */
#ifndef SONDE_FLEET_JOB_STATE_H
#define SONDE_FLEET_JOB_STATE_H

#include "base/arena.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fleet_requirements {
	int64_t cpus;          /* 0: any */
	uint64_t memory_bytes; /* 0: any */
	const char *label;     /* NULL: any */
};

struct fleet_offer {
	int64_t cpus;
	uint64_t memory_bytes;
	const char *const *labels;
	size_t label_count;
};

bool fleet_requirements_are_met(const struct fleet_requirements *needs, const struct fleet_offer *offer);

enum fleet_state {
	FLEET_SUBMITTED, /* not queued yet */
	FLEET_QUEUED,
	FLEET_RUNNING, /* claimed by an agent, which may be lost: the queue will deliver it again */
	FLEET_DONE,
	FLEET_FAILED,
	FLEET_CANCELLED,
};

enum fleet_stop { FLEET_GO_ON, FLEET_STOP_TARGET, FLEET_STOP_CANCEL };

enum {
	FLEET_NAME_MAX = 64,   /* of jobs and agents, including the '\0' */
	FLEET_WINDOW_MAX = 64, /* maximum number of losses the stop rule averages */
	FLEET_ARGS_MAX = 1024,
	FLEET_ATTEMPTS_MAX = 5, /* the job fails after that many lost agents */
};

struct fleet_report {
	int64_t step;
	double loss;            /* NAN: reported, and not a number */
	double time_s;          /* since the command started */
	int64_t worker, config; /* -1 if unknown */
};

struct fleet_job {
	const char *id, *name, *cwd;
	char **argv;
	char **env; /* "NAME=value", NULL-terminated */
	struct fleet_requirements needs;
	const char *files;    /* hash of its uploaded files (submission.h); NULL: it runs in cwd */
	uint64_t file_chunks; /* number of chunks of the files */
	enum fleet_state state;
	enum fleet_stop stop;
	uint64_t sequence; /* of the last event read */
	uint64_t epoch;    /* 0: never claimed */
	uint64_t message;  /* sequence number of the queue message it was claimed with */
	unsigned attempts;
	uint64_t refused;                           /* events of lost leases or after the end */
	const char *agent, *why;                    /* NULL: none yet; why: reason of the end beyond the exit code */
	int exit_code;                              /* -1 if unknown */
	int64_t submitted_ns, claimed_ns, ended_ns; /* wall time; 0: not yet */
	bool has_target;
	bool has_reached; /* the controller reported that the target is reached */
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
	/* Called for each accepted report; may be NULL. */
	void (*on_report)(void *arg, const struct fleet_job *job, const struct fleet_report *report);
	/* Called for each decision of the controller, as JSON; may be NULL. */
	void (*on_note)(void *arg, const struct fleet_job *job, const char *note);
	void *arg; /* of both callbacks */
	/* private */
	struct map ids;
	struct arena arena;
	size_t cap;
};

void fleet_jobs_init(struct fleet_jobs *l);
void fleet_jobs_release(struct fleet_jobs *l);
/* Applies event number `sequence` of the stream to job `id`. 1: accepted; 0: refused; -ENOMEM. */
int fleet_jobs_apply(struct fleet_jobs *l, const char *id, uint64_t sequence, const char *text, size_t len);
struct fleet_job *fleet_jobs_find(const struct fleet_jobs *l, const char *id);

bool fleet_job_has_ended(const struct fleet_job *job);
/* Has the moving average of the last `window` losses reached the target? False with fewer reports. */
bool fleet_job_has_reached(const struct fleet_job *job);
const char *fleet_state_word(enum fleet_state state);

/* The lease is held for `lease_ns` after the last renewal confirmed by the server; redelivery comes later. */
static inline int64_t fleet_lease_redelivery_ns(int64_t lease_ns)
{
	return lease_ns + lease_ns / 2;
}

static inline int64_t fleet_lease_of_redelivery_ns(int64_t redelivery_ns)
{
	return redelivery_ns / 3 * 2;
}

#endif
