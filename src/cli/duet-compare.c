/*
 * duet-compare: sonde duet -a CMD -b CMD, and --git A..B -- CMD.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "cli/duet-cli.h"
#include "duet/duet-journal.h"
#include "duet/explain.h"
#include "duet/history.h"
#include "duet/run-commands.h"
#include "duet/sources.h"
#include "launch/scheduling.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

enum { WARNINGS_MAX = 16, RECORDINGS = 5 };

uint64_t duet_fresh_seed(void)
{
	uint32_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = 1;
	return seed;
}

const char *duet_counter_of(const struct duet_options *o)
{
	return o->counter ? o->counter + strlen(DUET_COUNTER_PREFIX) : NULL;
}

int duet_setup_of(struct cli_context *ctx, struct duet_setup *setup)
{
	const struct duet_options *o = ctx->options;

	*setup = (struct duet_setup){ .is_auto = o->design == 0,
		.design = o->design ? (enum duet_design)(o->design - 1) : DUET_RMIT,
		.pairing = { .metric = (enum duet_metric)o->metric,
				.counter = o->counter,
				.is_more_better = o->better == 1 },
		.margin = o->margin,
		.level = o->level,
		.interval = o->interval,
		.budget_ns = o->budget_ns,
		.seed = o->seed >= 0 ? (uint64_t)o->seed : duet_fresh_seed(),
		.turns = (size_t)o->pairs,
		.runs_max = (size_t)o->runs,
		.warmup = (size_t)o->warmup,
		.has_prepare = o->prepare.count > 0,
		.has_steps = o->iterations == DUET_OF_STEPS,
		.has_aa = !o->has_no_self_check };
	if (o->counter && o->iterations == DUET_OF_COMMANDS)
		setup->turns = 1; /* each recorded execution is a run */
	setup->has_own_iterations = setup->pairing.has_warmup = o->iterations != DUET_OF_COMMANDS;
	return 0;
}

/* State of a comparison. */
struct session {
	struct cli_context *ctx;
	const struct duet_options *o;
	const char *titles[DUET_SIDES]; /* the commands to display */
	struct duet_exec exec;
	struct job_isolation place;
	struct duet_steps steps;
	struct duet_journal journal;
	struct duet_setup setup;
	struct term_progress progress;
	struct duet_several *several; /* NULL: a single comparison */
};

/* Parses a command given as one string: into words, or for a shell. */
static int take_command(struct cli_context *ctx, enum duet_side side, char ***argv)
{
	static char option[] = "-c";
	const struct duet_options *o = ctx->options;
	struct sonde_err why = SONDE_ERR_INIT;
	size_t n = 0;
	char **shell;
	int rc;

	if (o->shell) {
		rc = words_split(o->shell, ctx->arena, &shell, &why);
		if (rc || !shell[0])
			return cli_usage(ctx, "--shell: %s", rc ? why.text : "the command is empty");
		while (shell[n])
			n++;
		*argv = arena_alloc(ctx->arena, (n + 3) * sizeof(**argv));
		if (!*argv)
			return err_sys(ctx->err, ENOMEM, "cannot parse the command");
		memcpy(*argv, shell, n * sizeof(**argv));
		(*argv)[n] = option;
		(*argv)[n + 1] = arena_strdup(ctx->arena, o->commands[side]);
		return 0;
	}
	rc = words_split(o->commands[side], ctx->arena, argv, &why);
	if (rc || !(*argv)[0]) {
		rc = cli_usage(ctx, "-%c: %s", "ab"[side], rc ? why.text : "the command is empty");
		err_hint(ctx->err, "%s", why.hint);
	}
	return rc;
}

static void show_start(void *arg, const char *what, size_t done, size_t of)
{
	struct session *s = arg;

	term_progress_show(&s->progress, "%s: run %zu of up to %zu", what, done + 1, of);
}

static int note_schedule(void *arg, const struct duet_result *so_far, struct sonde_err *err)
{
	struct session *s = arg;

	return duet_journal_schedule(&s->journal, so_far, duet_repeat_line(s->ctx, &s->setup, so_far), err);
}

static int note_run(void *arg, const struct duet_run *run, struct sonde_err *err)
{
	struct session *s = arg;

	return duet_journal_run(&s->journal, run, err);
}

/* Finds the `sonde` executable, for recording. */
static int find_sonde(struct session *s)
{
	CLEANUP(buf_release) struct buf prefix = BUF_INIT;
	int rc = fs_prefix(&prefix, s->ctx->err);

	if (!rc)
		s->steps.sonde = arena_printf(s->ctx->arena, "%s/bin/sonde", prefix.data);
	return rc;
}

static int open_runner(struct session *s, struct duet_runner *runner)
{
	int rc = 0;

	s->steps = (struct duet_steps){ .exec = &s->exec,
		.name = s->o->step,
		.counter = duet_counter_of(s->o),
		.is_whole = s->o->iterations != DUET_OF_STEPS,
		.probes = s->o->counter ? "trace,system" : NULL };
	if (s->o->iterations == DUET_OF_FD) {
		*runner = duet_loop_runner(&s->exec);
	} else if (s->o->iterations == DUET_OF_STEPS || s->o->counter) {
		rc = find_sonde(s);
		if (!rc)
			rc = duet_steps_open(&s->steps, s->ctx->arena, s->ctx->err);
		*runner = duet_steps_runner(&s->steps);
	} else {
		*runner = duet_exec_runner(&s->exec);
	}
	return rc;
}

static int open_journal(struct session *s)
{
	int rc;

	if (!s->o->outdir)
		return 0;
	if (!s->o->is_resumed)
		return duet_journal_create(&s->journal, s->o->outdir, &s->setup, s->titles, s->ctx->err);
	rc = duet_journal_resume(&s->journal, s->o->outdir, &s->setup, s->titles, s->ctx->err);
	if (!rc && s->journal.schedule.is_settled) {
		s->setup.seed = s->journal.setup.seed;
		s->setup.schedule = s->journal.schedule;
		s->setup.done = s->journal.runs;
		s->setup.done_count = s->journal.run_count;
		s->setup.spent_ns = s->journal.spent_ns;
	}
	return rc;
}

static int explain(struct session *s, struct duet_explanation *out)
{
	struct duet_steps steps = { .exec = &s->exec, .probes = "trace,cpu,sched" };
	int rc = find_sonde(s);

	steps.sonde = s->steps.sonde;
	if (!rc)
		rc = duet_steps_open(&steps, s->ctx->arena, s->ctx->err);
	if (!rc)
		rc = duet_explain(&steps, RECORDINGS, s->setup.seed, s->setup.level, s->ctx->arena, out, s->ctx->err);
	duet_steps_release(&steps);
	return rc;
}

/* Two copies of a program run at once only if one recorded execution of each shows that they do not collide. */
static const char *why_not_at_once(void *arg)
{
	struct session *s = arg;
	struct duet_steps steps = { .exec = &s->exec };
	struct sonde_err why = SONDE_ERR_INIT;
	const char *reason = NULL;
	int rc;

	if (s->o->iterations == DUET_OF_FD) /* both processes of a run live at the same time in every design */
		return NULL;
	if (s->o->setup.count + s->o->prepare.count + s->o->conclude.count + s->o->cleanup.count)
		return "commands run around each execution";
	if (s->exec.place)
		return "programs in isolation are not recorded";
	term_progress_show(&s->progress, "recording both programs once");
	rc = find_sonde(s);
	steps.sonde = s->steps.sonde;
	if (!rc)
		rc = duet_steps_open(&steps, s->ctx->arena, &why);
	if (!rc)
		rc = duet_conflict_find(&steps, s->ctx->arena, &reason, &why);
	duet_steps_release(&steps);
	return rc ? arena_printf(s->ctx->arena, "it could not be recorded: %s", why.text) : reason;
}

const char *duet_machine_words(struct arena *arena)
{
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	duet_machine(&words);
	return arena_strdup(arena, words.data);
}

/* Revisions change: with --git the series in the history is named after the command, not the revision. */
static int add_to_history(struct session *s, const struct duet_report *report)
{
	CLEANUP(buf_release) struct buf program = BUF_INIT;
	const char *name = s->titles[DUET_B], *label = s->o->label;

	if (s->o->git) {
		words_join(&program, s->ctx->program);
		label = label ? label : name;
		name = program.data;
	}
	if (buf_error(&program))
		return err_sys(s->ctx->err, ENOMEM, "cannot add to the history");
	return duet_history_add(s->o->history, name, label, report, s->ctx->err);
}

/* Reports the result, also of an interrupted comparison. */
static int conclude(struct session *s, struct duet_report *report, int rc)
{
	const struct duet_result *result = report->entries[0].result;
	const char *warnings[WARNINGS_MAX];
	struct duet_explanation explanation;
	int printed = 0, explained = 0;

	if (!rc && s->o->is_explained && result->stop != DUET_INTERRUPTED) {
		explained = explain(s, &explanation);
		report->explanation = explained ? NULL : &explanation;
	}
	report->seconds = result->seconds;
	report->machine = duet_machine_words(s->ctx->arena);
	report->repeat = duet_repeat_line(s->ctx, &s->setup, result);
	report->warnings = warnings;
	report->warning_count = duet_warnings(&s->setup, result, &report->interference, duet_cpu_count(), warnings,
			WARNINGS_MAX, s->ctx->arena);
	if (rc) {
		if (result->run_count)
			duet_print(s->ctx, report);
		return rc;
	}
	printed = duet_print_verdict(s->ctx, report);
	if (!printed && s->o->history && result->run_count)
		printed = add_to_history(s, report);
	return printed ? printed : explained;
}

/* The first execution in a fresh worktree includes the build: it is not measured and not charged to the budget. */
static int build(struct session *s, const struct duet_runner *runner)
{
	struct duet_turn turn = { 0 };
	struct duet_task task = { .design = DUET_RMIT, .turns = &turn, .turn_count = 1 };
	struct duet_run run = { 0 };
	int64_t timeout_ns = s->exec.timeout_ns;
	int rc;

	term_progress_show(&s->progress, "building both revisions");
	s->exec.timeout_ns = s->o->timeout_ns;
	rc = runner->run(runner->self, &task, &run, s->ctx->err);
	s->exec.timeout_ns = timeout_ns;
	duet_run_release(&run);
	if (rc == -EINTR)
		s->ctx->exit_code = 128 + duet_signals_caught();
	if (rc)
		term_progress_end(&s->progress);
	return rc;
}

/* Commands before or after everything. */
static int run_hooks(struct session *s, const char *option, const struct cli_list *commands)
{
	int rc = 0;

	/* Of several comparisons they run once, before the first or after the last. */
	if (s->several && s->several->now != (strcmp(option, "setup") != 0 ? s->several->count - 1 : 0))
		return 0;
	for (size_t i = 0; i < commands->count && !rc; i++)
		rc = duet_exec_hook(&s->exec, i == 1 ? DUET_B : DUET_A, option, commands->items[i], s->ctx->err);
	return rc;
}

static int compare(struct session *s)
{
	struct duet_runner runner;
	struct duet_result result;
	struct duet_entry entry = { .commands = { s->titles[DUET_A], s->titles[DUET_B] },
		.result = &result,
		.p_adjusted = NAN };
	struct duet_report report = { .entries = &entry, .count = 1, .setup = &s->setup };
	int rc = open_runner(s, &runner);

	if (!rc)
		rc = open_journal(s);
	if (!rc)
		rc = run_hooks(s, "setup", &s->o->setup);
	term_progress_init(&s->progress);
	if (!rc && s->o->git)
		rc = build(s, &runner);
	if (rc)
		return rc;
	s->setup.on_start = show_start;
	s->setup.why_not_at_once = why_not_at_once;
	s->setup.on_schedule = note_schedule;
	s->setup.on_run = note_run;
	s->setup.arg = s;
	duet_interference_start(&report.interference);
	rc = duet_compare(&s->setup, &runner, &result, s->ctx->err);
	duet_interference_stop(&report.interference);
	if (!rc)
		rc = run_hooks(s, "cleanup", &s->o->cleanup);
	if (!rc)
		rc = duet_journal_end(&s->journal, &result, &report.interference, s->ctx->err);
	term_progress_end(&s->progress);
	if (s->several && !rc && result.stop != DUET_INTERRUPTED) {
		*s->several->entries[s->several->now].result = result; /* released with the others */
		s->several->setup = s->setup;
		s->several->interference = report.interference;
		return 0;
	}
	rc = conclude(s, &report, rc);
	duet_result_release(&result);
	return rc;
}

static int check_git(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;

	if (!o->git)
		return ctx->program ? cli_usage(ctx, "a command after -- requires --git A..B") : 0;
	if (o->commands[DUET_A] || o->commands[DUET_B])
		return cli_usage(ctx, "--git takes its command after -- and cannot be combined with -a and -b");
	if (!duet_is_range(o->git))
		return cli_usage(ctx, "invalid range '%s' of --git: expected two revisions, A..B", o->git);
	if (!ctx->program)
		return cli_usage(ctx, "--git requires a command: --git %s -- COMMAND", o->git);
	return 0;
}

static int check_hooks(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	const struct {
		const char *option;
		const struct cli_list *commands;
	} hooks[] = { { "setup", &o->setup }, { "prepare", &o->prepare }, { "conclude", &o->conclude },
		{ "cleanup", &o->cleanup } };
	size_t command_count = ctx->arg_count ? ctx->arg_count : DUET_SIDES;

	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++)
		if (hooks[i].commands->count > 1 && hooks[i].commands->count != command_count)
			return cli_usage(ctx, "--%s must be given once, or once for each command: got %zu",
					hooks[i].option, hooks[i].commands->count);
	return 0;
}

static int check_options(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	bool is_ranking = ctx->arg_count > DUET_SIDES;
	int rc = check_git(ctx);

	if (rc)
		return rc;
	/* The recorder and the descriptor of iterations are not accessible inside. */
	if ((o->place.image || o->place.is_sandboxed) &&
			(o->iterations != DUET_OF_COMMANDS || o->is_explained || o->counter))
		return cli_usage(ctx, "--%s cannot be combined with --iterations, --explain and counters",
				o->place.image ? "image" : "sandbox");
	if (o->counter && o->iterations == DUET_OF_FD)
		return cli_usage(ctx, "--metric %s requires --iterations command or step", o->counter);
	rc = check_hooks(ctx);
	if (rc)
		return rc;
	for (int side = 0; side < DUET_SIDES; side++)
		if (!o->git && !o->commands[side])
			return cli_usage(ctx,
					"missing -%c COMMAND: two commands are required, as arguments or by -a and -b",
					"ab"[side]);
	if (o->sessions > 1 && (o->outdir || o->is_explained || o->git || o->history || is_ranking))
		return cli_usage(ctx, "--sessions excludes --outdir, --history, --explain, --git and rankings");
	if (is_ranking && (o->outdir || o->history || o->html || o->is_explained || o->git))
		return cli_usage(ctx, "a ranking excludes --outdir, --history, --html, --explain and --git");
	return 0;
}

static int take_commands(struct session *s, struct duet_worktrees *trees)
{
	int rc = 0;

	if (s->o->git) {
		rc = duet_worktrees_make(trees, s->o->git, s->ctx->arena, s->ctx->err);
		for (int side = 0; side < DUET_SIDES && !rc; side++) {
			s->exec.commands[side] = (struct duet_command){ .argv = s->ctx->program,
				.cwd = trees->places[side],
				.root = trees->dirs[side] };
			s->titles[side] = trees->revisions[side];
		}
		return rc;
	}
	for (int side = 0; side < DUET_SIDES && !rc; side++) {
		char **argv;

		rc = take_command(s->ctx, (enum duet_side)side, &argv);
		if (!rc)
			s->exec.commands[side].argv = argv;
		s->titles[side] = s->o->commands[side];
	}
	return rc;
}

/* The hook of a command; given once, it is that of all. */
static const char *hook_of(const struct cli_list *commands, size_t which)
{
	return !commands->count ? NULL : commands->items[commands->count > 1 ? which : 0];
}

static void set_hooks(struct session *s)
{
	for (int side = 0; side < DUET_SIDES; side++) {
		bool is_ranked = s->several && s->several->is_ranking && side == DUET_B;
		size_t which = is_ranked ? s->several->now + 1 : (size_t)side;

		s->exec.prepare[side] = hook_of(&s->o->prepare, which);
		s->exec.conclude[side] = hook_of(&s->o->conclude, which);
	}
}

/* One of several comparisons gets its share of the budget, and its own level or seed. */
static void set_share(struct duet_setup *setup, const struct duet_several *several)
{
	setup->budget_ns /= (int64_t)several->count;
	/* Simultaneous intervals (Bonferroni). */
	if (several->is_ranking)
		setup->level = 1 - (1 - setup->level) / (double)several->count;
	else
		setup->seed += several->now;
}

int duet_run_session(struct cli_context *ctx, struct duet_several *several)
{
	struct session s = { .ctx = ctx,
		.o = ctx->options,
		.exec = DUET_EXEC_INIT,
		.journal = DUET_JOURNAL_INIT,
		.several = several };
	struct duet_worktrees trees = { 0 };
	char **shell = NULL;
	int rc = check_options(ctx);

	if (!rc)
		rc = place_of(ctx, &s.o->place, &s.place);
	if (!rc && s.place.kind != JOB_PROCESS)
		rc = job_isolation_check(&s.place, ctx->err);
	if (rc)
		return rc;
	s.exec.place = s.place.kind == JOB_PROCESS ? NULL : &s.place;
	s.exec.interrupt_fd = duet_signals_open(ctx->err);
	rc = s.exec.interrupt_fd < 0 ? s.exec.interrupt_fd : take_commands(&s, &trees);
	if (!rc)
		rc = duet_setup_of(ctx, &s.setup);
	if (several)
		set_share(&s.setup, several);
	s.exec.is_pinned = s.o->pin == 0 && duet_split_cpus(s.exec.cpus);
	s.setup.is_pinned = s.exec.is_pinned;
	s.exec.has_priority = s.o->priority == 0; /* without the privilege, programs still get their own sessions */
	s.setup.has_priority = s.exec.has_priority && priority_is_allowed();
	if (s.setup.has_priority)
		priority_begin(); /* best effort: without it we have ordinary wakeup latency */
	s.exec.is_lenient = s.o->is_lenient;
	s.exec.has_output = s.o->has_output;
	s.exec.input = strcmp(s.o->input, "null") != 0 ? s.o->input : NULL;
	set_hooks(&s);
	if (!rc)
		rc = words_split(s.o->shell ? s.o->shell : DUET_SHELL, ctx->arena, &shell, ctx->err);
	s.exec.shell = shell;
	s.exec.timeout_ns = s.o->timeout_ns ? s.o->timeout_ns : 10 * s.o->budget_ns;
	if (!rc)
		rc = duet_exec_open(&s.exec, ctx->err);
	if (!rc)
		rc = compare(&s);
	if (s.setup.has_priority)
		priority_end();
	duet_steps_release(&s.steps);
	duet_journal_release(&s.journal);
	duet_exec_release(&s.exec);
	duet_worktrees_remove(&trees);
	duet_signals_close();
	return rc;
}

int duet_run_compare(struct cli_context *ctx)
{
	struct duet_options *o = ctx->options;

	if (ctx->arg_count > DUET_SIDES)
		return duet_run_ranking(ctx);
	for (size_t i = 0; i < ctx->arg_count; i++)
		o->commands[i] = ctx->args[i];
	if (o->is_confirmed && o->sessions < DUET_CONFIRM_SESSIONS)
		o->sessions = DUET_CONFIRM_SESSIONS;
	return o->sessions > 1 ? duet_run_sessions(ctx) : duet_run_session(ctx, NULL);
}
