/*
 * Network bound: most of the time threads wait for data from a socket or for space in its send buffer. Stacks of
 * waits report how long; if few waits have a stack, the time in calls does, less its share of runnable time: on a
 * busy machine that is most of a call.
 */
#include "analyze/finding.h"
#include "analyze/offcpu.h"

#include <stdio.h>

/* Time in send, receive and connect calls; accept is not counted, since an idle server is not network bound. */
static int64_t in_calls(const struct analyze *a)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, io->by_call);
	int64_t ns = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct model_call *call = model_call(a->run, engine_key(g, i, 0));

		if (call && call->wait == CALL_WAIT_NETWORK)
			ns += engine_sum(g, IO_Q_DUR, i);
	}
	return ns;
}

/* The time in calls without waits for a CPU. */
static int64_t waited_in_calls(const struct analyze *a, const struct offcpu *o, int64_t calls_ns)
{
	int64_t runnable_ns = finding_int(a, "states", "runnable_ns");

	if (runnable_ns == STORE_NULL || runnable_ns <= 0)
		return calls_ns;
	return (int64_t)((double)calls_ns * (double)o->total_ns / ((double)o->total_ns + (double)runnable_ns));
}

static bool check(struct analyze *a, struct finding *f)
{
	const struct offcpu *o = analyze_state(a, "offcpu");
	int64_t wall_ns = finding_wall_ns(a), calls_ns = in_calls(a), waits_ns = offcpu_ns(o, WAIT_NETWORK);
	int64_t in_calls_ns = waited_in_calls(a, o, calls_ns);
	int64_t ns = o->known_ns > o->total_ns / 2 || waits_ns > in_calls_ns ? waits_ns : in_calls_ns;

	if (!finding_is_worth(a, ns) || ns < wall_ns / 2)
		return false;
	f->recoverable_ns = ns < wall_ns ? ns : wall_ns;
	snprintf(f->what, sizeof(f->what), "the run is bound by the network");
	snprintf(f->evidence, sizeof(f->evidence),
			"threads spent %.3f s in calls that send, receive and connect and waited %.3f s for "
			"sockets, in %.3f s",
			(double)calls_ns / 1e9, (double)waits_ns / 1e9, (double)wall_ns / 1e9);
	finding_range_of(a, CALL_KIND_RECV, f);
	finding_try(a,
			"sonde query %s \"SELECT path, call, count(*), sum(dur_ns) ns FROM calls WHERE category "
			"= 'net' "
			"GROUP BY path, call ORDER BY ns DESC LIMIT 20\"",
			f);
	return true;
}

const struct diagnosis_rule analyze_rule_network_bound = { .key = "network_bound", .check = check };
