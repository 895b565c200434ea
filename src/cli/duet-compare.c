/*
 * duet-compare: sonde duet -a CMD -b CMD.
 */
#include "base/cleanup.h"
#include "base/words.h"
#include "cli/duet.h"
#include "duet/exec.h"
#include "launch/launch.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum { WARNINGS_MAX = 16 };

static uint64_t fresh_seed(void)
{
	uint32_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = 1;
	return seed;
}

int duet_setup_of(struct cli_context *ctx, struct duet_setup *setup)
{
	const struct duet_options *o = ctx->options;

	*setup = (struct duet_setup){ .is_auto = o->design == 0,
		.design = o->design ? (enum duet_design)(o->design - 1) : DUET_RMIT,
		.pairing = { .metric = (enum duet_metric)o->metric, .is_more_better = o->better == 1 },
		.margin = o->margin,
		.level = o->level,
		.budget_ns = o->budget_ns,
		.seed = o->seed >= 0 ? (uint64_t)o->seed : fresh_seed(),
		.turns = (size_t)o->pairs,
		.runs_max = (size_t)o->runs,
		.has_aa = !o->has_no_self_check };
	return 0;
}

/* A command given as one string: its words, or a shell's. */
static int take_command(struct cli_context *ctx, enum duet_side side, char ***argv)
{
	static char sh[] = "/bin/sh", option[] = "-c";
	const struct duet_options *o = ctx->options;
	struct sonde_err why = SONDE_ERR_INIT;
	int rc;

	if (o->is_shell) {
		*argv = arena_alloc(ctx->arena, 4 * sizeof(**argv));
		if (!*argv)
			return err_sys(ctx->err, ENOMEM, "cannot take the command");
		(*argv)[0] = sh;
		(*argv)[1] = option;
		(*argv)[2] = arena_strdup(ctx->arena, o->commands[side]);
		return 0;
	}
	rc = words_split(o->commands[side], ctx->arena, argv, &why);
	if (rc || !(*argv)[0]) {
		rc = cli_usage(ctx, "-%c: %s", "ab"[side], rc ? why.text : "the command is empty");
		err_hint(ctx->err, "%s", why.hint);
	}
	return rc;
}

struct progress {
	struct term_progress line;
};

static void show_start(void *arg, const char *what, size_t done, size_t of)
{
	struct progress *p = arg;

	term_progress_show(&p->line, "%s: run %zu of at most %zu", what, done + 1, of);
}

/* The same comparison again. */
static const char *repeat_line(struct cli_context *ctx, const struct duet_setup *setup, const struct duet_result *r)
{
	const struct duet_options *o = ctx->options;
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	buf_adds(&line, "sonde duet -a ");
	words_quote(&line, o->commands[DUET_A]);
	buf_adds(&line, " -b ");
	words_quote(&line, o->commands[DUET_B]);
	if (o->is_shell)
		buf_adds(&line, " --shell");
	buf_addf(&line, " --metric %s --threshold %g%% --budget %gs --design %s --pairs %zu --seed %llu",
			duet_metric_names[setup->pairing.metric], 100 * (setup->margin - 1),
			(double)setup->budget_ns / 1e9, duet_design_names[r->schedule.design], r->schedule.turns,
			(unsigned long long)setup->seed);
	return arena_strdup(ctx->arena, line.data);
}

/* Measure, then say what came of it, also when it was cut short. */
static int compare_and_print(struct cli_context *ctx, struct duet_exec *e, struct duet_setup *setup)
{
	const struct duet_options *o = ctx->options;
	const char *warnings[WARNINGS_MAX];
	struct duet_runner runner = duet_exec_runner(e);
	struct duet_result result;
	struct duet_entry entry = { .commands = { o->commands[DUET_A], o->commands[DUET_B] }, .result = &result };
	struct duet_report report = { .entries = &entry, .count = 1, .setup = setup, .warnings = warnings };
	struct progress progress;
	int rc, printed = 0;

	term_progress_init(&progress.line);
	setup->on_start = show_start;
	setup->arg = &progress;
	duet_around_start(&report.around);
	rc = duet_compare(setup, &runner, &result, ctx->err);
	duet_around_stop(&report.around);
	term_progress_end(&progress.line);
	report.seconds = result.seconds;
	report.repeat = repeat_line(ctx, setup, &result);
	report.warning_count = duet_warnings(setup, &result, &report.around, duet_cpu_count(), warnings, WARNINGS_MAX,
			ctx->arena);
	if (!rc || result.run_count)
		printed = duet_print(ctx, &report);
	if (!rc)
		ctx->exit_code = duet_exit_code(o, &report);
	duet_result_release(&result);
	return rc ? rc : printed;
}

static int check_options(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;

	for (int side = 0; side < DUET_SIDES; side++)
		if (!o->commands[side])
			return cli_usage(ctx, "-%c COMMAND is missing: both -a and -b are needed", "ab"[side]);
	return 0;
}

int duet_run_compare(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	struct duet_exec e = DUET_EXEC_INIT;
	struct duet_setup setup;
	int rc = check_options(ctx);

	for (int side = 0; side < DUET_SIDES && !rc; side++) {
		char **argv;

		rc = take_command(ctx, (enum duet_side)side, &argv);
		if (!rc)
			e.commands[side].argv = argv;
	}
	if (!rc)
		rc = duet_setup_of(ctx, &setup);
	if (rc)
		return rc;
	e.is_pinned = o->pin == 0 && duet_split_cpus(e.cpus);
	setup.is_pinned = e.is_pinned;
	e.is_lenient = o->is_lenient;
	e.has_output = o->has_output;
	e.timeout_ns = o->timeout_ns ? o->timeout_ns : 10 * o->budget_ns;
	e.interrupt_fd = duet_signals_open(ctx->err);
	rc = e.interrupt_fd < 0 ? e.interrupt_fd : duet_exec_open(&e, ctx->err);
	if (!rc)
		rc = compare_and_print(ctx, &e, &setup);
	duet_exec_release(&e);
	duet_signals_close();
	return rc;
}
