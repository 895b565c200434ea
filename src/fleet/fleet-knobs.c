#include "fleet/fleet-knobs.h"

#include "fleet/nats.h"

#include <jansson.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MAX = FLEET_NAME_MAX + FLEET_KNOB_NAME_MAX, AT_ONCE_MAX = 256 };

#define BUCKET "SONDE_KNOBS"

struct fleet_knobs {
	kvStore *store;
	kvWatcher *watcher;
	size_t skip; /* length of the key's prefix: the job's id and a dot */
};

static bool is_name(const char *text, size_t len)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return len && len < FLEET_KNOB_NAME_MAX && strspn(text, good) >= len;
}

/* The text as JSON: itself if it is JSON, else a string. */
static int value_of(const char *text, char value[FLEET_KNOB_VALUE_MAX])
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	char *out;
	int rc = -EINVAL;

	if (!json_is_number(json) && !json_is_boolean(json) && !json_is_string(json)) {
		json_decref(json);
		json = json_string(text); /* NULL: not UTF-8 */
	}
	out = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	if (out && strlen(out) < FLEET_KNOB_VALUE_MAX) {
		memcpy(value, out, strlen(out) + 1);
		rc = 0;
	}
	free(out);
	json_decref(json);
	return rc;
}

int fleet_knob_parse(const char *text, char name[FLEET_KNOB_NAME_MAX], char value[FLEET_KNOB_VALUE_MAX],
		struct sonde_err *err)
{
	size_t len = strcspn(text, "=");

	if (text[len] != '=' || !is_name(text, len))
		return err_set(err, EINVAL,
				"invalid knob '%s' (expected NAME=VALUE; names have letters, digits, _ and -)", text);
	if (value_of(text + len + 1, value) < 0)
		return err_set(err, EINVAL, "invalid value in '%s': not UTF-8, or too long", text);
	memcpy(name, text, len);
	name[len] = '\0';
	return 0;
}

/* Opens the bucket, creating it if needed. */
static natsStatus open_store(struct fleet_client *client, kvStore **store)
{
	kvConfig config;
	natsStatus s = js_KeyValue(store, client->js, BUCKET);

	if (s != NATS_NOT_FOUND)
		return s;
	kvConfig_Init(&config);
	config.Bucket = BUCKET;
	return js_CreateKeyValue(store, client->js, &config);
}

int fleet_knob_set(struct fleet_client *client, const char *id, const char *name, const char *value,
		struct sonde_err *err)
{
	kvStore *store = NULL;
	char key[KEY_MAX];
	natsStatus s = open_store(client, &store);

	snprintf(key, sizeof(key), "%s.%s", id, name);
	if (s == NATS_OK)
		s = kvStore_PutString(NULL, store, key, value);
	kvStore_Destroy(store);
	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "set the knob");
}

int fleet_knobs_watch(struct fleet_knobs **out, struct fleet_client *client, const char *id, struct sonde_err *err)
{
	struct fleet_knobs *k = calloc(1, sizeof(*k));
	char keys[KEY_MAX];
	natsStatus s;

	if (!k)
		return err_sys(err, ENOMEM, "cannot watch the knobs");
	k->skip = strlen(id) + 1;
	snprintf(keys, sizeof(keys), "%s.*", id);
	s = open_store(client, &k->store);
	if (s == NATS_OK)
		s = kvStore_Watch(&k->watcher, k->store, keys, NULL);
	if (s != NATS_OK) {
		fleet_knobs_free(k);
		return fleet_nats_error(err, s, "watch the knobs");
	}
	*out = k;
	return 0;
}

/* Any client with the token can write values: accept a single line only. */
static void add_line(const struct fleet_knobs *k, kvEntry *entry, struct buf *out)
{
	const char *key = kvEntry_Key(entry), *value = kvEntry_ValueString(entry);
	char same[FLEET_KNOB_VALUE_MAX];

	if (kvEntry_Operation(entry) != kvOp_Put || !key || strlen(key) <= k->skip || !value)
		return;
	if (is_name(key + k->skip, strlen(key + k->skip)) && value_of(value, same) == 0)
		buf_addf(out, "knob %s %s\n", key + k->skip, same);
}

void fleet_knobs_take(struct fleet_knobs *k, struct buf *out)
{
	kvEntry *entry = NULL;

	for (size_t i = 0; i < AT_ONCE_MAX && kvWatcher_Next(&entry, k->watcher, 1) == NATS_OK; i++) {
		if (entry) /* NULL: all initial values were delivered */
			add_line(k, entry, out);
		kvEntry_Destroy(entry);
		entry = NULL;
	}
}

void fleet_knobs_free(struct fleet_knobs *k)
{
	if (!k)
		return;
	kvWatcher_Destroy(k->watcher);
	kvStore_Destroy(k->store);
	free(k);
}
