/*
 * The outcome of a study for people.
 */
#include "cli/tune-text.h"

#include "base/cleanup.h"
#include "cli/term.h"

#include <math.h>
#include <stdio.h>

static void add_value(struct term_table *t, const struct tune_param *p, double value, enum term_style style)
{
	char text[TUNE_WHY];

	tune_param_format(p, value, text, sizeof(text));
	term_table_cell(t, style, text);
}

/* Parameter, default, best, importance. */
static void print_configurations(const struct tune_report *r)
{
	static const struct term_column columns[] = { { "parameter", TERM_LEFT, false },
		{ "default", TERM_RIGHT, false }, { "best", TERM_RIGHT, false }, { "matters", TERM_RIGHT, false } };
	double start[TUNE_PARAMS_MAX];
	struct term_table t;

	tune_point_default(r->o->space, start);
	term_table_init(&t, columns, 4);
	for (size_t i = 0; i < r->o->space->count; i++) {
		const struct tune_param *p = &r->o->space->params[i];
		double best = r->outcome->best.trial->point[i];

		term_table_cell(&t, TERM_PLAIN, p->name);
		add_value(&t, p, start[i], TERM_PLAIN);
		add_value(&t, p, best, best != start[i] ? TERM_BOLD : TERM_PLAIN);
		if (r->insight->is_there)
			term_table_cellf(&t, "%.0f %%", 100 * r->insight->importance[i]);
		else
			term_table_cell(&t, TERM_DIM, "-");
	}
	term_table_print(&t, stdout);
	term_table_release(&t);
}

static void print_front(const struct tune_report *r)
{
	for (size_t i = 0; i < r->o->count; i++) {
		const struct tune_trial *t = &r->o->trials[i];

		if (!report_is_on_front(r, t))
			continue;
		printf("front: trial %llu:", (unsigned long long)t->id);
		for (size_t k = 0; k < r->study->objective_count; k++)
			printf(" %s %.6g", r->study->objectives[k].metric.name, t->result.values[k]);
		printf("\n");
	}
}

void tune_print(const struct tune_report *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct tune_best *best = &r->outcome->best;

	printf("%s: %zu trials done, %zu cut, %zu failed%s\n", r->study->name, r->outcome->done, r->outcome->cut,
			r->outcome->failed, r->outcome->is_interrupted ? ", interrupted" : "");
	if (best->trial) {
		print_configurations(r);
		if (r->study->objective_count > 1)
			print_front(r);
		else if (best->is_modelled)
			printf("expected %s%s of the best (trial %llu): %.6g, 95 %% between %.6g and %.6g\n",
					r->study->objectives[0].metric.name, r->is_paired ? " (by the default's)" : "",
					(unsigned long long)best->trial->id, best->value, best->lo, best->hi);
	}
	tune_report_verdict(&text, r);
	buf_addc(&text, '\n');
	tune_report_losses(&text, r, "", "\n");
	if (r->outcome->knob)
		buf_addf(&text, "no run has asked for the knob '%s': its parameter does nothing\n", r->outcome->knob);
	fputs(text.data, stdout);
}
