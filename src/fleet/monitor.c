#include "fleet/monitor.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>

enum { FOLLOW_MS = 100 };

/* The key makes the work queue drop the duplicate if we are killed between the two and repeat them. */
static int queue_job(struct fleet_client *client, const struct fleet_job *job, struct sonde_err *err)
{
	int rc = fleet_client_queue(client, job->id, err);

	return rc < 0 ? rc : fleet_client_publish(client, job->id, "event", "{\"event\":\"queue\"}", NULL, NULL, err);
}

static int stop_job(struct fleet_client *client, const struct fleet_job *job, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "{\"event\":\"stop\",\"why\":\"target\",\"time_ns\":%lld}", (long long)clock_real_ns());
	return fleet_client_publish(client, job->id, "event", text.data, NULL, NULL, err);
}

/* Acts on the job state. An event that cannot be published now is published on the next pass. */
static void act(struct fleet_client *client, const struct fleet_jobs *jobs_state)
{
	for (size_t i = 0; i < jobs_state->count; i++) {
		const struct fleet_job *job = jobs_state->jobs[i];

		if (job->state == FLEET_SUBMITTED)
			queue_job(client, job, NULL);
		else if (job->state == FLEET_RUNNING && job->stop == FLEET_GO_ON && fleet_job_has_reached(job))
			stop_job(client, job, NULL);
	}
}

int fleet_monitor_run(struct fleet_client *client, int64_t lease_ns, const volatile sig_atomic_t *is_stopped,
		struct sonde_err *err)
{
	struct fleet_jobs jobs_state;
	int rc = fleet_client_prepare(client, lease_ns, err);

	if (rc < 0)
		return rc;
	fleet_jobs_init(&jobs_state);
	while (rc != -ENOMEM && !*is_stopped) {
		rc = fleet_client_follow(client, FOLLOW_MS, &jobs_state, err);
		if (rc == 0) /* all events are read: the state is complete */
			act(client, &jobs_state);
		if (rc < 0) { /* the server is unreachable: retry */
			fleet_jobs_release(&jobs_state);
			poll(NULL, 0, FOLLOW_MS);
		}
	}
	fleet_jobs_release(&jobs_state);
	return rc == -ENOMEM ? rc : 0;
}
