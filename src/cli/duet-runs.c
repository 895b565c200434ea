/*
 * duet-runs: sonde duet runs A... -- B...: compares existing runs.
 *
 * The k-th run of A and the k-th of B form one pair, treated as executed one after the other. Iterations are the
 * steps of the program if both have them, else whole executions.
 */
#include "base/cleanup.h"
#include "cli/duet-cli.h"
#include "duet/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARNINGS_MAX = 16 };

static const char *bundle_of(const struct cli_context *ctx, enum duet_side side, size_t i)
{
	return side == DUET_A ? ctx->args[1 + i] : ctx->program[i];
}

static int read_side(struct duet_samples *out, const char *bundle, const struct duet_options *o, bool has_steps,
		struct sonde_err *err)
{
	return has_steps ? duet_steps_read(out, bundle, o->step, duet_counter_of(o), err)
			 : duet_steps_read_whole(out, bundle, duet_counter_of(o), err);
}

/* Steps, if every run has them. */
static int read_runs(struct cli_context *ctx, struct duet_run *runs, size_t count, bool has_steps)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		runs[i].number = i;
		runs[i].design = DUET_SEQ;
		for (int side = 0; side < DUET_SIDES && !rc; side++)
			rc = read_side(&runs[i].sides[side], bundle_of(ctx, (enum duet_side)side, i), ctx->options,
					has_steps, ctx->err);
	}
	return rc;
}

static void forget(struct duet_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		duet_run_release(&runs[i]);
	memset(runs, 0, count * sizeof(*runs));
}

static int judge(struct cli_context *ctx, struct duet_setup *setup, struct duet_run *runs, size_t count)
{
	const char *warnings[WARNINGS_MAX];
	struct duet_result result;
	struct duet_entry entry = { .commands = { bundle_of(ctx, DUET_A, 0), bundle_of(ctx, DUET_B, 0) },
		.result = &result,
		.p_adjusted = NAN };
	struct duet_report report = { .entries = &entry,
		.count = 1,
		.setup = setup,
		.warnings = warnings,
		.interference = { NAN, NAN } };
	int rc = duet_judge(setup, runs, count, &result, ctx->err);

	if (!rc) {
		report.seconds = result.seconds;
		report.warning_count = duet_warnings(setup, &result, NULL, 2, warnings, WARNINGS_MAX, ctx->arena);
		rc = duet_print_verdict(ctx, &report);
	}
	duet_result_release(&result);
	return rc;
}

int duet_run_runs(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	size_t count = ctx->arg_count - 1, others = 0;
	struct duet_setup setup;
	struct duet_run *runs;
	int rc;

	while (ctx->program && ctx->program[others])
		others++;
	if (!count || count != others)
		return cli_usage(ctx, "runs takes as many bundles before -- as behind: %zu and %zu are given", count,
				others);
	runs = calloc(count, sizeof(*runs));
	if (!runs)
		return err_sys(ctx->err, ENOMEM, "cannot compare the runs");
	rc = duet_setup_of(ctx, &setup);
	setup.pairing.has_warmup = true;
	setup.is_auto = false;
	setup.budget_ns = 0;
	if (!rc)
		rc = read_runs(ctx, runs, count, true);
	if (rc == -ENODATA && !o->step) {
		forget(runs, count);
		setup.pairing.has_warmup = false;
		rc = read_runs(ctx, runs, count, false);
	}
	if (!rc)
		return judge(ctx, &setup, runs, count); /* takes ownership of runs */
	forget(runs, count);
	free(runs);
	return rc;
}
