#include "fleet/agent.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "fleet/lease.h"
#include "fleet/reports.h"
#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#define SECOND_NS INT64_C(1000000000)

enum { TAKE_MS = 300, TICK_MS = 100, LOG_CHUNK = 64 << 10, REPORTS_CHUNK_MAX = 1 << 20 };

struct agent {
	struct fleet_link *link;
	struct fleet_queue *queue;
	const char *name;
	const volatile sig_atomic_t *is_stopped;
	int64_t beat_ns; /* last heartbeat */
};

/* Why a job's command is no longer waited for. */
enum verdict {
	GOING_ON,
	ENDED,    /* by itself, or by us at somebody's word: its end is told */
	LOST,     /* the lease is gone: say nothing */
	RETURNED, /* we are to stop: the queue gets it back */
};

/* One job that runs. */
struct running {
	struct agent *agent;
	struct fleet_lease *lease;
	struct job *job;
	const char *id;
	uint64_t epoch, seen; /* seen: last event that was looked at */
	int out_fd, report_fd;
	struct buf log;
	struct fleet_reports reports;
	int64_t renew_ns, send_ns, stop_ns; /* stop_ns: when it was asked to stop; 0: it was not */
	uint64_t dropped_bytes;             /* of its output, for want of a server */
};

static void beat(struct agent *a, const char *job, const char *state)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct sysinfo info;
	struct json j;

	if (clock_mono_ns() - a->beat_ns < SECOND_NS && strcmp(state, "gone") != 0)
		return;
	a->beat_ns = clock_mono_ns();
	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "agent", a->name);
	json_kstr(&j, "state", state);
	json_kstr(&j, "job", job);
	json_kint(&j, "pid", getpid());
	json_kint(&j, "cpus", get_nprocs());
	if (sysinfo(&info) == 0)
		json_kuint(&j, "memory_bytes", (uint64_t)info.totalram * info.mem_unit);
	json_end(&j);
	fleet_link_beat(a->link, a->name, text.data, NULL);
}

/* What arrived on a descriptor that does not block, into out. */
static bool read_some(int fd, struct buf *out)
{
	char *room = buf_room(out, LOG_CHUNK);
	ssize_t n = room ? read(fd, room, LOG_CHUNK) : -1;

	if (n > 0)
		out->len += (size_t)n;
	return n > 0;
}

static void send_log(struct running *r)
{
	if (!r->log.len)
		return;
	if (fleet_link_log(r->agent->link, r->id, r->epoch, r->log.data, r->log.len, NULL) < 0)
		r->dropped_bytes += r->log.len;
	buf_reset(&r->log);
}

/* Reports that cannot be told stay for the next time; there is a limit to how many. */
static void send_reports(struct running *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!r->reports.count)
		return;
	fleet_reports_event(&r->reports, r->epoch, &text);
	if (buf_error(&text) == 0 && fleet_link_tell(r->agent->link, r->id, "report", text.data, NULL, NULL, NULL) == 0)
		r->reports.count = 0;
}

static void send_batches(struct running *r)
{
	send_log(r);
	send_reports(r);
	r->send_ns = clock_mono_ns();
}

static void collect(struct running *r)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;

	if (read_some(r->out_fd, &r->log) && r->log.len >= LOG_CHUNK)
		send_log(r);
	while (read_some(r->report_fd, &lines) && lines.len < REPORTS_CHUNK_MAX)
		;
	if (lines.len)
		fleet_reports_take(&r->reports, lines.data, lines.len, clock_mono_ns() - job_start_ns(r->job));
}

static void end_tree(struct running *r)
{
	int64_t patience_ns = fleet_queue_lease_ns(r->agent->queue) / 3;
	struct job_ladder ladder = { .terminate_ns = patience_ns < 3 * SECOND_NS ? patience_ns : 3 * SECOND_NS };

	fleet_lease_renew(r->lease, NULL);
	job_end(r->job, &ladder, NULL);
}

/* Has somebody said something about the job? */
static enum verdict look_for_news(struct running *r)
{
	struct fleet_ledger ledger;
	const struct fleet_job *job;
	enum verdict verdict = GOING_ON;
	uint64_t last;

	if (fleet_link_last(r->agent->link, r->id, &last, NULL) < 0 || last == r->seen)
		return GOING_ON;
	fleet_ledger_init(&ledger);
	if (fleet_link_fold(r->agent->link, r->id, false, &ledger, NULL) == 0 &&
			(job = fleet_ledger_find(&ledger, r->id)) != NULL) {
		r->seen = last;
		if (job->epoch != r->epoch || fleet_job_has_ended(job))
			verdict = LOST;
		else if (job->stop == FLEET_STOP_CANCEL)
			verdict = ENDED;
		else if (job->stop == FLEET_STOP_TARGET && !r->stop_ns) {
			r->stop_ns = clock_mono_ns();
			(void)!send(r->report_fd, "stop\n", 5, MSG_DONTWAIT | MSG_NOSIGNAL);
		}
	}
	fleet_ledger_release(&ledger);
	return verdict;
}

static enum verdict tick(struct running *r)
{
	int64_t now_ns = clock_mono_ns(), lease_ns = fleet_queue_lease_ns(r->agent->queue);

	if (*r->agent->is_stopped)
		return RETURNED;
	if (now_ns - r->renew_ns >= lease_ns / 4) {
		r->renew_ns = now_ns;
		fleet_lease_renew(r->lease, NULL);
		beat(r->agent, r->id, "busy");
	}
	if (!fleet_lease_is_held(r->lease))
		return LOST;
	if (now_ns - r->send_ns >= SECOND_NS / 5) {
		enum verdict verdict = look_for_news(r);

		send_batches(r);
		if (verdict != GOING_ON)
			return verdict;
	}
	return r->stop_ns && now_ns - r->stop_ns > 10 * SECOND_NS ? ENDED : GOING_ON;
}

static enum verdict attend(struct running *r)
{
	enum verdict verdict = GOING_ON;

	while (verdict == GOING_ON) {
		struct pollfd fds[] = { { job_pidfd(r->job), POLLIN, 0 }, { r->out_fd, POLLIN, 0 },
			{ r->report_fd, POLLIN, 0 } };

		poll(fds, 3, TICK_MS);
		collect(r);
		if (job_wait(r->job, clock_mono_ns(), NULL) == 0)
			return ENDED;
		/* An end of file is always ready: without this we would spin until the command ends. */
		if ((fds[1].revents | fds[2].revents) & POLLHUP)
			poll(fds, 1, TICK_MS / 4);
		verdict = tick(r);
	}
	return verdict;
}

static int exit_code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Tell the end for as long as we may: what cannot be told is done again by the next. */
static int tell_end(struct agent *a, struct fleet_lease *lease, uint64_t epoch, int exit_code, const char *why)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *id = fleet_lease_job(lease);
	struct json j;
	char key[32];
	int rc;

	snprintf(key, sizeof(key), "end-%llu", (unsigned long long)epoch);
	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "event", "end");
	json_kuint(&j, "epoch", epoch);
	json_kint(&j, "exit_code", exit_code);
	if (why)
		json_kstr(&j, "why", why);
	json_kint(&j, "time_ns", clock_real_ns());
	json_end(&j);
	do {
		fleet_lease_renew(lease, NULL);
		rc = fleet_link_tell(a->link, id, "event", text.data, key, NULL, NULL);
	} while (rc < 0 && fleet_lease_is_held(lease) && !*a->is_stopped);
	return rc < 0 ? rc : fleet_lease_settle(lease, NULL);
}

static void finish(struct running *r, enum verdict verdict)
{
	static const struct job_ladder at_once = JOB_LADDER_KILL;
	CLEANUP(buf_release) struct buf why = BUF_INIT;

	if (verdict == LOST)
		job_end(r->job, &at_once, NULL);
	else
		end_tree(r); /* stragglers too */
	if (verdict == RETURNED)
		fleet_lease_return(r->lease);
	if (verdict != ENDED)
		return;
	while (read_some(r->out_fd, &r->log) && r->log.len < BUF_MAX_DEFAULT / 2)
		if (r->log.len >= LOG_CHUNK)
			send_log(r);
	collect(r);
	send_batches(r);
	if (r->dropped_bytes)
		buf_addf(&why, "%llu bytes of its output were lost while the server was away",
				(unsigned long long)r->dropped_bytes);
	tell_end(r->agent, r->lease, r->epoch, exit_code_of(job_status(r->job)), why.len ? why.data : NULL);
}

static int start(struct running *r, const struct fleet_job *job, int out_fd, int report_fd, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf id = BUF_INIT;
	char epoch[64], fd[64];
	const char *env[FLEET_ARGS_MAX + 4] = { NULL };
	struct job_spec spec = JOB_SPEC_INIT;
	size_t n = 0;

	while (job->env[n]) {
		env[n] = job->env[n];
		n++;
	}
	buf_addf(&id, "SONDE_JOB_ID=%s", job->id);
	snprintf(epoch, sizeof(epoch), "SONDE_JOB_EPOCH=%llu", (unsigned long long)r->epoch);
	snprintf(fd, sizeof(fd), "SONDE_JOB_FD=%d", report_fd);
	env[n++] = id.data;
	env[n++] = epoch;
	env[n] = fd;
	spec.argv = job->argv;
	spec.env = env;
	spec.cwd = job->cwd;
	spec.fds[1] = spec.fds[2] = out_fd;
	spec.inherit = &report_fd;
	spec.inherit_count = 1;
	return job_start(&r->job, &spec, err);
}

static int make_streams(int out[2], int report[2])
{
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) < 0) {
		int rc = -errno;

		close(out[0]);
		close(out[1]);
		return rc;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(report[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* The command, from start to end; it is ours by the claim `epoch`. */
static void run_job(struct agent *a, struct fleet_lease *lease, const struct fleet_job *job, uint64_t epoch)
{
	struct running r = { .agent = a,
		.lease = lease,
		.id = job->id,
		.epoch = epoch,
		.seen = epoch,
		.log = BUF_INIT };
	struct sonde_err err = SONDE_ERR_INIT;
	int out[2], report[2], rc = make_streams(out, report);

	if (rc < 0) {
		fleet_lease_return(lease);
		return;
	}
	rc = start(&r, job, out[1], report[1], &err);
	close(out[1]);
	close(report[1]);
	r.out_fd = out[0];
	r.report_fd = report[0];
	if (rc < 0)
		tell_end(a, lease, epoch, rc == -ENOENT ? 127 : 126, err.text);
	else
		finish(&r, attend(&r));
	job_free(r.job);
	close(out[0]);
	close(report[0]);
	buf_release(&r.log);
	fleet_reports_release(&r.reports);
}

static int claim(struct agent *a, const char *id, uint64_t *epoch)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "event", "claim");
	json_kstr(&j, "agent", a->name);
	json_kint(&j, "time_ns", clock_real_ns());
	json_end(&j);
	return fleet_link_tell(a->link, id, "event", text.data, NULL, epoch, NULL);
}

static void handle(struct agent *a, struct fleet_lease *lease)
{
	const char *id = fleet_lease_job(lease);
	const struct fleet_job *job;
	struct fleet_ledger ledger;
	uint64_t epoch;

	fleet_ledger_init(&ledger);
	if (fleet_lease_renew(lease, NULL) < 0 || fleet_link_fold(a->link, id, false, &ledger, NULL) < 0) {
		fleet_ledger_release(&ledger);
		return; /* it is delivered again */
	}
	job = fleet_ledger_find(&ledger, id);
	if (!job || fleet_job_has_ended(job))
		fleet_lease_settle(lease, NULL);
	else if (claim(a, id, &epoch) < 0)
		fleet_lease_return(lease);
	else if (job->attempts >= FLEET_ATTEMPTS_MAX)
		tell_end(a, lease, epoch, -1, "its agents were lost as often as is tried");
	else
		run_job(a, lease, job, epoch);
	fleet_ledger_release(&ledger);
}

/* The queue is there when the monitor has made it. */
static int wait_for_queue(struct agent *a, struct sonde_err *err)
{
	int rc = 0;

	while (!a->queue && !*a->is_stopped) {
		rc = fleet_queue_open(&a->queue, a->link, err);
		if (rc == -ENOMEM)
			return rc;
		if (rc < 0)
			poll(NULL, 0, TICK_MS);
	}
	return 0;
}

int fleet_agent_run(struct fleet_link *link, const char *name, const volatile sig_atomic_t *is_stopped,
		struct sonde_err *err)
{
	struct agent a = { .link = link, .name = name, .is_stopped = is_stopped, .beat_ns = -SECOND_NS };
	int rc = wait_for_queue(&a, err);

	while (rc >= 0 && !*is_stopped) {
		struct fleet_lease *lease = NULL;

		beat(&a, NULL, "idle");
		if (fleet_queue_take(a.queue, TAKE_MS, &lease, err) < 0)
			poll(NULL, 0, TICK_MS); /* the server is away */
		if (lease)
			handle(&a, lease);
		fleet_lease_free(lease);
	}
	if (a.queue)
		beat(&a, NULL, "gone");
	fleet_queue_free(a.queue);
	return rc;
}
