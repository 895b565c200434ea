/* Lock bound: threads wait for each other to release a mutex, a row or file lock, or Python's GIL. */
#include "analyze/finding.h"
#include "analyze/offcpu.h"

#include <inttypes.h>
#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	const struct offcpu *o = analyze_state(a, "offcpu");
	int64_t wall_ns = finding_wall_ns(a), lock_ns = offcpu_ns(o, WAIT_LOCK);

	if (!finding_is_worth(a, lock_ns) || lock_ns < wall_ns / 5)
		return false;
	f->recoverable_ns = lock_ns < wall_ns ? lock_ns : wall_ns;
	snprintf(f->what, sizeof(f->what), "threads wait for locks");
	snprintf(f->evidence, sizeof(f->evidence),
			"threads waited %.3f s for locks in %.3f s%s%.150s; %" PRId64 " waits were looked at",
			(double)lock_ns / 1e9, (double)wall_ns / 1e9, o->where[WAIT_LOCK] ? ", most in " : "",
			o->where[WAIT_LOCK] ? o->where[WAIT_LOCK] : "", o->counts[WAIT_LOCK]);
	finding_try(a,
			"sonde query %s \"SELECT f.function, count(*) AS waits, sum(w.dur_ns) AS ns FROM sched w JOIN "
			"frame f ON f.stack = w.stack WHERE EXISTS (SELECT 1 FROM frame g WHERE g.stack = w.stack AND "
			"g.function LIKE '%lock%') GROUP BY 1 ORDER BY ns DESC LIMIT 20\"",
			f);
	return true;
}

const struct diagnosis_rule analyze_rule_lock_bound = { .key = "lock_bound", .check = check };
