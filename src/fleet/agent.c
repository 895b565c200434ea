/* The main loops of an agent and of the monitor. */
#include "fleet/agent.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "fleet/upload.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)

enum { TAKE_MS = 300, TICK_MS = 100, LOOKS_MAX = 5 };

void agent_beat(struct agent *a, const char *job, const char *state)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct fleet_offer *offer = &a->o->offer;
	struct json j;

	if (clock_mono_ns() - a->beat_ns < SECOND_NS && strcmp(state, "gone") != 0)
		return;
	a->beat_ns = clock_mono_ns();
	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "agent", a->o->name);
	json_kstr(&j, "state", state);
	json_kstr(&j, "job", job);
	json_kint(&j, "pid", getpid());
	json_kint(&j, "cpus", offer->cpus);
	json_kuint(&j, "memory_bytes", offer->memory_bytes);
	json_key(&j, "labels");
	json_array(&j);
	for (size_t i = 0; i < offer->label_count; i++)
		json_str(&j, offer->labels[i]);
	json_end(&j);
	json_end(&j);
	fleet_client_beat(a->client, a->o->name, text.data, NULL);
}

/* Succeeds only if the job has no new event since it was read: of several concurrent claims one succeeds. */
static int claim(struct agent *a, const struct fleet_lease *lease, const struct fleet_job *job, uint64_t *epoch)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "event", "claim");
	json_kstr(&j, "agent", a->o->name);
	json_kuint(&j, "message", fleet_lease_message(lease));
	json_kint(&j, "time_ns", clock_real_ns());
	json_end(&j);
	return fleet_client_publish_after(a->client, job->id, text.data, job->sequence, epoch, NULL);
}

/* The job was queued twice and the holder of the other message runs it: that message stays until the job has ended. */
static bool is_delivered_twice(const struct fleet_job *job, const struct fleet_lease *lease)
{
	return job->state == FLEET_RUNNING && job->message != fleet_lease_message(lease);
}

/* -EAGAIN: the job has a new event meanwhile; read it again. */
static int consider(struct agent *a, struct fleet_lease *lease, const struct fleet_job *job)
{
	uint64_t epoch;
	int rc;

	if (!job || fleet_job_has_ended(job) || is_delivered_twice(job, lease))
		return fleet_lease_ack(lease, NULL);
	if (!fleet_requirements_are_met(&job->needs, &a->o->offer)) {
		fleet_lease_pass_on(lease);
		return 0;
	}
	rc = claim(a, lease, job, &epoch);
	if (rc < 0)
		return rc;
	if (job->stop == FLEET_STOP_CANCEL) /* while no agent had it */
		return agent_tell_end(a, lease, epoch, -1, "cancelled while its agent was lost");
	if (job->attempts >= FLEET_ATTEMPTS_MAX)
		return agent_tell_end(a, lease, epoch, -1, "its agents were lost too often");
	agent_run_job(a, lease, job, epoch);
	return 0;
}

/* A job that fails here is delivered again. */
static void handle(struct agent *a, struct fleet_lease *lease)
{
	const char *id = fleet_lease_job(lease);
	int rc = -EAGAIN;

	for (int i = 0; i < LOOKS_MAX && rc == -EAGAIN; i++) {
		struct fleet_jobs jobs_state;

		fleet_jobs_init(&jobs_state);
		rc = fleet_lease_renew(lease, NULL);
		if (rc == 0)
			rc = fleet_client_fold(a->client, id, false, &jobs_state, NULL);
		if (rc == 0)
			rc = consider(a, lease, fleet_jobs_find(&jobs_state, id));
		fleet_jobs_release(&jobs_state);
	}
	if (rc == -EAGAIN)
		fleet_lease_return(lease);
}

/* The monitor creates the queue. */
static int wait_for_queue(struct agent *a, struct sonde_err *err)
{
	int rc = 0;

	while (!a->queue && !*a->o->is_stopped) {
		rc = fleet_queue_open(&a->queue, a->client, err);
		if (rc == -ENOMEM)
			return rc;
		if (rc < 0)
			poll(NULL, 0, TICK_MS);
	}
	return 0;
}

int fleet_agent_run(struct fleet_client *client, const struct fleet_agent_options *o, struct sonde_err *err)
{
	struct agent a = { .client = client, .o = o, .beat_ns = -SECOND_NS };
	int rc = wait_for_queue(&a, err);

	tempdir_sweep(FLEET_WORK);
	while (rc >= 0 && !*o->is_stopped && !*o->is_drained) {
		struct fleet_lease *lease = NULL;

		agent_beat(&a, NULL, "idle");
		if (fleet_queue_take(a.queue, TAKE_MS, &lease, err) < 0)
			poll(NULL, 0, TICK_MS); /* the server is unreachable */
		if (lease)
			handle(&a, lease);
		fleet_lease_free(lease);
	}
	if (a.queue)
		agent_beat(&a, NULL, "gone");
	fleet_queue_free(a.queue);
	return rc;
}

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
