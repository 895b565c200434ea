#include "cli/tune-text.h"

#include "base/cleanup.h"
#include "result/term.h"

#include <math.h>
#include <stdio.h>

/* Six digits are enough for people; programs get all digits. */
static void format(const struct tune_param *p, double value, char *text, size_t size)
{
	if (p->type == TUNE_FLOAT && isfinite(value))
		snprintf(text, size, "%.6g", value);
	else
		tune_param_format(p, value, text, size);
}

static void add_value(struct term_table *t, const struct tune_param *p, double value, enum term_style style)
{
	char text[TUNE_WHY];

	format(p, value, text, sizeof(text));
	term_table_cell(t, style, text);
}

/* Parameter, default, best, importance. */
static void print_configurations(const struct tune_report *r)
{
	struct term_column columns[] = { { "parameter", TERM_LEFT, false }, { "default", TERM_RIGHT, false },
		{ "best", TERM_RIGHT, false }, { "matters", TERM_RIGHT, false } };
	double start[TUNE_PARAMS_MAX];
	struct term_table t;
	char best_of[TUNE_WHY];

	if (r->study->objective_count > 1) { /* no single best: a Pareto front */
		snprintf(best_of, sizeof(best_of), "best %s", r->study->objectives[0].metric.name);
		columns[2].title = best_of;
	}
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

static void add_point(struct term_table *t, const struct tune_space *space, const double *point)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char value[TUNE_WHY];

	for (size_t i = 0; i < space->count; i++) {
		if (isnan(point[i])) /* inactive in this configuration */
			continue;
		format(&space->params[i], point[i], value, sizeof(value));
		buf_addf(&text, "%s%s=%s", text.len ? " " : "", space->params[i].name, value);
	}
	term_table_cell(t, TERM_PLAIN, text.len ? text.data : "");
}

/* Prints the Pareto front: trial, objectives, configuration. */
static void print_front(const struct tune_report *r)
{
	struct term_column columns[TUNE_OBJECTIVES_MAX + 2] = { { "front: trial", TERM_RIGHT, false } };
	size_t count = r->study->objective_count;
	struct term_table t;

	for (size_t k = 0; k < count; k++)
		columns[k + 1] = (struct term_column){ r->study->objectives[k].metric.name, TERM_RIGHT, false };
	columns[count + 1] = (struct term_column){ "configuration", TERM_LEFT, true };
	term_table_init(&t, columns, count + 2);
	for (size_t i = 0; i < r->o->count; i++) {
		const struct tune_trial *trial = &r->o->trials[i];

		if (!report_is_on_front(r, trial))
			continue;
		term_table_cellf(&t, "%llu", (unsigned long long)trial->id);
		for (size_t k = 0; k < count; k++)
			term_table_cellf(&t, "%.6g", trial->result.values[k]);
		add_point(&t, r->o->space, trial->point);
	}
	term_table_print(&t, stdout);
	term_table_release(&t);
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
