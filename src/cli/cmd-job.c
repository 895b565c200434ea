/*
 * sonde job: list, show, control and cancel the jobs of a fleet; print their output, reports and results.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/shell-words.h"
#include "cli/fleet-cli.h"
#include "fleet/job-decisions.h"
#include "result/term.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KNOBS_MAX = 64 };

struct options {
	const char *dir;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json),
			.help = "Print JSON: an array for list and configs, an object for show and best." },
	CLI_OPTIONS_END,
};

/* Context of one action. */
struct scene {
	struct cli_context *ctx;
	struct fleet_client *client;
	struct fleet_jobs jobs_state;
	const struct fleet_job *job; /* NULL: list */
};

static bool is_json(const struct scene *s)
{
	return ((const struct options *)s->ctx->options)->is_json;
}

static void add_times(struct json *j, const struct fleet_job *job)
{
	json_kint(j, "submitted_ns", job->submitted_ns);
	if (job->claimed_ns)
		json_kint(j, "claimed_ns", job->claimed_ns);
	if (job->ended_ns)
		json_kint(j, "ended_ns", job->ended_ns);
}

static void add_job(struct json *j, const struct fleet_job *job)
{
	json_object(j);
	json_kstr(j, "id", job->id);
	json_kstr(j, "name", job->name);
	json_kstr(j, "state", fleet_state_word(job->state));
	json_kstr(j, "agent", job->agent);
	json_kuint(j, "epoch", job->epoch);
	json_kint(j, "attempts", job->attempts);
	json_kuint(j, "refused", job->refused);
	if (job->exit_code >= 0)
		json_kint(j, "exit_code", job->exit_code);
	if (job->why)
		json_kstr(j, "why", job->why);
	if (job->has_target)
		json_kreal(j, "target_loss", job->target_loss);
	json_kbool(j, "has_reached_target", job->stop == FLEET_STOP_TARGET || job->has_reached);
	json_kuint(j, "reports", job->report_count);
	if (job->report_count) {
		json_kint(j, "step", job->last.step);
		json_kreal(j, "loss", job->last.loss);
	}
	add_times(j, job);
	json_kstr(j, "cwd", job->cwd);
	json_key(j, "command");
	json_array(j);
	for (char **word = job->argv; *word; word++)
		json_str(j, *word);
	json_end(j);
	json_end(j);
}

static int print_json(const struct scene *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, true);
	if (!s->job)
		json_array(&j);
	for (size_t i = 0; i < s->jobs_state.count; i++)
		add_job(&j, s->jobs_state.jobs[i]);
	if (!s->job)
		json_end(&j);
	printf("%s\n", text.data);
	return buf_error(&text);
}

/* State to display; a job that was asked to stop may still run for a while. */
static const char *state_of(const struct fleet_job *job)
{
	return job->state == FLEET_RUNNING && job->stop != FLEET_GO_ON ? "stopping" : fleet_state_word(job->state);
}

/* Command to display; omits the wrapper and job file that `sonde submit` added. */
static char **command_of(const struct fleet_job *job)
{
	char **word = job->argv;

	if (!word[0] || !word[1] || strcmp(word[1], "train") != 0)
		return word;
	while (*word && strcmp(*word, "--plan") != 0)
		word++;
	return word[0] && word[1] && word[2] && word[3] && strcmp(word[2], "--") == 0 ? word + 3 : job->argv;
}

static void add_row(struct term_table *t, const struct fleet_job *job)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;

	words_join(&command, command_of(job));
	term_table_cell(t, TERM_PLAIN, job->id);
	term_table_cell(t, TERM_PLAIN, state_of(job));
	term_table_cell(t, TERM_PLAIN, job->agent ? job->agent : "-");
	if (job->report_count) {
		term_table_cellf(t, "%lld", (long long)job->last.step);
		term_table_cellf(t, "%g", job->last.loss);
	} else {
		term_table_cell(t, TERM_PLAIN, "-");
		term_table_cell(t, TERM_PLAIN, "-");
	}
	term_table_cell(t, TERM_PLAIN, command.data);
}

static int show_list(struct scene *s)
{
	static const struct term_column columns[] = { { "job" }, { "state" }, { "agent" }, { "step", TERM_RIGHT },
		{ "loss", TERM_RIGHT }, { "command", TERM_LEFT, true } };
	struct term_table t;
	int rc;

	if (is_json(s))
		return print_json(s);
	term_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->jobs_state.count; i++)
		add_row(&t, s->jobs_state.jobs[i]);
	rc = term_table_print(&t, stdout);
	term_table_release(&t);
	return rc;
}

static int show(struct scene *s)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT, safe = BUF_INIT;
	const struct fleet_job *job = s->job;

	if (is_json(s))
		return print_json(s);
	words_join(&command, command_of(job));
	term_safe(&safe, command.data);
	printf("job       %s\nstate     %s\ncommand   %s%s\n", job->id, state_of(job), safe.data,
			command_of(job) != job->argv ? " (tuned online)" : "");
	if (job->agent)
		printf("agent     %s\nattempts  %u\nepoch     %llu\n", job->agent, job->attempts,
				(unsigned long long)job->epoch);
	if (job->needs.cpus)
		printf("needs     %lld CPUs\n", (long long)job->needs.cpus);
	if (job->needs.memory_bytes)
		printf("needs     %.1f GiB of memory\n", (double)job->needs.memory_bytes / (1 << 30));
	if (job->needs.label)
		printf("needs     label '%s'\n", job->needs.label);
	if (job->exit_code >= 0)
		printf("exit      %d\n", job->exit_code);
	if (job->has_target)
		printf("target    %g, average of %zu%s\n", job->target_loss, job->window,
				job->stop == FLEET_STOP_TARGET ? ": reached" : "");
	if (job->report_count)
		printf("reports   %llu, last: step %lld, loss %g\n", (unsigned long long)job->report_count,
				(long long)job->last.step, job->last.loss);
	if (job->refused)
		printf("refused   %llu events of expired leases or after its end\n", (unsigned long long)job->refused);
	if (job->why)
		printf("why       %s\n", job->why);
	else if (job->state == FLEET_FAILED)
		printf("why       see 'sonde job log %s'\n", job->id);
	return 0;
}

static int print_chunk(void *arg, const struct fleet_message *m)
{
	fwrite(m->bytes, 1, m->len, stdout); /* write errors are checked at the end */
	return 0;
}

/* Prints the output of the last lease's command. */
static int show_log(struct scene *s)
{
	const char *subject = arena_printf(s->ctx->arena, "sonde.log.%s.%llu", s->job->id,
			(unsigned long long)s->job->epoch);

	return subject ? fleet_client_read(s->client, subject, print_chunk, NULL, s->ctx->err) : -ENOMEM;
}

static void print_report(void *arg, const struct fleet_job *job, const struct fleet_report *r)
{
	printf("%llu,%lld,%.6f,", (unsigned long long)job->epoch, (long long)r->step, r->time_s);
	if (isfinite(r->loss)) /* else the key is omitted */
		printf("%.9g", r->loss);
	printf(",");
	if (r->worker >= 0)
		printf("%lld", (long long)r->worker);
	printf(",");
	if (r->config >= 0)
		printf("%lld", (long long)r->config);
	printf("\n");
}

/* Prints the reports of every lease, each with its epoch. */
static int show_stats(struct scene *s)
{
	struct fleet_jobs again;
	int rc;

	printf("epoch,step,time_s,loss,worker,config\n");
	fleet_jobs_init(&again);
	again.on_report = print_report;
	rc = fleet_client_fold(s->client, s->job->id, true, &again, s->ctx->err);
	fleet_jobs_release(&again);
	return rc;
}

static int cancel(struct scene *s)
{
	const char *text = arena_printf(s->ctx->arena, "{\"event\":\"stop\",\"why\":\"cancel\",\"time_ns\":%lld}",
			(long long)clock_real_ns());

	if (!text)
		return err_sys(s->ctx->err, ENOMEM, "cannot cancel '%s'", s->job->id);
	if (fleet_job_has_ended(s->job))
		return err_set(s->ctx->err, EALREADY, "'%s' has already ended: %s", s->job->id,
				fleet_state_word(s->job->state));
	return fleet_client_publish(s->client, s->job->id, "event", text, NULL, NULL, s->ctx->err);
}

/* The running program gets the new values; all are validated before one is set. */
static int set_knobs(struct scene *s)
{
	char name[FLEET_KNOB_NAME_MAX], value[FLEET_KNOB_VALUE_MAX];
	struct cli_context *ctx = s->ctx;
	int rc = 0;

	if (ctx->arg_count < 3)
		return cli_usage(ctx, "knob requires NAME=VALUE after the job");
	if (fleet_job_has_ended(s->job))
		return err_set(ctx->err, EALREADY, "'%s' has already ended: %s", s->job->id,
				fleet_state_word(s->job->state));
	for (size_t i = 2; i < ctx->arg_count && rc == 0; i++)
		rc = fleet_knob_parse(ctx->args[i], name, value, ctx->err);
	for (size_t i = 2; i < ctx->arg_count && rc == 0; i++) {
		rc = fleet_knob_parse(ctx->args[i], name, value, ctx->err);
		if (rc == 0)
			rc = fleet_knob_set(s->client, s->job->id, name, value, ctx->err);
	}
	return rc;
}

static int show_configs(struct scene *s)
{
	return job_print_configs(s->client, s->job->id, is_json(s), stdout, s->ctx->err);
}

static int show_best(struct scene *s)
{
	return job_print_best(s->client, s->job->id, is_json(s), stdout, s->ctx->err);
}

static int show_plot(struct scene *s)
{
	return job_print_plot(s->client, s->job->id, stdout, s->ctx->err);
}

static const struct action {
	const char *name;
	bool has_job;
	int (*act)(struct scene *s);
	bool has_words; /* takes arguments after the job */
} actions[] = {
	{ "list", false, show_list },
	{ "show", true, show },
	{ "log", true, show_log },
	{ "stats", true, show_stats },
	{ "plot", true, show_plot },
	{ "configs", true, show_configs },
	{ "best", true, show_best },
	{ "cancel", true, cancel },
	{ "knob", true, set_knobs, true },
};

static int perform(struct scene *s, const struct action *action, const char *id)
{
	int rc = fleet_client_fold(s->client, id, true, &s->jobs_state, s->ctx->err);

	if (rc < 0)
		return rc;
	s->job = id ? fleet_jobs_find(&s->jobs_state, id) : NULL;
	if (id && !s->job) {
		err_set(s->ctx->err, ENOENT, "job '%s' not found", id);
		err_hint(s->ctx->err, "'sonde job list' lists the jobs");
		return -ENOENT;
	}
	return action->act(s);
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	const struct action *action = NULL;
	const char *id = ctx->arg_count > 1 ? ctx->args[1] : NULL;
	struct scene s = { .ctx = ctx };
	struct fleet_dir home;
	int rc;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, ctx->args[0]) == 0)
			action = &actions[i];
	if (!action)
		return cli_usage(ctx,
				"unknown action '%s' (supported: list, show, log, stats, plot, configs, best, cancel, "
				"knob)",
				ctx->args[0]);
	if (action->has_job != (id != NULL))
		return cli_usage(ctx, action->has_job ? "%s requires a job ID" : "%s takes no job ID", action->name);
	if (ctx->arg_count > 2 && !action->has_words)
		return cli_usage(ctx, "%s takes one job ID", action->name);
	/* One token of a NATS subject, without wildcards. */
	if (id && (!*id || strlen(id) >= FLEET_NAME_MAX || id[strcspn(id, ".*> \t\r\n")]))
		return cli_usage(ctx, "invalid job ID '%s'", id);
	rc = fleet_connect(ctx, o->dir, &home, &s.client);
	if (rc < 0)
		return rc;
	fleet_jobs_init(&s.jobs_state);
	rc = perform(&s, action, id);
	fleet_jobs_release(&s.jobs_state);
	fleet_client_free(s.client);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde job list", "List all jobs, oldest first." },
	{ "sonde job log train_1116_021500_9f3c", "Print the output of a job." },
	{ "sonde job stats train_1116_021500_9f3c > losses.csv", "Write its reports as CSV." },
	{ "sonde job best train_1116_021500_9f3c", "Print the best configuration." },
	{ "sonde job knob train_1116_021500_9f3c threads=4", "Set a knob of the running job." },
	{ NULL, NULL },
};

const struct cli_command cmd_job = {
	.name = "job",
	.usage = "[--json] list | ACTION JOB | knob JOB NAME=VALUE...",
	.positional = { .name = "ACTION",
			.min = 1,
			.max = 2 + KNOBS_MAX,
			.type = CLI_TYPE_STRING,
			.help = "list, show, log, stats (CSV), plot (loss over time), configs and best (of tuned "
				"jobs), cancel or knob (set at run time); all but list require a job ID." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
