/* CPU: from the table `sample`. */
#include "analyze/absent.h"

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	(void)state, (void)err;
	if (analyze_has_table(a, "sample"))
		analyze_absent(s, "CPU samples were recorded; this version does not profile them yet");
	else
		analyze_absent(s, "CPU samples were not recorded");
	return 0;
}

const struct analyze_pass analyze_pass_cpu = { .key = "cpu", .title = "CPU", .finish = finish };
