#include "duet/run-commands.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/shell-words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPLAINT_BYTES = 300, SHELL_WORDS_MAX = 16 };

static const char side_letters[] = { [DUET_A] = 'A', [DUET_B] = 'B' };

int duet_exec_open(struct duet_exec *e, struct sonde_err *err)
{
	for (size_t side = 0; side < DUET_SIDES; side++) {
		e->complaints[side] = memfd_create("sonde-duet-stderr", MFD_CLOEXEC);
		if (e->complaints[side] < 0)
			return err_sys(err, errno, "cannot keep what the commands complain of");
	}
	return 0;
}

void duet_exec_release(struct duet_exec *e)
{
	for (size_t side = 0; side < DUET_SIDES; side++) {
		if (e->complaints[side] >= 0)
			close(e->complaints[side]);
		e->complaints[side] = -1;
	}
}

const cpu_set_t *duet_exec_cpus(const struct duet_exec *e, enum duet_side side, const struct duet_turn *turn)
{
	if (!e->is_pinned)
		return NULL;
	return &e->cpus[turn->is_swapped ? DUET_B - side : side];
}

int duet_exec_start(struct duet_exec *e, enum duet_side side, bool is_aa, const cpu_set_t *cpus, const int *inherit,
		size_t inherit_count, const char *const *env, struct job **job, struct sonde_err *err)
{
	const struct duet_command *command = &e->commands[is_aa ? DUET_A : side];
	CLEANUP(cleanup_fd) int input = -1;
	struct job_spec spec = JOB_SPEC_INIT;
	int rc;

	/* Opened for each execution, so that each reads from the start. */
	if (e->input) {
		input = open(e->input, O_RDONLY | O_CLOEXEC);
		if (input < 0)
			return err_sys(err, errno, "cannot open the input '%s'", e->input);
		spec.fds[0] = input;
	}
	spec.argv = command->argv;
	spec.env = env ? env : command->env;
	spec.cwd = command->cwd;
	spec.cpus = cpus;
	spec.has_priority = e->has_priority;
	spec.place = e->place;
	spec.interrupt_fd = e->interrupt_fd;
	spec.inherit = inherit;
	spec.inherit_count = inherit_count;
	spec.fds[1] = e->has_output ? STDERR_FILENO : JOB_FD_NULL; /* stdout is for the result */
	if (!e->has_output) {
		spec.fds[2] = e->complaints[side];
		if (ftruncate(e->complaints[side], 0) || lseek(e->complaints[side], 0, SEEK_SET))
			return err_sys(err, errno, "cannot keep what the commands complain of");
	}
	rc = job_start(job, &spec, err);
	if (rc)
		err_prefix(err, "%c", side_letters[is_aa ? DUET_A : side]);
	return rc;
}

/* Adds the last line of the command's stderr as a hint. */
static void hint_complaint(const struct duet_exec *e, enum duet_side side, struct sonde_err *err)
{
	char text[COMPLAINT_BYTES + 1], *line;
	off_t end = lseek(e->complaints[side], 0, SEEK_END), from = end > COMPLAINT_BYTES ? end - COMPLAINT_BYTES : 0;
	ssize_t n = end > 0 ? pread(e->complaints[side], text, COMPLAINT_BYTES, from) : 0;

	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	line = strrchr(text, '\n');
	err_hint(err, "it said: %s", line ? line + 1 : text);
}

int duet_exec_check(struct duet_exec *e, enum duet_side side, const struct job *job, struct sonde_err *err)
{
	int status = job_status(job);

	if (e->is_lenient || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return 0;
	if (WIFSIGNALED(status))
		err_set(err, ECHILD, "%c was killed by signal %d (%s)", side_letters[side], WTERMSIG(status),
				strsignal(WTERMSIG(status)));
	else
		err_set(err, ECHILD, "%c failed with exit status %d", side_letters[side], WEXITSTATUS(status));
	if (!e->has_output)
		hint_complaint(e, side, err);
	return -ECHILD;
}

struct duet_iteration duet_exec_iteration(const struct job *job)
{
	struct job_usage usage;
	struct rusage all;
	struct duet_iteration it;
	int64_t start = job_start_ns(job);

	job_usage(job, &usage);
	it = duet_iteration_at(start, usage.wall_ns >= 0 ? start + usage.wall_ns : start);
	if (usage.user_ns >= 0)
		it.metrics[DUET_USER] = (double)usage.user_ns;
	if (usage.system_ns >= 0)
		it.metrics[DUET_SYSTEM] = (double)usage.system_ns;
	it.metrics[DUET_CPU] = it.metrics[DUET_USER] + it.metrics[DUET_SYSTEM];
	if (usage.max_rss_bytes >= 0)
		it.metrics[DUET_RSS] = (double)usage.max_rss_bytes;
	if (job_rusage(job, &all)) {
		it.metrics[DUET_FAULTS] = (double)all.ru_minflt;
		it.metrics[DUET_MAJOR_FAULTS] = (double)all.ru_majflt;
		it.metrics[DUET_WAITS] = (double)all.ru_nvcsw;
		it.metrics[DUET_PREEMPTIONS] = (double)all.ru_nivcsw;
		it.metrics[DUET_BLOCKS_READ] = (double)all.ru_inblock;
		it.metrics[DUET_BLOCKS_WRITTEN] = (double)all.ru_oublock;
	}
	return it;
}

/* The jobs of the current run. */
struct stage {
	struct duet_exec *e;
	const struct duet_task *task;
	struct duet_run *run;
	struct job *jobs[DUET_SIDES]; /* NULL: not running */
	int64_t until_ns[DUET_SIDES];
	struct sonde_err *err;
};

static int prepare(struct stage *s, enum duet_side side)
{
	return duet_exec_hook(s->e, side, "prepare", s->e->prepare[s->task->is_aa ? DUET_A : side], s->err);
}

static int start(struct stage *s, enum duet_side side, const cpu_set_t *cpus)
{
	int rc = duet_exec_start(s->e, side, s->task->is_aa, cpus, NULL, 0, NULL, &s->jobs[side], s->err);

	if (!rc)
		s->until_ns[side] = s->e->timeout_ns ? job_start_ns(s->jobs[side]) + s->e->timeout_ns : INT64_MAX;
	return rc;
}

int duet_wait_job(struct job *job, int interrupt_fd, int64_t until_ns, struct sonde_err *err)
{
	struct pollfd fds[] = { { .fd = interrupt_fd, .events = POLLIN }, { .fd = job_pidfd(job), .events = POLLIN } };
	int n;

	do
		n = poll(fds, 2, duet_poll_ms(until_ns));
	while (n < 0 && errno == EINTR);
	if (n > 0 && fds[0].revents)
		return err_set(err, EINTR, "interrupted");
	return job_wait(job, until_ns, err);
}

int duet_exec_hook(struct duet_exec *e, enum duet_side side, const char *option, const char *command,
		struct sonde_err *err)
{
	static char flag[] = "-c";
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	char *argv[SHELL_WORDS_MAX + 3] = { NULL };
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	size_t n = 0;
	int rc;

	if (!command)
		return 0;
	for (; n < SHELL_WORDS_MAX && e->shell[n]; n++)
		argv[n] = e->shell[n];
	argv[n++] = flag;
	argv[n] = arena_strdup(&arena, command);
	if (!argv[n])
		return err_sys(err, ENOMEM, "cannot run the command of --%s", option);
	spec.argv = argv;
	spec.cwd = e->commands[side].cwd;
	spec.interrupt_fd = e->interrupt_fd;
	spec.fds[1] = e->has_output ? STDERR_FILENO : JOB_FD_NULL;
	rc = job_start(&job, &spec, err);
	if (!rc)
		rc = duet_wait_job(job, e->interrupt_fd, e->timeout_ns ? clock_mono_ns() + e->timeout_ns : INT64_MAX,
				err);
	if (rc && rc != -EINTR)
		err_prefix(err, "--%s", option);
	if (!rc && job_status(job)) {
		rc = err_set(err, ECHILD, "the command of --%s failed: %s", option, command);
		err_hint(err, "append '|| true' to it if that does not matter");
	}
	job_free(job);
	return rc;
}

/* Records the iteration of a job that has ended, and removes the job and its processes. */
static int collect(struct stage *s, enum duet_side side)
{
	struct job *job = s->jobs[side];
	struct duet_iteration it;
	int rc = job_wait(job, INT64_MAX, s->err);

	if (!rc)
		rc = duet_exec_check(s->e, side, job, s->err);
	if (rc)
		return rc;
	it = duet_exec_iteration(job);
	job_free(job);
	s->jobs[side] = NULL;
	rc = duet_samples_add(&s->run->sides[side], &it);
	if (rc)
		return err_sys(s->err, -rc, "cannot keep an iteration");
	return duet_exec_hook(s->e, side, "conclude", s->e->conclude[s->task->is_aa ? DUET_A : side], s->err);
}

static int say_timeout(struct stage *s, enum duet_side side)
{
	static const struct job_ladder ladder = JOB_LADDER_USUAL;
	struct sonde_err ignored;

	job_end(s->jobs[side], &ladder, &ignored);
	err_set(s->err, ETIMEDOUT, "%c has not ended within %.1f s and was stopped", side_letters[side],
			(double)s->e->timeout_ns / 1e9);
	err_hint(s->err, "--timeout gives it more");
	return -ETIMEDOUT;
}

int duet_poll_ms(int64_t until_ns)
{
	int64_t left = until_ns - clock_mono_ns();

	if (until_ns == INT64_MAX)
		return -1;
	if (left <= 0)
		return 0;
	return left / 1000000 >= INT32_MAX ? INT32_MAX : (int)(left / 1000000 + 1);
}

/* Waits until a job has ended and collects all that have. */
static int wait_any(struct stage *s)
{
	struct pollfd fds[3] = { { .fd = s->e->interrupt_fd, .events = POLLIN } };
	int64_t earliest = INT64_MAX;
	int rc = 0, n;

	for (size_t side = 0; side < DUET_SIDES; side++) {
		fds[1 + side] = (struct pollfd){ .fd = s->jobs[side] ? job_pidfd(s->jobs[side]) : -1,
			.events = POLLIN };
		if (s->jobs[side] && s->until_ns[side] < earliest)
			earliest = s->until_ns[side];
	}
	n = poll(fds, 3, duet_poll_ms(earliest));
	if (n < 0 && errno != EINTR)
		return err_sys(s->err, errno, "cannot wait for the commands");
	if (n > 0 && fds[0].revents)
		return err_set(s->err, EINTR, "interrupted");
	for (size_t side = 0; n > 0 && side < DUET_SIDES && !rc; side++)
		if (fds[1 + side].revents)
			rc = collect(s, (enum duet_side)side);
	for (size_t side = 0; n == 0 && side < DUET_SIDES && !rc; side++)
		if (s->jobs[side] && clock_mono_ns() >= s->until_ns[side])
			rc = say_timeout(s, (enum duet_side)side);
	return rc;
}

static int wait_all(struct stage *s)
{
	int rc = 0;

	while (!rc && (s->jobs[DUET_A] || s->jobs[DUET_B]))
		rc = wait_any(s);
	return rc;
}

static int take_turns(struct stage *s)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * s->task->turn_count && !rc; i++) {
		const struct duet_turn *turn = &s->task->turns[i / 2];
		enum duet_side side = (i % 2 == 0) == turn->is_first_b ? DUET_B : DUET_A;

		rc = prepare(s, side);
		if (!rc)
			rc = start(s, side, NULL);
		if (!rc)
			rc = wait_all(s);
	}
	return rc;
}

static int start_both(struct stage *s, const struct duet_turn *turn)
{
	enum duet_side first = turn->is_first_b ? DUET_B : DUET_A, second = DUET_B - first;
	int rc = prepare(s, first);

	if (!rc)
		rc = prepare(s, second);
	if (!rc)
		rc = start(s, first, duet_exec_cpus(s->e, first, turn));
	return rc ? rc : start(s, second, duet_exec_cpus(s->e, second, turn));
}

static int run_in_step(struct stage *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->task->turn_count && !rc; i++) {
		rc = start_both(s, &s->task->turns[i]);
		if (!rc)
			rc = wait_all(s);
	}
	return rc;
}

/* Both sides continue until each has its iterations, so that only the last ones run alone. */
static int run_freely(struct stage *s)
{
	const struct duet_samples *sides = s->run->sides;
	size_t enough = s->task->turn_count;
	int rc = start_both(s, &s->task->turns[0]);

	while (!rc && (sides[DUET_A].count < enough || sides[DUET_B].count < enough)) {
		rc = wait_any(s);
		for (int side = 0; side < DUET_SIDES && !rc; side++) {
			if (s->jobs[side] || (sides[DUET_A].count >= enough && sides[DUET_B].count >= enough))
				continue;
			rc = prepare(s, (enum duet_side)side);
			if (!rc)
				rc = start(s, (enum duet_side)side,
						duet_exec_cpus(s->e, (enum duet_side)side, &s->task->turns[0]));
		}
	}
	return rc ? rc : wait_all(s);
}

static int (*const stagings[])(struct stage *) = {
	[DUET_SEQ] = take_turns,
	[DUET_RMIT] = take_turns,
	[DUET_SYNC] = run_in_step,
	[DUET_ASYNC] = run_freely,
};

static int run(void *self, const struct duet_task *task, struct duet_run *out, struct sonde_err *err)
{
	struct stage s = { .e = self, .task = task, .run = out, .err = err };
	int rc;

	out->start_ns = clock_mono_ns();
	rc = stagings[task->design](&s);
	for (size_t side = 0; side < DUET_SIDES; side++)
		job_free(s.jobs[side]);
	out->end_ns = clock_mono_ns();
	return rc;
}

static int64_t now_ns(void *self)
{
	return clock_mono_ns();
}

struct duet_runner duet_exec_runner(struct duet_exec *e)
{
	return (struct duet_runner){ .self = e, .now_ns = now_ns, .run = run };
}
