/* Diagnosis rules about time: what the run is bound by. */
#include "analyze/finding.h"
#include "analyze/pass-results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double seconds(int64_t ns)
{
	return ns > 0 ? (double)ns / 1e9 : 0;
}

static int64_t min_ns(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Most of the time I/O is in progress and nothing computes. At best this time is hidden behind the rest of the work. */
bool diagnose_io_bound(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), io_ns = finding_int(a, "layers", "io_ns");
	int64_t alone_ns = finding_int(a, "layers", "unoverlapped_io_ns");

	if (alone_ns == STORE_NULL) /* no compute is known */
		alone_ns = io_ns;
	if (io_ns == STORE_NULL || !finding_is_worth(a, alone_ns) || alone_ns < wall_ns / 2)
		return false;
	finding_try(a, "sonde summary --top 20 %s", f);
	return finding_fill(f, min_ns(wall_ns - alone_ns, alone_ns), "the run is bound by input and output",
			"for %.3f s of %.3f s calls were in progress, for %.3f s without compute", seconds(io_ns),
			seconds(wall_ns), seconds(alone_ns));
}

/* The application loads data while nothing computes. Prefetching in other threads would hide it. */
bool diagnose_input_waits(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), compute_ns = finding_int(a, "layers", "compute_ns");
	int64_t alone_ns = finding_int(a, "layers", "unoverlapped_app_io_ns");

	if (compute_ns == STORE_NULL || alone_ns == STORE_NULL || !finding_is_worth(a, alone_ns) ||
			alone_ns < wall_ns / 5)
		return false;
	finding_try(a,
			"sonde query %s \"SELECT category, name, count(*) AS spans, sum(dur_ns) AS ns FROM span "
			"GROUP BY category, name ORDER BY ns DESC LIMIT 20\"",
			f);
	return finding_fill(f, min_ns(alone_ns, compute_ns),
			"compute waits for input; prefetching in other threads would hide it",
			"for %.3f s of %.3f s the application did I/O without computing; it computed for %.3f s",
			seconds(alone_ns), seconds(wall_ns), seconds(compute_ns));
}

/*
 * CPU time is nearly the wall time. Time that threads were runnable counts as well, since they would have used a CPU.
 */
bool diagnose_cpu_bound(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), cpu_ns = finding_int(a, "cpu", "cpu_ns");
	int64_t sampled_ns = finding_int(a, "cpu", "sampled_ns"), runnable_ns = finding_int(a, "states", "runnable_ns");
	const struct analyze_section *cpu = analyze_find(&a->result, "cpu");
	const struct analyze_table *t = cpu && cpu->tables && cpu->tables->rows ? cpu->tables : NULL;
	int64_t saved_ns = wall_ns;

	if (cpu_ns == STORE_NULL || wall_ns <= 0 || cpu_ns < wall_ns / 5 ||
			cpu_ns + (runnable_ns > 0 ? runnable_ns : 0) < wall_ns - wall_ns / 5)
		return false;
	if (t && sampled_ns > 0) /* at most the costliest function takes no time */
		saved_ns = (int64_t)((double)wall_ns * (double)t->values[1].integer / (double)sampled_ns);
	finding_try(a, "sonde summary --top 30 %s", f);
	return finding_fill(f, saved_ns, "the run is bound by the CPU", "%.3f s of CPU time in %.3f s%s%.200s",
			seconds(cpu_ns), seconds(wall_ns), t ? ", most of it in " : "",
			t ? t->values[0].text.data : "");
}

/* Threads are runnable and wait for a CPU. */
bool diagnose_run_queue(struct analyze *a, struct finding *f)
{
	int64_t life_ns = finding_int(a, "states", "life_ns"), runnable_ns = finding_int(a, "states", "runnable_ns");
	int64_t running_ns = finding_int(a, "states", "running_ns"), cpus = model_run_int(a->run, "host.cpus");

	if (runnable_ns == STORE_NULL || !finding_is_worth(a, runnable_ns) || runnable_ns < life_ns / 5 ||
			runnable_ns < running_ns / 4)
		return false;
	finding_try(a,
			"sonde query %s \"SELECT tid, state, ns FROM states WHERE state IN ('running', 'runnable') "
			"ORDER BY ns DESC LIMIT 20\"",
			f);
	return finding_fill(f, min_ns(runnable_ns, finding_wall_ns(a)), "threads wait for a CPU",
			"threads ran for %.3f s and were runnable for %.3f s, on %d CPUs", seconds(running_ns),
			seconds(runnable_ns), cpus > 0 ? (int)cpus : 0);
}

/* Threads wait for each other to release a mutex, a row or file lock, or Python's GIL. */
bool diagnose_lock_bound(struct analyze *a, struct finding *f)
{
	const struct offcpu *o = analyze_state(a, "offcpu");
	int64_t wall_ns = finding_wall_ns(a), lock_ns = offcpu_ns(o, WAIT_LOCK);
	const char *where = o->where[WAIT_LOCK];

	if (!finding_is_worth(a, lock_ns) || lock_ns < wall_ns / 5)
		return false;
	finding_try(a,
			"sonde query %s \"SELECT f.function, count(*) AS waits, sum(w.dur_ns) AS ns FROM sched w JOIN "
			"frame f ON f.stack = w.stack WHERE EXISTS (SELECT 1 FROM frame g WHERE g.stack = w.stack AND "
			"g.function LIKE '%lock%') GROUP BY 1 ORDER BY ns DESC LIMIT 20\"",
			f);
	return finding_fill(f, min_ns(lock_ns, wall_ns), "threads wait for locks",
			"threads waited %.3f s for locks in %.3f s%s%.150s; %" PRId64 " waits were sampled",
			seconds(lock_ns), seconds(wall_ns), where ? ", most in " : "", where ? where : "",
			o->counts[WAIT_LOCK]);
}

/*
 * Most of the time threads wait for data from a socket or for space in its send buffer. Stacks of waits report how
 * long; if few waits have a stack, the time in calls does, less its share of runnable time: on a busy machine that is
 * most of a call. Accept is not counted, since an idle server is not network bound.
 */
bool diagnose_network_bound(struct analyze *a, struct finding *f)
{
	const struct offcpu *o = analyze_state(a, "offcpu");
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, io->by_call);
	int64_t wall_ns = finding_wall_ns(a), runnable_ns = finding_int(a, "states", "runnable_ns");
	int64_t calls_ns = 0, in_calls_ns, waits_ns = offcpu_ns(o, WAIT_NETWORK), ns;

	for (size_t i = 0; i < g->count; i++) {
		const struct model_call *call = model_call(a->run, engine_key(g, i, 0));

		calls_ns += call && call->wait == CALL_WAIT_NETWORK ? engine_sum(g, IO_Q_DUR, i) : 0;
	}
	in_calls_ns = calls_ns;
	if (runnable_ns > 0)
		in_calls_ns = (int64_t)((double)calls_ns * (double)o->total_ns /
				((double)o->total_ns + (double)runnable_ns));
	ns = o->known_ns > o->total_ns / 2 || waits_ns > in_calls_ns ? waits_ns : in_calls_ns;
	if (!finding_is_worth(a, ns) || ns < wall_ns / 2)
		return false;
	finding_range_of(a, CALL_KIND_RECV, f);
	finding_try(a,
			"sonde query %s \"SELECT path, call, count(*), sum(dur_ns) ns FROM calls WHERE category "
			"= 'net' "
			"GROUP BY path, call ORDER BY ns DESC LIMIT 20\"",
			f);
	return finding_fill(f, min_ns(ns, wall_ns), "the run is bound by the network",
			"threads spent %.3f s in calls that send, receive and connect and waited %.3f s for "
			"sockets, in %.3f s",
			seconds(calls_ns), seconds(waits_ns), seconds(wall_ns));
}

/* CPU time is spent on mapping memory, not on using it. */
bool diagnose_page_faults(struct analyze *a, struct finding *f)
{
	int64_t fault_ns = finding_int(a, "cpu", "fault_ns"), sampled_ns = finding_int(a, "cpu", "sampled_ns");
	double faults = counters_most(a, "process.minor_faults");
	char most[64] = "";

	if (fault_ns == STORE_NULL || !finding_is_worth(a, fault_ns) || fault_ns < sampled_ns / 5)
		return false;
	if (!isnan(faults))
		snprintf(most, sizeof(most), "; up to %.0f faults in one process", faults);
	finding_try(a,
			"sonde query %s \"SELECT f.function, count(*) n FROM sample s JOIN frame f ON f.stack = "
			"s.stack "
			"WHERE f.is_kernel = 0 AND s.is_kernel GROUP BY 1 ORDER BY n DESC LIMIT 20\"",
			f);
	return finding_fill(f, min_ns(fault_ns, finding_wall_ns(a)), "memory is mapped repeatedly",
			"%.3f s of %.3f s of CPU time went to page faults%s", seconds(fault_ns), seconds(sampled_ns),
			most);
}

/* Threads are runnable while the CPUs run processes outside this run, or a hypervisor has stolen them. */
bool diagnose_noisy_neighbour(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), own_ns = finding_int(a, "cpu", "cpu_ns");
	int64_t runnable_ns = finding_int(a, "states", "runnable_ns"), cpus = model_run_int(a->run, "host.cpus");
	double busy_ns = counters_most(a, "cpu.all.user_ns") + counters_most(a, "cpu.all.nice_ns") +
			counters_most(a, "cpu.all.system_ns");
	double steal_ns = counters_most(a, "cpu.all.steal_ns"), others_ns = busy_ns - (double)own_ns;
	double stall_ns = counters_most(a, "pressure.cpu.some.stall_ns");
	bool is_stolen, is_crowded;

	if (wall_ns <= 0 || cpus < 1 || a->opts.has_range) /* counters are totals of the whole run */
		return false;
	is_stolen = steal_ns > 0.05 * (double)wall_ns * (double)cpus;
	is_crowded = own_ns != STORE_NULL && runnable_ns != STORE_NULL && runnable_ns > wall_ns / 5 &&
			others_ns > 0.3 * (double)wall_ns && others_ns > (double)own_ns;
	if (!is_stolen && !is_crowded)
		return false;
	snprintf(f->next, sizeof(f->next), "ps -eo pid,pcpu,comm --sort=-pcpu");
	return finding_fill(f, min_ns(is_crowded ? runnable_ns : (int64_t)(steal_ns / (double)cpus), wall_ns),
			"other processes use the CPUs that this run needs",
			"other processes used %.3f s of CPU time, this run %.3f s while its threads waited %.3f s for "
			"a CPU; stolen %.3f s; CPU pressure for %.3f s",
			others_ns > 0 ? others_ns / 1e9 : 0, seconds(own_ns), seconds(runnable_ns),
			steal_ns > 0 ? steal_ns / 1e9 : 0, stall_ns > 0 ? stall_ns / 1e9 : 0);
}
