/*
 * sonde session: run an application with its data and limits and write a profile.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "result/term.h"
#include "session/dumps.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

struct options {
	const char *dir;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 'o', "output", "DIR", CLI_PATH(struct options, dir), .default_words = "a new directory among the runs",
			.help = "Output directory for the run and the profile; it must not exist or be empty." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the profile as one JSON object." },
	CLI_OPTIONS_END,
};

static void print_values(const struct session_profile *p)
{
	static const struct term_column columns[] = { { "VALUE", TERM_LEFT, false }, { "OF", TERM_LEFT, false },
		{ "MIN", TERM_RIGHT, false }, { "MEDIAN", TERM_RIGHT, false }, { "MAX", TERM_RIGHT, false } };
	struct term_table t;

	term_table_init(&t, columns, 5);
	for (size_t i = 0; i < p->value_count; i++) {
		const struct session_value *v = &p->values[i];
		struct stats_moments m = session_value_moments(p, v);
		double shown[] = { m.min, session_value_median(p, v), m.max };

		if (session_value_is_dumped(v))
			continue;
		term_table_cell(&t, TERM_PLAIN, v->name);
		term_table_cell(&t, TERM_PLAIN, v->of);
		for (size_t k = 0; k < 3; k++) {
			if (isnan(shown[k]))
				term_table_cell(&t, TERM_DIM, "-");
			else
				term_table_cellf(&t, "%.6g", shown[k]);
		}
	}
	term_table_print(&t, stdout);
	term_table_release(&t);
}

/* The output of tools is long: prints its location, and what could not be read. */
static void print_dumps(const struct session_profile *p)
{
	for (const struct session_dump *d = p->dumps; d < p->dumps + p->dump_count; d++)
		printf("%s: %s, files %llu, rows %llu%s%s\n", d->tool, d->kind, (unsigned long long)d->files,
				(unsigned long long)d->rows, *d->reason ? "; incomplete: " : "", d->reason);
	if (p->dump_count)
		printf("values of tools: profile.json, tau_*, nsys_*, tegrastats_*\n");
}

static void print_breaches(const struct session_profile *p)
{
	struct session_breach all[SESSION_THRESHOLDS_MAX];
	size_t n = session_breaches(p, all);

	for (size_t i = 0; i < n; i++) {
		const struct session_threshold *t = all[i].threshold;

		printf("breached: %s ", t->metric);
		if (isnan(all[i].value))
			printf("was not measured\n");
		else if (all[i].value < t->min)
			printf("%.6g is below %.6g\n", all[i].value, t->min);
		else
			printf("%.6g is above %.6g\n", all[i].value, t->max);
	}
}

static void print_text(const struct session_profile *p)
{
	double cpus = session_recommended_cpus(p), memory_bytes = session_recommended_memory_bytes(p);
	const struct session_point *best = session_recommended_point(p);

	print_values(p);
	if (!isnan(cpus) && !isnan(memory_bytes))
		printf("recommended limits: cpus %.2f, memory %.0fM\n", cpus, memory_bytes / 1048576);
	for (size_t i = 0; i < p->point_count; i++)
		printf("%s %-12s %s %.6g%s\n", p->spec->sweep.over, p->points[i].text, p->spec->sweep.metric,
				p->points[i].metric, p->points[i].has_failed ? " (failed)" : "");
	if (best)
		printf("recommended %s: %s, within %g%% of the best\n", p->spec->sweep.over, best->text,
				100 * p->spec->sweep.tolerance);
	print_dumps(p);
	print_breaches(p);
	printf("run: %s\n", p->repeats[0].run);
}

/* Redirects the application's stdout to stderr: stdout is for the profile. */
static int run_aside(struct session_profile *p, const struct session_spec *spec, struct cli_context *ctx)
{
	CLEANUP(cleanup_fd) int ours = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int rc;

	if (ours < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return err_sys(ctx->err, errno, "cannot redirect standard output");
	rc = session_run(p, spec, ((const struct options *)ctx->options)->dir, ctx->arena, ctx->err);
	if (dup2(ours, STDOUT_FILENO) < 0 && rc == 0)
		rc = err_sys(ctx->err, errno, "cannot restore standard output");
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct session_breach breaches[SESSION_THRESHOLDS_MAX];
	struct session_spec *spec = arena_alloc(ctx->arena, sizeof(*spec));
	struct session_profile *p = arena_alloc(ctx->arena, sizeof(*p));
	int rc = spec && p ? session_spec_load(spec, ctx->args[0], ctx->arena, ctx->err)
			   : err_sys(ctx->err, ENOMEM, "cannot run the session");

	if (rc == 0)
		rc = run_aside(p, spec, ctx);
	if (rc == 0)
		rc = session_write(p, ctx->err);
	if (rc < 0)
		return rc;
	if (o->is_json) {
		session_write_json(&text, p);
		fputs(text.data, stdout);
	} else {
		print_text(p);
	}
	if (p->repeats[p->repeat_count - 1].has_timed_out)
		return err_set(ctx->err, ETIMEDOUT, "the application timed out and was killed");
	if (session_failed(p))
		return err_set(ctx->err, ECHILD, "the application failed; see its output above");
	if (session_breaches(p, breaches))
		ctx->exit_code = CLI_EXIT_VERDICT;
	return 0;
}

static const struct cli_example examples[] = {
	{ "sonde session app.yml -o profiles/app",
			"Run the session app.yml; write the run and profile.json to profiles/app." },
	{ "sonde session app.yml --json", "Print the profile as JSON; exit with 3 if a threshold is exceeded." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "The application succeeded within its thresholds." },
	{ "1", "The application failed or timed out, or sonde failed." },
	{ "2", "Usage error." },
	{ "3", "A threshold is exceeded." },
	{ NULL, NULL },
};

const struct cli_command cmd_session = {
	.name = "session",
	.usage = "[-o DIR] [--json] FILE",
	.positional = { .name = "FILE", .min = 1, .max = 1, .type = CLI_TYPE_PATH, .help = "Session file." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
