#include "fleet/agent-list.h"

#include "base/clock.h"

#include <jansson.h>

#include <errno.h>
#include <string.h>

#define SILENT_NS INT64_C(10000000000)

static const char *text_of(struct arena *arena, const json_t *beat, const char *key)
{
	const char *text = json_string_value(json_object_get(beat, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static int take(void *arg, const struct fleet_message *m)
{
	struct fleet_agents *r = arg;
	json_t *beat = json_loadb(m->bytes, m->len, 0, NULL);
	json_int_t memory = json_integer_value(json_object_get(beat, "memory_bytes"));
	struct fleet_peer peer = { .name = text_of(r->arena, beat, "agent"),
		.state = text_of(r->arena, beat, "state"),
		.job = text_of(r->arena, beat, "job"),
		.cpus = json_integer_value(json_object_get(beat, "cpus")),
		.memory_bytes = memory > 0 ? (uint64_t)memory : 0,
		.heard_ns = m->time_ns };

	json_decref(beat);
	if (!peer.name || !peer.state || r->count == FLEET_AGENTS_MAX)
		return 0;
	if (strcmp(peer.state, "gone") != 0 && r->now_ns - peer.heard_ns > SILENT_NS)
		peer.state = "silent";
	r->peers[r->count++] = peer;
	return 0;
}

int fleet_agents_read(struct fleet_agents *roster, struct fleet_client *client, struct arena *arena,
		struct sonde_err *err)
{
	*roster = (struct fleet_agents){ .arena = arena,
		.now_ns = clock_real_ns(),
		.peers = arena_alloc(arena, FLEET_AGENTS_MAX * sizeof(*roster->peers)) };
	if (!roster->peers)
		return err_sys(err, ENOMEM, "cannot list the agents");
	return fleet_client_read(client, "sonde.agent.*", take, roster, err);
}
