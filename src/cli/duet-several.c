/*
 * duet-several: several comparisons in one call: a ranking of three and more commands, and a comparison repeated in
 * several sessions.
 */
#include "cli/duet-cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { WARNINGS_MAX = 16 };

/* Measures each of several comparisons; `commands` are those of B. Stops at an interruption, with an exit code. */
static int measure_several(struct cli_context *ctx, struct duet_several *m, char **commands)
{
	struct duet_options *o = ctx->options;
	int rc = 0;

	if (o->seed < 0)
		o->seed = (int64_t)duet_fresh_seed();
	m->entries = arena_alloc(ctx->arena, m->count * sizeof(*m->entries));
	if (!m->entries)
		return err_sys(ctx->err, ENOMEM, "cannot compare the commands");
	for (; m->now < m->count && !rc; m->now++) {
		struct duet_entry *e = &m->entries[m->now];

		if (commands)
			o->commands[DUET_B] = commands[m->now];
		*e = (struct duet_entry){ .name = commands ? commands[m->now] : NULL,
			.commands = { o->commands[DUET_A], o->commands[DUET_B] },
			.result = arena_alloc(ctx->arena, sizeof(*e->result)),
			.p_adjusted = NAN };
		rc = e->result ? duet_run_session(ctx, m) : err_sys(ctx->err, ENOMEM, "cannot compare the commands");
		if (rc || ctx->exit_code)
			break;
	}
	return rc;
}

static void release_several(struct duet_several *m)
{
	for (size_t i = 0; m->entries && i < m->now; i++)
		duet_result_release(m->entries[i].result);
}

/* Compares the first command with each of the others. */
int duet_run_ranking(struct cli_context *ctx)
{
	struct duet_options *o = ctx->options;
	struct duet_several m = { .is_ranking = true, .count = ctx->arg_count - 1 };
	struct duet_report report = { .is_ranking = true, .setup = &m.setup };
	int rc;

	o->commands[DUET_A] = ctx->args[0];
	rc = measure_several(ctx, &m, ctx->args + 1);
	report.entries = m.entries;
	report.count = m.now;
	report.interference = m.interference;
	report.machine = duet_machine_words(ctx->arena);
	if (!rc && m.now == m.count)
		rc = duet_print_ranking(ctx, &report);
	release_several(&m);
	return rc;
}

/* A session as one run with all its pairs: sessions are the observations then. Takes the iterations. */
static int merge_runs(struct duet_result *from, struct duet_run *out)
{
	int rc = 0;

	*out = (struct duet_run){ .design = from->schedule.design,
		.start_ns = from->run_count ? from->runs[0].start_ns : 0,
		.end_ns = from->run_count ? from->runs[from->run_count - 1].end_ns : 0 };
	for (size_t r = 0; r < from->run_count; r++)
		for (int side = 0; side < DUET_SIDES; side++)
			for (size_t i = 0; i < from->runs[r].sides[side].count && !rc; i++)
				rc = duet_samples_add(&out->sides[side], &from->runs[r].sides[side].items[i]);
	return rc;
}

/* The same comparison in several sessions: the interval has the differences between them too. */
int duet_run_sessions(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	const char *warnings[WARNINGS_MAX];
	struct duet_several m = { .count = (size_t)o->sessions };
	struct duet_result result = { 0 };
	struct duet_entry entry = { .commands = { o->commands[DUET_A], o->commands[DUET_B] },
		.result = &result,
		.p_adjusted = NAN };
	struct duet_report report = { .entries = &entry, .count = 1, .setup = &m.setup, .warnings = warnings };
	struct duet_run *runs;
	double seconds = 0;
	int rc = measure_several(ctx, &m, NULL);

	if (rc || m.now < m.count) {
		release_several(&m);
		return rc;
	}
	runs = calloc(m.count, sizeof(*runs));
	for (size_t i = 0; i < m.count && runs && !rc; i++) {
		rc = merge_runs(m.entries[i].result, &runs[i]);
		seconds += m.entries[i].result->seconds;
	}
	rc = runs && !rc ? duet_judge(&m.setup, runs, m.count, &result, ctx->err)
			 : err_sys(ctx->err, ENOMEM, "cannot put the sessions together");
	if (!rc) {
		result.schedule = m.entries[0].result->schedule;
		result.why_in_turn = m.entries[0].result->why_in_turn;
		report.sessions = m.count;
		report.seconds = result.seconds = seconds;
		report.interference = m.interference;
		report.machine = duet_machine_words(ctx->arena);
		report.repeat = duet_repeat_line(ctx, &m.setup, &result);
		report.warning_count = duet_warnings(&m.setup, &result, &report.interference, duet_cpu_count(),
				warnings, WARNINGS_MAX, ctx->arena);
		rc = duet_print_verdict(ctx, &report);
	}
	duet_result_release(&result);
	release_several(&m);
	return rc;
}
