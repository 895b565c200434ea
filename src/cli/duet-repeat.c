/*
 * duet-repeat: the command line that repeats a comparison, and termination signals during one.
 */
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "cli/duet-cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The command line that repeats a comparison, including choices made by the pilot or at random. */

static void add_word(struct buf *line, const char *option, const char *word)
{
	if (!word)
		return;
	buf_addf(line, " %s ", option);
	words_quote(line, word);
}

static void add_flag(struct buf *line, const char *option, bool is_set)
{
	if (is_set)
		buf_addf(line, " %s", option);
}

static void add_place(struct buf *line, const struct isolation_options *o)
{
	if (o->cpus > 0)
		buf_addf(line, " --cpus %g", o->cpus);
	if (o->memory_limit)
		buf_addf(line, " --memory-limit %llu", (unsigned long long)o->memory_limit);
	if (o->pids_limit)
		buf_addf(line, " --pids-limit %lld", (long long)o->pids_limit);
	add_flag(line, "--sandbox", o->is_sandboxed);
	add_word(line, "--image", o->image);
	add_word(line, "--engine", o->engine);
	for (size_t i = 0; i < o->engine_args.count; i++)
		add_word(line, "--engine-arg", o->engine_args.items[i]);
}

static void add_iterations(struct buf *line, const struct duet_options *o)
{
	static const char *const words[] = { [DUET_OF_FD] = "fd", [DUET_OF_STEPS] = "step" };

	if (o->iterations != DUET_OF_COMMANDS)
		add_word(line, "--iterations", words[o->iterations]);
	add_word(line, "--step", o->step);
}

static void add_hooks(struct buf *line, const struct duet_options *o)
{
	for (size_t i = 0; i < o->setup.count; i++)
		add_word(line, "--setup", o->setup.items[i]);
	for (size_t i = 0; i < o->prepare.count; i++)
		add_word(line, "--prepare", o->prepare.items[i]);
	for (size_t i = 0; i < o->conclude.count; i++)
		add_word(line, "--conclude", o->conclude.items[i]);
	for (size_t i = 0; i < o->cleanup.count; i++)
		add_word(line, "--cleanup", o->cleanup.items[i]);
	if (o->sessions > 1)
		buf_addf(line, " --sessions %lld", (long long)o->sessions);
	if (o->warmup > 1)
		buf_addf(line, " --warmup %lld", (long long)o->warmup);
	if (strcmp(o->input, "null") != 0)
		add_word(line, "--input", o->input);
}

static void add_measuring(struct buf *line, const struct duet_options *o, const struct duet_setup *setup,
		const struct duet_schedule *schedule)
{
	add_word(line, "--metric", duet_metric_name(&setup->pairing));
	buf_addf(line, " --threshold %g%% --budget %gs --design %s --pairs %zu --seed %llu", 100 * (setup->margin - 1),
			(double)setup->budget_ns / 1e9,
			setup->is_auto && !schedule->is_settled ? "auto" : duet_design_names[schedule->design],
			schedule->turns, (unsigned long long)setup->seed);
	if (setup->level != 0.95)
		buf_addf(line, " --level %g%%", 100 * setup->level);
	if (setup->interval)
		buf_addf(line, " --interval %s", duet_interval_names[setup->interval]);
	if (o->runs)
		buf_addf(line, " --runs %lld", (long long)o->runs);
	if (o->timeout_ns)
		buf_addf(line, " --timeout %gs", (double)o->timeout_ns / 1e9);
	add_flag(line, "--better higher", setup->pairing.is_more_better);
	add_flag(line, "--pin none", o->pin != 0);
	add_flag(line, "--priority none", o->priority != 0);
	add_flag(line, "--no-self-check", o->has_no_self_check);
	add_flag(line, "--ignore-failure", o->is_lenient);
}

const char *duet_repeat_line(const struct cli_context *ctx, const struct duet_setup *setup,
		const struct duet_result *result)
{
	const struct duet_options *o = ctx->options;
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	buf_adds(&line, "sonde duet");
	for (int side = 0; side < DUET_SIDES; side++)
		add_word(&line, side == DUET_A ? "-a" : "-b", o->commands[side]);
	if (o->shell) {
		buf_adds(&line, " --shell");
		if (strcmp(o->shell, DUET_SHELL) != 0) {
			buf_addc(&line, '=');
			words_quote(&line, o->shell);
		}
	}
	add_hooks(&line, o);
	add_iterations(&line, o);
	add_place(&line, &o->place);
	add_measuring(&line, o, setup, &result->schedule);
	if (o->git) {
		add_word(&line, "--git", o->git);
		buf_adds(&line, " -- ");
		words_join(&line, ctx->program);
	}
	return arena_strdup(ctx->arena, line.data);
}

/*
 * Termination signals as a pollable descriptor. Uses handlers, not a blocked mask: children inherit
 * neither.
 */

static int pipe_fds[2] = { -1, -1 };
static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
	int saved = errno;
	char byte = 0;

	if (!caught)
		caught = signal;
	if (write(pipe_fds[1], &byte, 1) < 0)
		errno = saved; /* pipe full: it is readable already */
	errno = saved;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static struct sigaction before[sizeof(signals) / sizeof(*signals)];

/* SIGHUP stays ignored under nohup. */
int duet_signals_open(struct sonde_err *err)
{
	struct sigaction action = { .sa_handler = on_signal };

	caught = 0;
	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK))
		return err_sys(err, errno, "cannot install signal handlers");
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (signals[i] != SIGHUP || before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	return pipe_fds[0];
}

int duet_signals_caught(void)
{
	return caught;
}

void duet_signals_close(void)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals) && pipe_fds[0] >= 0; i++)
		sigaction(signals[i], &before[i], NULL);
	for (size_t i = 0; i < 2; i++) {
		if (pipe_fds[i] >= 0)
			close(pipe_fds[i]);
		pipe_fds[i] = -1;
	}
}
