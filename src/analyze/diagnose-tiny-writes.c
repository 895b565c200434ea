/* Files that are written a few bytes at a time. */
#include "analyze/small-io.h"

static bool check(struct analyze *a, struct finding *f)
{
	return tiny_check(a, CALL_KIND_WRITE, "written", f);
}

const struct diagnosis_rule analyze_rule_tiny_writes = { .key = "tiny_writes", .check = check };
