#include "tune/selftf-columns.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* Names of parameters with that meaning. */
static const struct {
	const char *column;
	const char *names[5];
} meanings[] = {
	{ "ps_num", { "ps_num", "ps", "servers" } },
	{ "worker_num", { "worker_num", "workers", "num_worker" } },
	{ "intra", { "intra", "intra_op_parallelism_threads", "threads", "num_intra_thread" } },
	{ "inter", { "inter", "inter_op_parallelism_threads" } },
	{ "optimizer", { "optimizer" } },
	{ "learning_rate", { "learning_rate", "rate", "lr" } },
	{ "batch_size", { "batch_size", "batch" } },
	{ "ml_model", { "ml_model" } },
};

enum { ITERATION_COLUMNS = 7 }; /* the first of them, in order, end a row of iterations */

static void text_of(const struct train_plan *plan, const double *point, const char *name, char *text, size_t size)
{
	const struct tune_param *p = tune_space_find(&plan->study.space, name);
	double value = p ? point[p - plan->study.space.params] : NAN;

	*text = '\0';
	if (p && !isnan(value) && p->type >= TUNE_ORDINAL && p->type != TUNE_BOOL)
		snprintf(text, size, "%s", p->choices[(size_t)value].text);
	else if (p && !isnan(value))
		tune_param_format(p, value, text, size);
	for (size_t i = 0; !p && i < plan->setting_count; i++)
		if (strcmp(plan->settings[i].name, name) == 0)
			snprintf(text, size, "%s", plan->settings[i].text);
}

void train_column(const struct train_plan *plan, const double *point, const char *column, char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		for (size_t k = 0; strcmp(meanings[i].column, column) == 0 && meanings[i].names[k] && !*text; k++)
			text_of(plan, point, meanings[i].names[k], text, size);
}

void train_columns_head(FILE *out)
{
	fputs("step,local_step,timestamp,elapsed_time_sec,loss,config_idx", out);
	for (size_t i = 0; i < ITERATION_COLUMNS; i++)
		fprintf(out, ",%s", meanings[i].column);
	fputc('\n', out);
}

void train_columns_iteration(FILE *out, const struct online_controller *c, const struct train_report *report,
		uint64_t local_step, double elapsed_s)
{
	size_t now = c->stage_count - 1, index = report->has_config && report->config < now ? report->config : now;
	char text[128];

	fprintf(out, "%lld,%llu,%.6f,%.6f,", (long long)report->step, (unsigned long long)local_step,
			(double)clock_real_ns() / 1e9, elapsed_s);
	if (isfinite(report->loss)) /* absent otherwise */
		fprintf(out, "%.9g", report->loss);
	fprintf(out, ",%zu", index);
	for (size_t i = 0; i < ITERATION_COLUMNS; i++) {
		train_column(c->plan, c->stints[index]->point, meanings[i].column, text, sizeof(text));
		fprintf(out, ",%s", text);
	}
	fputc('\n', out);
}
