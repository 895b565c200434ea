#include "fleet/nats-client.h"

#include "base/cleanup.h"
#include "fleet/nats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* PING_MS: a server that misses two of these pings is gone; the client reconnects. */
/* READ_MS: existing messages may take long to arrive on a busy machine. */
/* RETIRE_MS: a server that does not respond in this time sends no messages either. */
enum { SUBJECT_MAX = 256, LOG_BYTES_MAX = 256 << 20, PING_MS = 1000, READ_MS = 10000, RETIRE_MS = 1000 };
#define FILES_BYTES_MAX (INT64_C(4) << 30)
#define HOUR_NS INT64_C(3600000000000)

int fleet_nats_error(struct sonde_err *err, natsStatus status, const char *what)
{
	return err_set(err, status == NATS_TIMEOUT ? ETIMEDOUT : EIO, "cannot %s: %s", what,
			natsStatus_GetText(status));
}

void fleet_client_free(struct fleet_client *client)
{
	if (!client)
		return;
	natsConnection_Close(client->connection); /* stops its threads first: see retire */
	natsSubscription_Destroy(client->follow);
	jsCtx_Destroy(client->js);
	natsConnection_Destroy(client->connection);
	free(client);
}

static natsStatus connect_to(struct fleet_client *client, const char *url, const char *token)
{
	natsOptions *options = NULL;
	jsOptions js_options;
	natsStatus s = natsOptions_Create(&options);

	if (s == NATS_OK)
		s = natsOptions_SetURL(options, url);
	if (s == NATS_OK && token)
		s = natsOptions_SetToken(options, token);
	if (s == NATS_OK)
		s = natsOptions_SetMaxReconnect(options, -1);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectWait(options, 200);
	if (s == NATS_OK)
		s = natsOptions_SetPingInterval(options, PING_MS);
	if (s == NATS_OK)
		s = natsOptions_SetTimeout(options, FLEET_WAIT_MS);
	if (s == NATS_OK)
		s = natsConnection_Connect(&client->connection, options);
	natsOptions_Destroy(options);
	jsOptions_Init(&js_options);
	js_options.Wait = FLEET_WAIT_MS;
	return s == NATS_OK ? natsConnection_JetStream(&client->js, client->connection, &js_options) : s;
}

int fleet_client_open(struct fleet_client **out, const char *url, const char *token, struct sonde_err *err)
{
	struct fleet_client *client = calloc(1, sizeof(*client));
	natsStatus s;

	if (!client)
		return err_sys(err, ENOMEM, "cannot connect to the fleet");
	s = connect_to(client, url, token);
	if (s != NATS_OK) {
		fleet_client_free(client);
		err_set(err, EIO, "cannot connect to the fleet at '%s': %s", url, natsStatus_GetText(s));
		err_hint(err, "'sonde fleet status' shows its processes; 'sonde fleet up' starts one");
		return -EIO;
	}
	*out = client;
	return 0;
}

static const struct {
	const char *name, *subject;
	jsRetentionPolicy retention;
	int64_t max_bytes, max_per_subject, max_age_ns; /* 0: no limit */
} streams[] = {
	{ "SONDE_JOBS", "sonde.job.>", js_LimitsPolicy, 0, 0, 0 },
	{ "SONDE_QUEUE", "sonde.queue.*", js_WorkQueuePolicy, 0, 0, 0 },
	{ "SONDE_LOGS", "sonde.log.>", js_LimitsPolicy, LOG_BYTES_MAX, 0, 0 },
	{ "SONDE_AGENTS", "sonde.agent.*", js_LimitsPolicy, 0, 1, HOUR_NS },
	{ "SONDE_FILES", "sonde.files.>", js_LimitsPolicy, FILES_BYTES_MAX, 1, 0 },
};

/* By the part of the subject before the first wildcard. */
static const char *stream_of(const char *subject)
{
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (strncmp(subject, streams[i].subject, strcspn(streams[i].subject, "*>")) == 0)
			return streams[i].name;
	return NULL;
}

static natsStatus add_stream(struct fleet_client *client, size_t i)
{
	const char *subject = streams[i].subject;
	jsStreamConfig config;
	jsErrCode code = 0;
	natsStatus s;

	jsStreamConfig_Init(&config);
	config.Name = streams[i].name;
	config.Subjects = &subject;
	config.SubjectsLen = 1;
	config.Retention = streams[i].retention;
	if (streams[i].max_bytes)
		config.MaxBytes = streams[i].max_bytes;
	if (streams[i].max_per_subject)
		config.MaxMsgsPerSubject = streams[i].max_per_subject;
	config.MaxAge = streams[i].max_age_ns;
	s = js_AddStream(NULL, client->js, &config, NULL, &code);
	return code == JSStreamNameExistErr ? NATS_OK : s;
}

static bool has_queue(struct fleet_client *client)
{
	jsConsumerInfo *info = NULL;
	natsStatus s = js_GetConsumerInfo(&info, client->js, "SONDE_QUEUE", FLEET_QUEUE_CONSUMER, NULL, NULL);

	jsConsumerInfo_Destroy(info);
	return s == NATS_OK;
}

/* Creates or updates it: the server accepts both in the same request. */
static natsStatus put_queue(struct fleet_client *client, int64_t lease_ns)
{
	jsConsumerConfig config;

	jsConsumerConfig_Init(&config);
	config.Durable = FLEET_QUEUE_CONSUMER;
	config.AckPolicy = js_AckExplicit;
	config.AckWait = fleet_lease_redelivery_ns(lease_ns);
	config.MaxDeliver = -1;
	config.MaxAckPending = 100000;
	return js_AddConsumer(NULL, client->js, "SONDE_QUEUE", &config, NULL, NULL);
}

int fleet_client_prepare(struct fleet_client *client, int64_t lease_ns, struct sonde_err *err)
{
	natsStatus s = NATS_OK;

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]) && s == NATS_OK; i++)
		s = add_stream(client, i);
	if (s == NATS_OK && !has_queue(client))
		s = put_queue(client, lease_ns);
	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "create the fleet's streams");
}

int fleet_client_set_lease(struct fleet_client *client, int64_t lease_ns, struct sonde_err *err)
{
	natsStatus s = put_queue(client, lease_ns);

	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "set the fleet's lease");
}

/* A message to publish; key and after as in fleet_client_publish and fleet_client_publish_after. */
struct note {
	const void *bytes;
	size_t n;
	const char *key;
	uint64_t after;
};

static int publish(struct fleet_client *client, const char *subject, const struct note *note, uint64_t *sequence,
		struct sonde_err *err)
{
	jsPubOptions options;
	jsPubAck *ack = NULL;
	jsErrCode code = 0;
	natsStatus s;

	jsPubOptions_Init(&options);
	options.MaxWait = FLEET_WAIT_MS;
	options.MsgId = note->key;
	options.ExpectLastSubjectSeq = note->after;
	s = js_Publish(&ack, client->js, subject, note->bytes, (int)note->n, &options, &code);
	if (s == NATS_OK && sequence)
		*sequence = ack->Sequence;
	jsPubAck_Destroy(ack);
	if (code == JSStreamWrongLastSequenceErr)
		return err_set(err, EAGAIN, "conflict: another client updated it first");
	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "publish an event");
}

static struct note note_of(const char *text, const char *key)
{
	return (struct note){ .bytes = text, .n = strlen(text), .key = key };
}

int fleet_client_publish(struct fleet_client *client, const char *id, const char *kind, const char *text,
		const char *key, uint64_t *sequence, struct sonde_err *err)
{
	struct note note = note_of(text, key);
	char subject[SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "sonde.job.%s.%s", id, kind);
	return publish(client, subject, &note, sequence, err);
}

int fleet_client_publish_after(struct fleet_client *client, const char *id, const char *text, uint64_t after,
		uint64_t *sequence, struct sonde_err *err)
{
	struct note note = note_of(text, NULL);
	char subject[SUBJECT_MAX];

	note.after = after;
	snprintf(subject, sizeof(subject), "sonde.job.%s.event", id);
	return publish(client, subject, &note, sequence, err);
}

int fleet_client_queue(struct fleet_client *client, const char *id, struct sonde_err *err)
{
	struct note note = note_of(id, id);
	char subject[SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "sonde.queue.%s", id);
	return publish(client, subject, &note, NULL, err);
}

int fleet_client_log(struct fleet_client *client, const char *id, uint64_t epoch, const void *bytes, size_t n,
		const char *key, struct sonde_err *err)
{
	struct note note = { .bytes = bytes, .n = n, .key = key };
	char subject[SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "sonde.log.%s.%llu", id, (unsigned long long)epoch);
	return publish(client, subject, &note, NULL, err);
}

int fleet_client_beat(struct fleet_client *client, const char *agent, const char *text, struct sonde_err *err)
{
	struct note note = note_of(text, NULL);
	char subject[SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "sonde.agent.%s", agent);
	return publish(client, subject, &note, NULL, err);
}

int fleet_client_put(struct fleet_client *client, const char *subject, const void *bytes, size_t n,
		struct sonde_err *err)
{
	struct note note = { .bytes = bytes, .n = n };

	return publish(client, subject, &note, NULL, err);
}

static natsStatus subscribe(struct fleet_client *client, const char *subject, natsSubscription **sub)
{
	jsSubOptions options;

	jsSubOptions_Init(&options);
	options.Ordered = true;
	return js_SubscribeSync(sub, client->js, subject, NULL, &options, NULL);
}

/*
 * libnats 3.4 frees a subscription while its thread is about to deliver a message to it. So unsubscribe first, and
 * free it when the server's response has come through that thread.
 */
static void retire(struct fleet_client *client, natsSubscription *sub)
{
	if (!sub)
		return;
	natsSubscription_Unsubscribe(sub);
	natsConnection_FlushTimeout(client->connection, RETIRE_MS);
	natsSubscription_Destroy(sub);
}

/*
 * The sequence of the last message on the subject, which may be a pattern; 0 if none. Each message also carries the
 * number of pending ones, but the server (2.9) miscounts if the consumer is queried meanwhile.
 */
static natsStatus last_sequence(struct fleet_client *client, const char *subject, uint64_t *sequence)
{
	natsMsg *msg = NULL;
	natsStatus s = js_GetLastMsg(&msg, client->js, stream_of(subject), subject, NULL, NULL);

	*sequence = s == NATS_OK ? natsMsg_GetSequence(msg) : 0;
	natsMsg_Destroy(msg);
	return s == NATS_NOT_FOUND ? NATS_OK : s;
}

/* Passes one message to fn. */
static int hand_on(natsMsg *msg, fleet_read_fn fn, void *arg, uint64_t *sequence, uint64_t *pending)
{
	jsMsgMetaData *meta = NULL;
	struct fleet_message m = { .subject = natsMsg_GetSubject(msg),
		.bytes = natsMsg_GetData(msg),
		.len = (size_t)natsMsg_GetDataLength(msg) };

	if (natsMsg_GetMetaData(&meta, msg) != NATS_OK)
		return -EIO;
	*sequence = m.sequence = meta->Sequence.Stream;
	m.time_ns = meta->Timestamp;
	*pending = meta->NumPending;
	jsMsgMetaData_Destroy(meta);
	return fn(arg, &m);
}

static int read_to(natsSubscription *sub, uint64_t last, fleet_read_fn fn, void *arg, struct sonde_err *err)
{
	uint64_t sequence = 0, pending;
	int rc = 0;

	while (sequence < last && rc >= 0) {
		natsMsg *msg = NULL;
		natsStatus s = natsSubscription_NextMsg(&msg, sub, READ_MS);

		if (s != NATS_OK)
			return fleet_nats_error(err, s, "read the fleet's stream");
		rc = hand_on(msg, fn, arg, &sequence, &pending);
		natsMsg_Destroy(msg);
	}
	return rc < 0 ? err_sys(err, -rc, "cannot read the fleet's stream") : 0;
}

int fleet_client_has(struct fleet_client *client, const char *subject, struct sonde_err *err)
{
	uint64_t last;
	natsStatus s = last_sequence(client, subject, &last);

	return s == NATS_OK ? last > 0 : fleet_nats_error(err, s, "read the fleet's streams");
}

int fleet_client_read(struct fleet_client *client, const char *subject, fleet_read_fn fn, void *arg,
		struct sonde_err *err)
{
	natsSubscription *sub = NULL;
	uint64_t last;
	natsStatus s = last_sequence(client, subject, &last);
	int rc = 0;

	if (s == NATS_OK && last)
		s = subscribe(client, subject, &sub);
	if (s != NATS_OK)
		rc = fleet_nats_error(err, s, "read the fleet's stream");
	else if (last)
		rc = read_to(sub, last, fn, arg, err);
	retire(client, sub);
	return rc;
}

/* "sonde.job.<id>.event": the id is the third token. */
static int fold_message(void *arg, const struct fleet_message *m)
{
	char id[FLEET_NAME_MAX];
	const char *start = m->subject + strlen("sonde.job.");
	size_t len = strcspn(start, ".");

	if (len >= sizeof(id))
		return 0;
	memcpy(id, start, len);
	id[len] = '\0';
	return fleet_jobs_apply(arg, id, m->sequence, m->bytes, m->len);
}

int fleet_client_fold(struct fleet_client *client, const char *id, bool with_reports, struct fleet_jobs *jobs_state,
		struct sonde_err *err)
{
	char subject[SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "sonde.job.%s.%s", id ? id : "*", with_reports ? "*" : "event");
	return fleet_client_read(client, subject, fold_message, jobs_state, err);
}

int fleet_client_last(struct fleet_client *client, const char *id, uint64_t *sequence, struct sonde_err *err)
{
	char subject[SUBJECT_MAX];
	natsStatus s;

	snprintf(subject, sizeof(subject), "sonde.job.%s.event", id);
	s = last_sequence(client, subject, sequence);
	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "read the events of the job");
}

int fleet_client_follow(struct fleet_client *client, int64_t timeout_ms, struct fleet_jobs *jobs_state,
		struct sonde_err *err)
{
	natsMsg *msg = NULL;
	uint64_t sequence, pending;
	natsStatus s = client->follow ? NATS_OK : subscribe(client, "sonde.job.>", &client->follow);
	int rc;

	if (s == NATS_OK)
		s = natsSubscription_NextMsg(&msg, client->follow, timeout_ms);
	if (s == NATS_TIMEOUT)
		return 0;
	if (s != NATS_OK) {
		retire(client, client->follow);
		client->follow = NULL;
		return fleet_nats_error(err, s, "follow the fleet's jobs");
	}
	rc = hand_on(msg, fold_message, jobs_state, &sequence, &pending);
	natsMsg_Destroy(msg);
	return rc < 0 ? err_sys(err, -rc, "cannot follow the fleet's jobs") : pending > 0;
}
