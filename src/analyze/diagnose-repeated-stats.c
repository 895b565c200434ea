/* Paths that are looked up repeatedly: cache the result. */
#include "analyze/repeated-calls.h"

static bool check(struct analyze *a, struct finding *f)
{
	return repeated_check(a, CALL_KIND_STAT, 100, "looked up", f);
}

const struct diagnosis_rule analyze_rule_repeated_stats = { .key = "repeated_stats", .check = check };
