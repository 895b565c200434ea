#include <jansson.h>

#include "fleet/fleet-status.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "fleet/local-processes.h"
#include "result/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

size_t fleet_count_living(const struct fleet_dir *home, const char *role)
{
	size_t n = 0;

	for (size_t i = 0; i < home->count; i++)
		n += strcmp(home->processes[i].role, role) == 0 && fleet_process_lives(&home->processes[i]);
	return n;
}

static double age_s(const struct fleet_agents *r, const struct fleet_peer *p)
{
	return (double)(r->now_ns - p->heard_ns) / 1e9;
}

static void add_peers(struct json *j, const struct fleet_agents *r)
{
	json_key(j, "heard");
	json_array(j);
	for (size_t i = 0; i < r->count; i++) {
		const struct fleet_peer *p = &r->peers[i];

		json_object(j);
		json_kstr(j, "agent", p->name);
		json_kstr(j, "state", p->state);
		json_kstr(j, "job", p->job);
		json_kint(j, "cpus", p->cpus);
		if (p->memory_bytes)
			json_kuint(j, "memory_bytes", p->memory_bytes);
		json_kreal(j, "age_s", age_s(r, p));
		json_end(j);
	}
	json_end(j);
}

static int print_json(const struct fleet_dir *home, const struct fleet_agents *r, FILE *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, true);
	json_object(&j);
	json_kbool(&j, "is_up", fleet_count_living(home, "server") > 0);
	json_kuint(&j, "agents", fleet_count_living(home, "agent"));
	json_kuint(&j, "monitors", fleet_count_living(home, "monitor"));
	json_key(&j, "members");
	json_array(&j);
	for (size_t i = 0; i < home->member_count; i++)
		json_str(&j, home->members[i].host);
	json_end(&j);
	add_peers(&j, r);
	json_end(&j);
	fprintf(out, "%s\n", text.data);
	return buf_error(&text);
}

static int print_processes(const struct fleet_dir *home, FILE *out)
{
	static const struct term_column columns[] = { { "role" }, { "process", TERM_RIGHT }, { "state" } };
	struct term_table t;
	int rc;

	term_table_init(&t, columns, 3);
	for (size_t i = 0; i < home->count; i++) {
		term_table_cell(&t, TERM_PLAIN, home->processes[i].role);
		term_table_cellf(&t, "%d", (int)home->processes[i].pid);
		term_table_cell(&t, TERM_PLAIN, fleet_process_lives(&home->processes[i]) ? "lives" : "dead");
	}
	for (size_t i = 0; i < home->member_count; i++) {
		term_table_cell(&t, TERM_PLAIN, "host");
		term_table_cell(&t, TERM_PLAIN, "-");
		term_table_cell(&t, TERM_PLAIN, home->members[i].host);
	}
	rc = term_table_print(&t, out);
	term_table_release(&t);
	return rc;
}

static int print_peers(const struct fleet_agents *r, FILE *out)
{
	static const struct term_column columns[] = { { "agent" }, { "state" }, { "cpus", TERM_RIGHT },
		{ "memory", TERM_RIGHT }, { "heard", TERM_RIGHT }, { "job" } };
	struct term_table t;
	int rc;

	term_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->count; i++) {
		const struct fleet_peer *p = &r->peers[i];

		term_table_cell(&t, TERM_PLAIN, p->name);
		term_table_cell(&t, TERM_PLAIN, p->state);
		term_table_cellf(&t, "%" PRId64, p->cpus);
		term_table_cellf(&t, "%.1f GiB", (double)p->memory_bytes / (1 << 30));
		term_table_cellf(&t, "%.0f s ago", age_s(r, p));
		term_table_cell(&t, TERM_PLAIN, p->job ? p->job : "-");
	}
	rc = term_table_print(&t, out);
	term_table_release(&t);
	return rc;
}

/* Without a server the agent list is empty. */
static int read_agents(const struct fleet_dir *home, struct fleet_agents *agents, struct arena *arena,
		struct sonde_err *err)
{
	struct fleet_client *client = NULL;
	int rc = 0;

	*agents = (struct fleet_agents){ 0 };
	if (fleet_count_living(home, "server") || home->member)
		rc = fleet_client_open(&client, home->url, home->token, err);
	if (client)
		rc = fleet_agents_read(agents, client, arena, err);
	fleet_client_free(client);
	return rc;
}

int fleet_print_status(const struct fleet_dir *home, bool is_json, struct arena *arena, FILE *out,
		struct sonde_err *err)
{
	struct fleet_agents agents;
	int rc = read_agents(home, &agents, arena, err);

	if (rc < 0)
		return rc;
	if (is_json)
		return print_json(home, &agents, out);
	rc = print_processes(home, out);
	if (rc == 0 && agents.count) {
		fprintf(out, "\n");
		rc = print_peers(&agents, out);
	}
	return rc;
}
