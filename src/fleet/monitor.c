#include "fleet/monitor.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>

enum { FOLLOW_MS = 100 };

/* The key makes the work queue keep one message when we are killed between the two and do it again. */
static int queue_job(struct fleet_link *link, const struct fleet_job *job, struct sonde_err *err)
{
	int rc = fleet_link_queue(link, job->id, err);

	return rc < 0 ? rc : fleet_link_tell(link, job->id, "event", "{\"event\":\"queue\"}", NULL, NULL, err);
}

static int stop_job(struct fleet_link *link, const struct fleet_job *job, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "{\"event\":\"stop\",\"why\":\"target\",\"time_ns\":%lld}", (long long)clock_real_ns());
	return fleet_link_tell(link, job->id, "event", text.data, NULL, NULL, err);
}

/* What follows from the ledger. What cannot be told now is told at the next look. */
static void act(struct fleet_link *link, const struct fleet_ledger *ledger)
{
	for (size_t i = 0; i < ledger->count; i++) {
		const struct fleet_job *job = ledger->jobs[i];

		if (job->state == FLEET_SUBMITTED)
			queue_job(link, job, NULL);
		else if (job->state == FLEET_RUNNING && job->stop == FLEET_GO_ON && fleet_job_has_reached(job))
			stop_job(link, job, NULL);
	}
}

int fleet_monitor_run(struct fleet_link *link, int64_t lease_ns, const volatile sig_atomic_t *is_stopped,
		struct sonde_err *err)
{
	struct fleet_ledger ledger;
	int rc = fleet_link_prepare(link, lease_ns, err);

	if (rc < 0)
		return rc;
	fleet_ledger_init(&ledger);
	while (rc != -ENOMEM && !*is_stopped) {
		rc = fleet_link_follow(link, FOLLOW_MS, &ledger, err);
		if (rc == 0) /* nothing more to read: what we know is all there is */
			act(link, &ledger);
		if (rc < 0) { /* the server is away: it comes back, and so do we */
			fleet_ledger_release(&ledger);
			poll(NULL, 0, FOLLOW_MS);
		}
	}
	fleet_ledger_release(&ledger);
	return rc == -ENOMEM ? rc : 0;
}
