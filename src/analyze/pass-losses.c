/* Missing data: the sentences of the model. */
#include "analyze/pass.h"

static const struct analyze_column columns[] = { { "text", "MISSING", ANALYZE_TEXT } };

static void say(void *arg, const char *sentence)
{
	analyze_cell_text(arg, sentence);
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct analyze_table *t = analyze_table(s, "losses", "Missing", columns, 1, 0);

	(void)state;
	return t ? model_losses(a->run, say, t, err) : 0;
}

const struct analyze_pass analyze_pass_losses = { .key = "losses",
	.title = "Missing",
	.is_list = true,
	.finish = finish };
