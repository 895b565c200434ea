/* Files that are read a few bytes at a time. */
#include "analyze/small-io.h"

static bool check(struct analyze *a, struct finding *f)
{
	return tiny_check(a, CALL_KIND_READ, "read", f);
}

const struct diagnosis_rule analyze_rule_tiny_reads = { .key = "tiny_reads", .check = check };
