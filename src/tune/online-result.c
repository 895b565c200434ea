/*
 * The end of a job: writes the tables that need all of its data.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "tune/online-journal.h"
#include "tune/progress-cost.h"
#include "tune/selftf-columns.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

static void add_cell(struct buf *out, double value)
{
	buf_addc(out, ',');
	if (isfinite(value))
		buf_addf(out, "%.9g", value);
}

static double final_loss(const struct online_controller *c)
{
	size_t n = c->loss_count < 5 ? c->loss_count : 5;

	return n ? stats_moments_of(c->losses + c->loss_count - n, n).mean : NAN;
}

static double moves_s(const struct online_controller *c, size_t *count)
{
	double sum = 0;

	*count = 0;
	for (size_t i = 1; i < c->stage_count; i++)
		if (isfinite(c->stints[i]->cost_s)) {
			sum += c->stints[i]->cost_s;
			++*count;
		}
	return sum;
}

static void add_summary(struct buf *out, const struct train_record *r, const struct online_controller *c,
		double runtime_s)
{
	static const char *const given[] = { "ml_model", "batch_size", "learning_rate" };
	const struct train_plan *plan = c->plan;
	size_t moves;
	double total = moves_s(c, &moves);
	char text[128];

	buf_adds(out,
			"job_id,runtime_sec,avg_recovery_time_sec,target_loss,ml_model,batch_size,learning_rate,"
			"final_loss,os_size,n_iter_per_os,online_os_size,online_n_iter_per_os,check_reconfig,"
			"do_reconfig,"
			"total_iteration,init_duration,estimation_func,run_mode,total_reconfiguration_time\n");
	buf_adds(out, r->id);
	add_cell(out, runtime_s);
	add_cell(out, moves ? total / (double)moves : NAN);
	add_cell(out, plan->target_loss);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		train_column(plan, online_controller_now(c)->point, given[i], text, sizeof(text));
		buf_addf(out, ",%s", text);
	}
	add_cell(out, final_loss(c));
	buf_addf(out, ",%lld,%lld,,%lld,%zu,%zu,%zu", (long long)plan->explore, (long long)plan->iterations,
			(long long)plan->online_iterations, c->looks, c->moves, c->loss_count);
	add_cell(out, c->explored_s);
	buf_addf(out, ",%s,%s", plan->curve ? plan->curve->name : "ensemble",
			plan->mode == TRAIN_FIXED ? "dry_run" : "selftf");
	add_cell(out, total);
	buf_addc(out, '\n');
}

static void add_configs(struct buf *out, const struct online_controller *c)
{
	const struct tune_space *space = c->optimizer.space;
	char text[128];

	buf_adds(out,
			"config_idx,reason,start_s,iterations,iteration_s,iteration_lo_s,iteration_hi_s,value,"
			"reconfiguration_s");
	for (size_t i = 0; i < space->count; i++)
		buf_addf(out, ",%s", space->params[i].name);
	buf_addc(out, '\n');
	for (size_t k = 0; k < c->stage_count; k++) {
		const struct online_stage *s = c->stints[k];
		struct stats_interval rate = online_stage_rate(s);

		buf_addf(out, "%u,%s", s->index, train_reason_word(s->reason));
		add_cell(out, s->asked_s);
		buf_addf(out, ",%zu", s->count);
		add_cell(out, rate.estimate);
		add_cell(out, rate.lo);
		add_cell(out, rate.hi);
		add_cell(out, s->value);
		add_cell(out, s->cost_s);
		for (size_t i = 0; i < space->count; i++) {
			*text = '\0';
			if (!isnan(s->point[i]) && tune_param_is_category(&space->params[i]) &&
					space->params[i].choices) /* a bool has none */
				snprintf(text, sizeof(text), "%s", space->params[i].choices[(size_t)s->point[i]].text);
			else if (!isnan(s->point[i]))
				tune_param_format(&space->params[i], s->point[i], text, sizeof(text));
			buf_addf(out, ",%s", text);
		}
		buf_addc(out, '\n');
	}
}

static int add_result(struct buf *out, const struct train_record *r, struct online_controller *c, double runtime_s,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf params = BUF_INIT;
	struct progress_cost cost = { NAN, NAN };
	const double *best;
	struct json j;
	size_t moves;
	int rc = progress_cost_best(c, &best, &cost, err);

	if (rc < 0)
		return rc;
	train_config_json(&params, c->plan, best ? best : online_controller_now(c)->point);
	json_init(&j, out, true);
	json_object(&j);
	json_kstr(&j, "job", r->id);
	json_kreal(&j, "runtime_s", runtime_s);
	json_kbool(&j, "reached", c->is_reached);
	json_kreal(&j, "target_loss", c->plan->target_loss);
	json_kreal(&j, "final_loss", final_loss(c));
	json_kuint(&j, "iterations", c->loss_count);
	json_kuint(&j, "configurations", c->stage_count);
	json_kuint(&j, "moves", c->moves);
	json_kuint(&j, "looks", c->looks);
	json_kreal(&j, "exploring_s", c->explored_s);
	json_kreal(&j, "reconfiguration_s", moves_s(c, &moves));
	json_key(&j, "best");
	json_object(&j);
	json_key(&j, "params");
	json_raw(&j, params.data, params.len);
	json_kreal(&j, "iteration_s", cost.mean);
	json_kreal(&j, "sd_s", cost.sd);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
	return 0;
}

static int write_file(const char *dir, const char *name, const struct buf *text, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, name);
	return buf_error(text) < 0 ? err_sys(err, ENOMEM, "cannot write '%s'", path.data)
				   : fs_replace_file(AT_FDCWD, path.data, text->data, text->len, err);
}

int train_record_conclude(struct train_record *r, struct online_controller *c, double runtime_s, struct buf *json,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf summary = BUF_INIT, configs = BUF_INIT;
	int rc = add_result(json, r, c, runtime_s, err);

	add_summary(&summary, r, c, runtime_s);
	add_configs(&configs, c);
	if (rc == 0)
		rc = write_file(r->dir, "summary.csv", &summary, err);
	if (rc == 0)
		rc = write_file(r->dir, "configs.csv", &configs, err);
	return rc < 0 ? rc : write_file(r->dir, "result.json", json, err);
}
