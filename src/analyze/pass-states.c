/* States: from the table `sched`. */
#include "analyze/absent.h"

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	(void)state, (void)err;
	if (analyze_has_table(a, "sched"))
		analyze_absent(s, "context switches were recorded; this version does not account for them yet");
	else
		analyze_absent(s, "context switches were not recorded, so what threads waited for is not known");
	return 0;
}

const struct analyze_pass analyze_pass_states = { .key = "states", .title = "States", .finish = finish };
