/* The work queue with its leases, and the main loops of an agent and of the monitor. */
#include "fleet/agent.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "fleet/nats.h"
#include "fleet/submission.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum { PASS_ON_MS = 1000 }; /* on average */

struct fleet_queue {
	struct fleet_client *client;
	natsSubscription *sub;
	int64_t lease_ns;
};

struct fleet_lease {
	struct fleet_queue *queue;
	natsMsg *msg;
	char id[FLEET_NAME_MAX];
	uint64_t message;
	int64_t renewed_ns;
};

static void free_queue(struct fleet_queue *q)
{
	if (!q)
		return;
	natsSubscription_Destroy(q->sub);
	free(q);
}

static natsStatus find_lease_time(struct fleet_client *client, int64_t *lease_ns)
{
	jsConsumerInfo *info = NULL;
	natsStatus s = js_GetConsumerInfo(&info, client->js, "SONDE_QUEUE", FLEET_QUEUE_CONSUMER, NULL, NULL);

	if (s == NATS_OK)
		*lease_ns = fleet_lease_of_redelivery_ns(info->Config->AckWait);
	jsConsumerInfo_Destroy(info);
	return s;
}

/* -ENOENT: the monitor has not created the queue yet. */
static int open_queue(struct fleet_queue **out, struct fleet_client *client, struct sonde_err *err)
{
	struct fleet_queue *q = calloc(1, sizeof(*q));
	jsSubOptions options;
	natsStatus s;

	if (!q)
		return err_sys(err, ENOMEM, "cannot open the queue");
	q->client = client;
	jsSubOptions_Init(&options);
	options.Stream = "SONDE_QUEUE";
	options.Consumer = FLEET_QUEUE_CONSUMER;
	s = find_lease_time(client, &q->lease_ns);
	if (s == NATS_OK)
		s = js_PullSubscribe(&q->sub, client->js, "sonde.queue.*", NULL, NULL, &options, NULL);
	if (s != NATS_OK) {
		free_queue(q);
		fleet_nats_error(err, s, "open the queue");
		return s == NATS_NOT_FOUND ? -ENOENT : -EIO;
	}
	*out = q;
	return 0;
}

int64_t fleet_queue_lease_ns(const struct fleet_queue *q)
{
	return q->lease_ns;
}

static struct fleet_lease *lease_of(struct fleet_queue *q, natsMsgList *list, int64_t asked_ns)
{
	struct fleet_lease *lease = calloc(1, sizeof(*lease));
	jsMsgMetaData *meta = NULL;
	size_t len;

	if (!lease)
		return NULL;
	lease->queue = q;
	lease->msg = list->Msgs[0];
	lease->renewed_ns = asked_ns;
	list->Msgs[0] = NULL;
	len = (size_t)natsMsg_GetDataLength(lease->msg);
	if (len < sizeof(lease->id))
		memcpy(lease->id, natsMsg_GetData(lease->msg), len);
	if (natsMsg_GetMetaData(&meta, lease->msg) == NATS_OK)
		lease->message = meta->Sequence.Stream;
	jsMsgMetaData_Destroy(meta);
	return lease;
}

/* Waits up to timeout_ms for the next job. 1: stored in *out; 0: none; -errno on failure. */
static int receive_lease(struct fleet_queue *q, int64_t timeout_ms, struct fleet_lease **out, struct sonde_err *err)
{
	int64_t asked_ns = clock_mono_ns();
	natsMsgList list = { 0 };
	natsStatus s = natsSubscription_Fetch(&list, q->sub, 1, timeout_ms, NULL);
	struct fleet_lease *lease;

	if (s == NATS_TIMEOUT)
		return 0;
	if (s != NATS_OK)
		return fleet_nats_error(err, s, "take a job from the queue");
	lease = lease_of(q, &list, asked_ns);
	natsMsgList_Destroy(&list);
	if (!lease)
		return err_sys(err, ENOMEM, "cannot take a job from the queue");
	*out = lease;
	return 1;
}

const char *fleet_lease_job(const struct fleet_lease *lease)
{
	return lease->id;
}

int fleet_lease_renew(struct fleet_lease *lease, struct sonde_err *err)
{
	int64_t before_ns = clock_mono_ns();
	natsStatus s;

	if (!fleet_lease_is_held(lease))
		return err_set(err, ESTALE, "the lease of '%s' expired", lease->id);
	s = natsMsg_InProgress(lease->msg, NULL);
	/* The PONG to a PING sent after the renewal confirms that the server has received it. */
	if (s == NATS_OK)
		s = natsConnection_FlushTimeout(lease->queue->client->connection, lease->queue->lease_ns / 6000000 + 1);
	if (s != NATS_OK)
		return fleet_nats_error(err, s, "renew the lease");
	lease->renewed_ns = before_ns;
	return 0;
}

bool fleet_lease_is_held(const struct fleet_lease *lease)
{
	return clock_mono_ns() < fleet_lease_end_ns(lease);
}

int64_t fleet_lease_end_ns(const struct fleet_lease *lease)
{
	return lease->renewed_ns + lease->queue->lease_ns;
}

/* Sequence number of its queue message: another number for the same job is a second delivery. */
static uint64_t message_of(const struct fleet_lease *lease)
{
	return lease->message;
}

int fleet_lease_ack(struct fleet_lease *lease, struct sonde_err *err)
{
	natsStatus s = natsMsg_AckSync(lease->msg, NULL, NULL);

	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "acknowledge the job");
}

void fleet_lease_return(struct fleet_lease *lease)
{
	natsMsg_Nak(lease->msg, NULL);
	natsConnection_FlushTimeout(lease->queue->client->connection, FLEET_WAIT_MS);
}

/* without ack or return: the job is redelivered on expiry */
static void free_lease(struct fleet_lease *lease)
{
	if (!lease)
		return;
	natsMsg_Destroy(lease->msg);
	free(lease);
}

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
	json_karray(&j, "labels");
	for (size_t i = 0; i < offer->label_count; i++)
		json_str(&j, offer->labels[i]);
	json_end(&j);
	json_end(&j);
	fleet_client_beat(a->client, a->o->name, text.data, NULL);
}

/* -EAGAIN: the job has a new event meanwhile; read it again. */
static int consider(struct agent *a, struct fleet_lease *lease, const struct fleet_job *job)
{
	uint64_t epoch;
	int rc;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	/* Another message of a running job: it was queued twice, and the holder of the other message runs it. */
	if (!job || fleet_job_has_ended(job) || (job->state == FLEET_RUNNING && job->message != message_of(lease)))
		return fleet_lease_ack(lease, NULL);
	if (!fleet_requirements_are_met(&job->needs, &a->o->offer)) {
		/*
		 * This agent cannot run it: back to the queue, after about a second. Jittered: agents that poll in step
		 * would get the same jobs again and again.
		 */
		int64_t delay_ms = PASS_ON_MS / 2 + clock_mono_ns() / 1000 % PASS_ON_MS;

		natsMsg_NakWithDelay(lease->msg, delay_ms, NULL);
		natsConnection_FlushTimeout(lease->queue->client->connection, FLEET_WAIT_MS);
		return 0;
	}
	/* Succeeds only if the job has no new event since it was read: of several concurrent claims one succeeds. */
	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "event", "claim");
	json_kstr(&j, "agent", a->o->name);
	json_kuint(&j, "message", message_of(lease));
	json_kint(&j, "time_ns", clock_real_ns());
	json_end(&j);
	rc = fleet_client_publish_after(a->client, job->id, text.data, job->sequence, &epoch, NULL);
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
		rc = open_queue(&a->queue, a->client, err);
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
		if (receive_lease(a.queue, TAKE_MS, &lease, err) < 0)
			poll(NULL, 0, TICK_MS); /* the server is unreachable */
		if (lease)
			handle(&a, lease);
		free_lease(lease);
	}
	if (a.queue)
		agent_beat(&a, NULL, "gone");
	free_queue(a.queue);
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
		/* 0: all events are read, the state is complete. What cannot be published now is on the next pass. */
		for (size_t i = 0; rc == 0 && i < jobs_state.count; i++) {
			const struct fleet_job *job = jobs_state.jobs[i];

			if (job->state == FLEET_SUBMITTED)
				queue_job(client, job, NULL);
			else if (job->state == FLEET_RUNNING && job->stop == FLEET_GO_ON && fleet_job_has_reached(job))
				stop_job(client, job, NULL);
		}
		if (rc < 0) { /* the server is unreachable: retry */
			fleet_jobs_release(&jobs_state);
			poll(NULL, 0, FOLLOW_MS);
		}
	}
	fleet_jobs_release(&jobs_state);
	return rc == -ENOMEM ? rc : 0;
}
