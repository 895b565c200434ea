/* Files that are opened repeatedly: keep them open. */
#include "analyze/repeated-calls.h"

static bool check(struct analyze *a, struct finding *f)
{
	return repeated_check(a, CALL_KIND_OPEN, 50, "opened", f);
}

const struct diagnosis_rule analyze_rule_repeated_opens = { .key = "repeated_opens", .check = check };
