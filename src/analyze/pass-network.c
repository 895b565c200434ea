/* Network: traffic between endpoints from captured packets (the table flow), and sockets from calls. */
#include "analyze/io-table.h"

#include <errno.h>
#include <stdlib.h>

/* Traffic matrices of hosts and of processes. */

struct flows {
	int by_host, by_process;
};

enum {
	Q_FLOWS,
	Q_BYTES_OUT,
	Q_BYTES_IN,
	Q_PACKETS_OUT,
	Q_PACKETS_IN,
	Q_PAYLOAD_OUT,
	Q_PAYLOAD_IN,
	Q_AGAIN_OUT,
	Q_AGAIN_IN,
	Q_RTT
};

static void plan_flows(struct analyze *a, struct flows *f)
{
	struct engine_query q = { "traffic between hosts", 2, { STORE_FLOW_source, STORE_FLOW_destination },
		ENGINE_NONE, 10,
		{ [Q_FLOWS] = { ENGINE_SUM, STORE_FLOW_is_new },
				[Q_BYTES_OUT] = { ENGINE_SUM, STORE_FLOW_bytes_out },
				[Q_BYTES_IN] = { ENGINE_SUM, STORE_FLOW_bytes_in },
				[Q_PACKETS_OUT] = { ENGINE_SUM, STORE_FLOW_packets_out },
				[Q_PACKETS_IN] = { ENGINE_SUM, STORE_FLOW_packets_in },
				[Q_PAYLOAD_OUT] = { ENGINE_SUM, STORE_FLOW_payload_out },
				[Q_PAYLOAD_IN] = { ENGINE_SUM, STORE_FLOW_payload_in },
				[Q_AGAIN_OUT] = { ENGINE_SUM, STORE_FLOW_retransmits_out },
				[Q_AGAIN_IN] = { ENGINE_SUM, STORE_FLOW_retransmits_in },
				[Q_RTT] = { ENGINE_MIN, STORE_FLOW_rtt_min_ns } } };

	f->by_host = analyze_query(a, STORE_TABLE_FLOW, &q);
	q.name = "traffic between processes";
	q.keys[0] = STORE_FLOW_name;
	q.keys[1] = STORE_FLOW_peer_name;
	f->by_process = analyze_query(a, STORE_TABLE_FLOW, &q);
}

/* Traffic in one direction between two endpoints. */
struct traffic {
	int64_t from, to;
	int64_t bytes, packets, payload, again, flows, rtt_ns;
};

static int by_ends(const void *a, const void *b)
{
	const struct traffic *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Splits each group into its two directions and merges equal ones. */
static struct traffic *split_directions(const struct engine_groups *g, size_t *count)
{
	struct traffic *all = calloc(2 * g->count + 1, sizeof(*all));
	size_t n = 0, kept = 0;

	for (size_t i = 0; all && i < g->count; i++) {
		int64_t from = engine_key(g, i, 0), to = engine_key(g, i, 1), rtt_ns = engine_extreme(g, Q_RTT, i);

		all[n++] = (struct traffic){ from, to, engine_sum(g, Q_BYTES_OUT, i), engine_sum(g, Q_PACKETS_OUT, i),
			engine_sum(g, Q_PAYLOAD_OUT, i), engine_sum(g, Q_AGAIN_OUT, i), engine_sum(g, Q_FLOWS, i),
			rtt_ns };
		all[n++] = (struct traffic){ to, from, engine_sum(g, Q_BYTES_IN, i), engine_sum(g, Q_PACKETS_IN, i),
			engine_sum(g, Q_PAYLOAD_IN, i), engine_sum(g, Q_AGAIN_IN, i), 0, rtt_ns };
	}
	if (n)
		qsort(all, n, sizeof(*all), by_ends);
	for (size_t i = 0; i < n; i++) {
		struct traffic *into = kept ? &all[kept - 1] : NULL;

		if (!into || by_ends(into, &all[i]) != 0) {
			all[kept++] = all[i];
			continue;
		}
		into->bytes += all[i].bytes;
		into->packets += all[i].packets;
		into->payload += all[i].payload;
		into->again += all[i].again;
		into->flows += all[i].flows;
		if (into->rtt_ns == STORE_NULL || (all[i].rtt_ns != STORE_NULL && all[i].rtt_ns < into->rtt_ns))
			into->rtt_ns = all[i].rtt_ns;
	}
	*count = kept;
	return all;
}

static const struct analyze_column traffic_columns[] = {
	{ "source", "FROM", ANALYZE_TEXT },
	{ "destination", "TO", ANALYZE_TEXT },
	{ "bytes", "BYTES", ANALYZE_BYTES },
	{ "share", "SHARE", ANALYZE_RATIO },
	{ "packets", "PACKETS", ANALYZE_COUNT },
	{ "payload_bytes", NULL, ANALYZE_BYTES },
	{ "retransmits", "RETRANSMITS", ANALYZE_COUNT },
	{ "flows", "FLOWS", ANALYZE_COUNT },
	{ "rtt_min_ns", "RTT", ANALYZE_NS },
};

struct traffic_sums {
	int64_t bytes, packets, again, flows;
};

/* Adds the matrix as a ranking, heaviest first. */
static int add_matrix(struct analyze *a, struct analyze_section *s, const char *key, const char *title,
		const struct engine_groups *g, unsigned flags, struct traffic_sums *sums)
{
	struct analyze_table *t = analyze_table(s, key, title, traffic_columns,
			sizeof(traffic_columns) / sizeof(*traffic_columns), flags);
	size_t count = 0;
	struct traffic *all = split_directions(g, &count);
	struct analyze_rank *ranks = analyze_ranks(a, count);

	*sums = (struct traffic_sums){ .bytes = 0 };
	if (!all || !ranks) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		ranks[i] = (struct analyze_rank){ all[i].bytes, i };
		sums->bytes += all[i].bytes;
		sums->packets += all[i].packets;
		sums->again += all[i].again;
		sums->flows += all[i].flows;
	}
	analyze_rank(ranks, count);
	for (size_t i = 0; i < analyze_top(a, count); i++) {
		const struct traffic *r = &all[ranks[i].index];

		analyze_cell_bytes(t, model_name(a->run, r->from));
		analyze_cell_bytes(t, model_name(a->run, r->to));
		analyze_cell_int(t, r->bytes);
		analyze_cell_real(t, sums->bytes ? (double)r->bytes / (double)sums->bytes : 0);
		analyze_cell_int(t, r->packets);
		analyze_cell_int(t, r->payload);
		analyze_cell_int(t, r->again);
		analyze_cell_int(t, r->flows);
		analyze_cell_int(t, r->rtt_ns);
	}
	if (t)
		t->all_rows = count;
	free(all);
	return 0;
}

/* Sockets. */

static const struct analyze_column columns[] = {
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "bytes", "BYTES", ANALYZE_BYTES },
	{ "socket", "SOCKET", ANALYZE_TEXT },
};

static int64_t bytes_of(const struct engine_groups *by_path, enum call_kind kind)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < by_path->count; i++)
		bytes += engine_key(by_path, i, 1) == kind ? engine_sum(by_path, IO_Q_BYTES, i) : 0;
	return bytes;
}

/* Sums the groups of one socket from group i on; returns the next group. */
static size_t sum_socket(const struct engine_groups *g, size_t i, struct io_sums *sums)
{
	int64_t path = engine_key(g, i, 0);

	*sums = (struct io_sums){ .calls = 0 };
	for (; i < g->count && engine_key(g, i, 0) == path; i++)
		if (call_kind_is_network((unsigned)engine_key(g, i, 1)))
			io_sums_add(sums, g, i, engine_key(g, i, 1));
	return i;
}

static void add_sockets(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	struct analyze_table *t = analyze_table(s, "by_socket", "Sockets by time", columns, 4, ANALYZE_DETAIL);
	struct analyze_rank *ranks = analyze_ranks(a, g->count);
	struct io_sums sums;
	size_t n = 0;

	for (size_t i = 0, next; ranks && i < g->count; i = next) {
		next = sum_socket(g, i, &sums);
		if (sums.calls && engine_key(g, i, 0) != 0)
			ranks[n++] = (struct analyze_rank){ .weight = sums.dur_ns, .index = i };
	}
	analyze_rank(ranks, n);
	for (size_t r = 0; ranks && r < analyze_top(a, n); r++) {
		size_t i = ranks[r].index;
		struct store_text path = model_path(a->run, (uint32_t)engine_key(g, i, 0));

		sum_socket(g, i, &sums);
		analyze_cell_int(t, (int64_t)sums.calls);
		analyze_cell_int(t, sums.dur_ns);
		analyze_cell_int(t, sums.bytes);
		analyze_cell_bytes(t, &path);
	}
	if (t)
		t->all_rows = n;
}

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	(void)err;
	plan_flows(a, state);
	return 0;
}

static void add_calls(struct analyze *a, struct analyze_section *s, const struct io_sums *all)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *by_path = analyze_groups(a, STORE_TABLE_IO, io->by_path);

	analyze_int(s, "calls", "socket calls", ANALYZE_COUNT, (int64_t)all->calls);
	analyze_int(s, "total_ns", "time in calls", ANALYZE_SUM_NS, all->dur_ns);
	analyze_int(s, "sent_bytes", "sent", ANALYZE_BYTES, bytes_of(by_path, CALL_KIND_SEND));
	analyze_int(s, "received_bytes", "received", ANALYZE_BYTES, bytes_of(by_path, CALL_KIND_RECV));
	add_sockets(a, s, by_path);
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *by_path = analyze_groups(a, STORE_TABLE_IO, io->by_path);
	struct io_sums all = { .calls = 0 };
	bool has_flows = model_table(a->run, STORE_TABLE_FLOW) != NULL;

	for (size_t i = 0; i < by_path->count; i++)
		if (call_kind_is_network((unsigned)engine_key(by_path, i, 1)))
			io_sums_add(&all, by_path, i, engine_key(by_path, i, 1));
	if (!all.calls && !has_flows) {
		analyze_absent(s, "no packets and no calls on sockets were recorded");
		return 0;
	}
	if (all.calls)
		add_calls(a, s, &all);
	if (has_flows) {
		const struct flows *f = state;
		struct traffic_sums sums, ignored;
		int rc = add_matrix(a, s, "matrix", "Traffic from host to host",
				analyze_groups(a, STORE_TABLE_FLOW, f->by_host), 0, &sums);

		if (rc == 0)
			rc = add_matrix(a, s, "by_process", "Traffic from process to process",
					analyze_groups(a, STORE_TABLE_FLOW, f->by_process), ANALYZE_DETAIL, &ignored);
		if (rc < 0)
			return err_sys(err, ENOMEM, "cannot sum the traffic");
		analyze_int(s, "flows", "flows", ANALYZE_COUNT, sums.flows);
		analyze_int(s, "packets", "packets", ANALYZE_COUNT, sums.packets);
		analyze_int(s, "traffic_bytes", "bytes in packets", ANALYZE_BYTES, sums.bytes);
		analyze_int(s, "retransmits", "retransmissions", ANALYZE_COUNT, sums.again);
		return 0;
	}
	analyze_text(s, "note", "note", "packets were not recorded (record --net); traffic by host is unknown");
	return 0;
}

const struct analyze_pass analyze_pass_network = { .key = "network",
	.title = "Network",
	.state_bytes = sizeof(struct flows),
	.plan = plan,
	.finish = finish };
