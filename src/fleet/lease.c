#include "fleet/lease.h"

#include "base/clock.h"
#include "fleet/nats.h"

#include <errno.h>
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

static natsStatus find_lease_time(struct fleet_client *client, int64_t *lease_ns)
{
	jsConsumerInfo *info = NULL;
	natsStatus s = js_GetConsumerInfo(&info, client->js, "SONDE_QUEUE", FLEET_QUEUE_CONSUMER, NULL, NULL);

	if (s == NATS_OK)
		*lease_ns = fleet_lease_of_redelivery_ns(info->Config->AckWait);
	jsConsumerInfo_Destroy(info);
	return s;
}

int fleet_queue_open(struct fleet_queue **out, struct fleet_client *client, struct sonde_err *err)
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
		fleet_queue_free(q);
		fleet_nats_error(err, s, "open the queue");
		return s == NATS_NOT_FOUND ? -ENOENT : -EIO;
	}
	*out = q;
	return 0;
}

void fleet_queue_free(struct fleet_queue *q)
{
	if (!q)
		return;
	natsSubscription_Destroy(q->sub);
	free(q);
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

int fleet_queue_take(struct fleet_queue *q, int64_t timeout_ms, struct fleet_lease **out, struct sonde_err *err)
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

uint64_t fleet_lease_message(const struct fleet_lease *lease)
{
	return lease->message;
}

int fleet_lease_ack(struct fleet_lease *lease, struct sonde_err *err)
{
	natsStatus s = natsMsg_AckSync(lease->msg, NULL, NULL);

	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "acknowledge the job");
}

void fleet_lease_pass_on(struct fleet_lease *lease)
{
	/* Jittered: agents that poll in step would get the same jobs again and again. */
	int64_t delay_ms = PASS_ON_MS / 2 + clock_mono_ns() / 1000 % PASS_ON_MS;

	natsMsg_NakWithDelay(lease->msg, delay_ms, NULL);
	natsConnection_FlushTimeout(lease->queue->client->connection, FLEET_WAIT_MS);
}

void fleet_lease_return(struct fleet_lease *lease)
{
	natsMsg_Nak(lease->msg, NULL);
	natsConnection_FlushTimeout(lease->queue->client->connection, FLEET_WAIT_MS);
}

void fleet_lease_free(struct fleet_lease *lease)
{
	if (!lease)
		return;
	natsMsg_Destroy(lease->msg);
	free(lease);
}
