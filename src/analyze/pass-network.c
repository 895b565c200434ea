/* Network: traffic between endpoints from captured packets (the table flow), and sockets from calls. */
#include "analyze/flow-tables.h"
#include "analyze/io-table.h"

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
	flows_plan(a, state);
	return 0;
}

static void add_calls(struct analyze *a, struct analyze_section *s, const struct io_sums *all)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *by_path = analyze_groups(a, STORE_TABLE_IO, io->by_path);

	analyze_int(s, "calls", "calls on sockets", ANALYZE_COUNT, (int64_t)all->calls);
	analyze_int(s, "total_ns", "time in them", ANALYZE_SUM_NS, all->dur_ns);
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
		analyze_absent(s, "packets were not recorded, and there were no calls on sockets");
		return 0;
	}
	if (all.calls)
		add_calls(a, s, &all);
	if (has_flows)
		return flows_show(a, state, s, err);
	analyze_text(s, "note", "note",
			"packets were not recorded (record --net), so who sent what to whom "
			"is not known");
	return 0;
}

const struct analyze_pass analyze_pass_network = { .key = "network",
	.title = "Network",
	.state_bytes = sizeof(struct flows),
	.plan = plan,
	.finish = finish };
