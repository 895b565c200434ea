/* Jobs: start, and messages from the supervisor. The end is in job-end.c. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/job-private.h"
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The environment of a command. */

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static bool has_name(const char *entry, const char *change)
{
	size_t n = name_length(change);
	return name_length(entry) == n && !strncmp(entry, change, n);
}

static bool is_changed(const char *entry, const char *const *changes)
{
	for (; *changes; changes++)
		if (has_name(entry, *changes))
			return true;
	return false;
}

char **environment_with(const char *const *changes)
{
	static const char *const none[] = { NULL };
	size_t count = 0, n = 0;
	if (!changes)
		changes = none;
	while (environ && environ[count])
		count++;
	for (size_t i = 0; changes[i]; i++)
		count++;
	char **out = calloc(count + 1, sizeof(*out));
	if (!out)
		return NULL;
	for (size_t i = 0; environ && environ[i]; i++)
		if (!is_changed(environ[i], changes))
			out[n++] = environ[i];
	for (size_t i = 0; changes[i]; i++)
		if (changes[i][name_length(changes[i])] == '=' && !is_changed(changes[i], changes + i + 1))
			out[n++] = (char *)(uintptr_t)changes[i];
	return out;
}

/* Jobs. */

const struct isolation_ops isolation_process = { 0 };

static const struct isolation_ops *ops_of(const struct job_isolation *place)
{
	static const struct isolation_ops *const all[] = {
		[JOB_PROCESS] = &isolation_process,
		[JOB_CGROUP] = &isolation_cgroup,
		[JOB_SANDBOX] = &isolation_sandbox,
		[JOB_CONTAINER] = &isolation_container,
	};
	return place ? all[place->kind] : &isolation_process;
}

int job_isolation_check(const struct job_isolation *place, struct sonde_err *err)
{
	const struct isolation_ops *ops = ops_of(place);
	if (place && place->kind == JOB_PROCESS && job_has_limits(&place->limits)) {
		int rc = err_set(err, ENOTSUP, "a plain process has no limits");
		err_hint(err, "limits need a control group, a sandbox or a container");
		return rc;
	}
	return ops->check ? ops->check(place, err) : 0;
}

static int64_t ns_of(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

void job_read_messages(struct job *j)
{
	struct supervisor_message word;
	int fd, rc = 1;
	while (!j->is_gone && !j->is_lost && (rc = supervisor_receive(j->sock, &word, &fd)) > 0) {
		j->rusage = word.usage;
		j->usage.user_ns = ns_of(word.usage.ru_utime);
		j->usage.system_ns = ns_of(word.usage.ru_stime);
		j->usage.max_rss_bytes = word.max_rss_bytes;
		if (word.kind == SUPERVISOR_ENDED) {
			j->has_ended = true;
			j->status = word.status;
			j->is_overdue = word.is_overdue;
			j->end_ns = word.at_ns;
		} else if (word.kind == SUPERVISOR_STUCK) {
			j->stuck = word.pid;
		} else if (word.kind == SUPERVISOR_GONE) {
			j->is_gone = true;
		}
		if (fd >= 0)
			close(fd);
	}
	if (!rc && !j->is_gone)
		j->is_lost = true;
}

int job_lost(const struct job *j, struct sonde_err *err)
{
	return err_set(err, ECHILD, "the supervisor of '%s' was killed: its exit status is unknown", j->program);
}

static int wait_ms(int64_t until_ns)
{
	int64_t left_ns = until_ns == INT64_MAX ? INT64_MAX : until_ns - clock_mono_ns();
	if (until_ns == INT64_MAX)
		return -1;
	return left_ns <= 0 ? 0 : left_ns > 1000000000000 ? 1000000 : (int)((left_ns + 999999) / 1000000);
}

bool job_await(const struct job *j, int pidfd, int64_t until_ns)
{
	struct pollfd fds[] = { { .fd = j->sock, .events = POLLIN }, { .fd = pidfd, .events = POLLIN } };
	for (;;) {
		int n = poll(fds, 2, wait_ms(until_ns));
		if (n > 0)
			return true;
		if ((!n && clock_mono_ns() >= until_ns) || (n < 0 && errno != EINTR))
			return false;
	}
}
static int start_failed(const struct job_spec *spec, const struct supervisor_message *w, struct sonde_err *err)
{
	if (w->kind != SUPERVISOR_FAILED)
		return err_set(err, ECHILD, "the keeper of '%s' was killed", spec->argv[0]);
	if (w->stage == SUPERVISOR_AT_EXEC)
		return launch_cannot_execute(spec->argv[0], w->errnum, err);
	if (w->stage == SUPERVISOR_AT_CWD)
		err_sys(err, w->errnum, "cannot enter the directory '%s'", spec->cwd);
	else
		err_sys(err, w->errnum, "%s", supervisor_stage_words(w->stage));
	if (w->stage >= SUPERVISOR_AT_SANDBOX && geteuid())
		err_hint(err, "run as root: an ordinary user's namespace may not have it here");
	return w->errnum == ENOENT || w->errnum == EACCES ? -EIO : -w->errnum; /* not the command's failure */
}

/* The supervisor of a sandbox has its own pid namespace: translate its pids to ours. */
static pid_t pid_of_pidfd(int pidfd)
{
	char path[64];
	int pid = 0;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (pidfd < 0 || fs_read_file(AT_FDCWD, path, 4096, &text, NULL))
		return 0;
	const char *line = strstr(text.data, "Pid:");
	return line && sscanf(line, "Pid: %d", &pid) == 1 && pid > 0 ? pid : 0;
}

static int read_first(const struct job *j, struct supervisor_message *word, int *fd)
{
	int rc;
	while ((rc = supervisor_receive(j->sock, word, fd)) == -EAGAIN)
		job_await(j, -1, INT64_MAX);
	return rc;
}

/* The command exists and waits: an observer of its first instruction attaches now. */
static int pass_start_barrier(struct job *j, const struct job_spec *spec, const struct supervisor_plan *plan,
		struct supervisor_message *word)
{
	spec->ready(spec->ready_arg, plan->sandbox ? pid_of_pidfd(j->pidfd) : word->pid);
	close(j->pidfd);
	supervisor_open_barrier(j->sock);
	return read_first(j, word, &j->pidfd);
}

/* Starts the supervisor and waits for its message that the command runs. */
static int fork_supervisor(struct job *j, const struct job_spec *spec, const struct supervisor_plan *plan,
		struct sonde_err *err)
{
	struct supervisor_message word = { .kind = -1 };
	int rc = supervisor_start(plan, &j->sock, &j->supervisor_pidfd, &j->supervisor);
	if (rc)
		return err_sys(err, -rc, "cannot start a process");
	rc = read_first(j, &word, &j->pidfd);
	if (rc > 0 && word.kind == SUPERVISOR_BORN)
		rc = pass_start_barrier(j, spec, plan, &word);
	if (rc <= 0 || word.kind != SUPERVISOR_STARTED)
		return start_failed(spec, &word, err);
	j->inner_pid = word.pid;
	j->pid = plan->sandbox ? pid_of_pidfd(j->pidfd) : word.pid;
	j->start_ns = word.at_ns;
	return j->pidfd < 0 ? err_set(err, EMFILE, "cannot watch process %d: too many open files", (int)j->pid) : 0;
}

static int plan_streams(const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	for (int i = 0; i < 3; i++) {
		if (spec->fds[i] < JOB_FD_OURS)
			return err_set(err, EINVAL, "invalid descriptor %d", spec->fds[i]);
		plan->fds[i] = spec->fds[i] == JOB_FD_OURS ? i : spec->fds[i];
	}
	return 0;
}

static int prepare(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	j->envp = environment_with(spec->env);
	j->program = strdup(spec->argv[0]);
	if (!j->envp || !j->program)
		return err_sys(err, ENOMEM, "cannot start '%s'", spec->argv[0]);
	plan->envp = j->envp;
	int rc = plan_streams(spec, plan, err);
	if (!rc && j->ops == ops_of(spec->place))
		rc = job_isolation_check(spec->place, err);
	if (!rc && j->ops->prepare)
		rc = j->ops->prepare(j, spec, plan, err);
	return rc;
}

int job_start_at(struct job **out, const struct job_spec *spec, const struct isolation_ops *ops, struct sonde_err *err)
{
	struct job *j = calloc(1, sizeof(*j));
	if (!j)
		return err_sys(err, ENOMEM, "cannot start '%s'", spec->argv[0]);
	j->ops = ops;
	j->sock = j->supervisor_pidfd = j->pidfd = j->status = -1;
	j->usage = (struct job_usage){ -1, -1, -1, -1, -1 };
	struct supervisor_plan plan = { .argv = spec->argv,
		.cwd = spec->cwd,
		.inherit = spec->inherit,
		.inherit_count = spec->inherit_count,
		.cpus = spec->cpus,
		.has_priority = spec->has_priority,
		.is_foreground = spec->is_foreground,
		.is_bound = !spec->is_foreground || spec->is_bound,
		.mercy_ns = spec->mercy_ns,
		.restore = spec->restore,
		.restore_arg = spec->restore_arg,
		.has_start_barrier = spec->ready,
		.cgroup_fd = -1 };
	j->is_bound = plan.is_bound;
	j->meanwhile = spec->meanwhile;
	j->interrupt_fd = spec->interrupt_fd;
	j->met = spec->met;
	j->meanwhile_arg = spec->ready_arg;
	int rc = prepare(j, spec, &plan, err);
	if (!rc)
		rc = fork_supervisor(j, spec, &plan, err);
	if (!rc && j->ops->started)
		rc = j->ops->started(j, err);
	if (rc) {
		job_free(j);
		return rc;
	}
	*out = j;
	return 0;
}

int job_start(struct job **out, const struct job_spec *spec, struct sonde_err *err)
{
	return job_start_at(out, spec, ops_of(spec->place), err);
}

pid_t job_pid(const struct job *j)
{
	return j->pid;
}

pid_t job_inner_pid(const struct job *j)
{
	return j->inner_pid;
}

int job_pidfd(const struct job *j)
{
	return j->pidfd;
}

int64_t job_start_ns(const struct job *j)
{
	return j->start_ns;
}

int job_wait(struct job *j, int64_t until_ns, struct sonde_err *err)
{
	struct pollfd ended = { .fd = j->pidfd, .events = POLLIN };
	for (;;) {
		job_read_messages(j);
		if (j->has_ended)
			return 0;
		if (j->is_lost)
			return job_lost(j, err);
		/*
		 * Once the command is dead, the message about it is under way: this wait does not count against the
		 * timeout.
		 */
		bool is_dead = poll(&ended, 1, 0) > 0;
		if (!job_await(j, is_dead ? -1 : j->pidfd, is_dead ? INT64_MAX : until_ns))
			return err_set(err, ETIMEDOUT, "'%s' has not ended in time", j->program);
	}
}

bool job_has_ended(const struct job *j)
{
	struct pollfd ended = { .fd = j->pidfd, .events = POLLIN };
	return j->has_ended || poll(&ended, 1, 0) > 0;
}

int job_status(const struct job *j)
{
	return j->status;
}

void job_usage(const struct job *j, struct job_usage *usage)
{
	*usage = j->usage;
	usage->wall_ns = (j->has_ended ? j->end_ns : clock_mono_ns()) - j->start_ns;
	if (j->ops->usage)
		j->ops->usage(j, usage);
}

void job_poll(struct job *j)
{
	if (j->ops->look && j->place)
		j->ops->look(j);
}

bool job_rusage(const struct job *j, struct rusage *usage)
{
	if (j->is_client) {
		/* For a container only the values of its cgroup are known. */
		struct job_usage u;
		job_usage(j, &u);
		*usage = (struct rusage){ .ru_utime = { u.user_ns / 1000000000, u.user_ns % 1000000000 / 1000 },
			.ru_stime = { u.system_ns / 1000000000, u.system_ns % 1000000000 / 1000 },
			.ru_maxrss = u.max_rss_bytes > 0 ? u.max_rss_bytes / 1024 : -1,
			.ru_minflt = -1,
			.ru_majflt = -1,
			.ru_nvcsw = -1,
			.ru_nivcsw = -1,
			.ru_inblock = -1,
			.ru_oublock = -1 };
		return j->has_ended && u.user_ns >= 0 && u.system_ns >= 0;
	}
	*usage = j->rusage;
	return j->has_ended;
}

bool job_is_client(const struct job *j)
{
	return j->is_client;
}

int job_set_deadline(struct job *j, int64_t deadline_ns, struct sonde_err *err)
{
	int rc;
	job_read_messages(j);
	if (j->is_gone)
		return 0;
	rc = j->is_lost ? -ECHILD : supervisor_set_deadline(j->sock, deadline_ns);
	return rc ? job_lost(j, err) : 0;
}

bool job_is_overdue(const struct job *j)
{
	return j->is_overdue;
}
