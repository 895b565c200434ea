#include "fleet/agent.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "fleet/job-decisions.h"
#include "fleet/reports.h"
#include "fleet/submission.h"
#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECOND_NS INT64_C(1000000000)

enum { TICK_MS = 100, REPORTS_CHUNK_MAX = 1 << 20, READ_BYTES = 64 << 10, WORDS_HELD_MAX = 64 << 10 };

/* Why a job's command is no longer waited for. */
enum verdict {
	GOING_ON,
	ENDED,    /* it exited, or the agent stopped it on request: its end is reported */
	LOST,     /* the lease is lost: report nothing */
	RETURNED, /* the agent is stopping: the job goes back to the queue */
};

/* A running job. */
struct running {
	struct agent *agent;
	struct fleet_lease *lease;
	struct job *job;
	const char *id;
	uint64_t epoch, seen; /* seen: last event that was processed */
	int out_fd, report_fd;
	struct fleet_batches batches;
	struct tempdir work;                /* of a job with uploaded files */
	struct fleet_knobs *knobs;          /* NULL: not watched yet */
	struct buf words;                   /* lines queued for the command */
	int64_t renew_ns, send_ns, stop_ns; /* stop_ns: when it was asked to stop; 0: it was not */
	bool is_cut;                        /* the last renewal failed: the server is unreachable */
};

static void send_batches(struct running *r)
{
	fleet_batches_send(&r->batches, r->agent->client, r->id, r->epoch);
	r->send_ns = clock_mono_ns();
}

static void collect_reports(struct running *r)
{
	char bytes[READ_BYTES];
	size_t taken = 0;
	ssize_t n;

	while (taken < REPORTS_CHUNK_MAX && (n = read(r->report_fd, bytes, sizeof(bytes))) > 0) {
		fleet_reports_consume(&r->batches.reports, bytes, (size_t)n, clock_mono_ns() - job_start_ns(r->job));
		taken += (size_t)n;
	}
}

/* The supervisor kills the process tree when the lease expires, even if the agent hangs. */
static int renew(struct running *r)
{
	int rc = fleet_lease_renew(r->lease, NULL);

	r->renew_ns = clock_mono_ns();
	r->is_cut = rc < 0;
	if (rc == 0)
		job_set_deadline(r->job, fleet_lease_end_ns(r->lease), NULL);
	return rc;
}

/* Checks for new events of the job. */
static enum verdict poll_job(struct running *r)
{
	struct fleet_jobs jobs_state;
	const struct fleet_job *job;
	enum verdict verdict = GOING_ON;
	uint64_t last;

	if (fleet_client_last(r->agent->client, r->id, &last, NULL) < 0 || last == r->seen)
		return GOING_ON;
	fleet_jobs_init(&jobs_state);
	if (fleet_client_fold(r->agent->client, r->id, false, &jobs_state, NULL) == 0 &&
			(job = fleet_jobs_find(&jobs_state, r->id)) != NULL) {
		r->seen = last;
		if (job->epoch != r->epoch || fleet_job_has_ended(job))
			verdict = LOST;
		else if (job->stop == FLEET_STOP_CANCEL)
			verdict = ENDED;
		else if (job->stop == FLEET_STOP_TARGET && !r->stop_ns) {
			r->stop_ns = clock_mono_ns();
			buf_adds(&r->words, "stop\n");
		}
	}
	fleet_jobs_release(&jobs_state);
	return verdict;
}

static enum verdict tick(struct running *r)
{
	int64_t now_ns = clock_mono_ns(), lease_ns = fleet_queue_lease_ns(r->agent->queue);
	enum verdict verdict = GOING_ON;

	if (*r->agent->o->is_stopped)
		return RETURNED;
	if (now_ns - r->renew_ns >= lease_ns / (r->is_cut ? 12 : 4))
		renew(r);
	if (!fleet_lease_is_held(r->lease))
		return LOST;
	if (r->stop_ns && now_ns - r->stop_ns > 10 * SECOND_NS)
		return ENDED;
	if (!r->is_cut && now_ns - r->send_ns >= SECOND_NS / 5) {
		ssize_t n;

		verdict = poll_job(r);
		/* Knob changes and other lines for the command; a command that does not read blocks nothing. */
		if (!r->knobs)
			fleet_knobs_watch(&r->knobs, r->agent->client, r->id, NULL);
		if (r->knobs && r->words.len < WORDS_HELD_MAX)
			fleet_knobs_read(r->knobs, &r->words);
		n = r->words.len ? send(r->report_fd, r->words.data, r->words.len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
		if (n > 0) {
			r->words.len -= (size_t)n;
			memmove(r->words.data, r->words.data + n, r->words.len + 1);
		}
		send_batches(r);
		agent_beat(r->agent, r->id, "busy");
	}
	return verdict;
}

static enum verdict attend(struct running *r)
{
	enum verdict verdict = GOING_ON;

	while (verdict == GOING_ON) {
		struct pollfd fds[] = { { job_pidfd(r->job), POLLIN, 0 }, { r->out_fd, POLLIN, 0 },
			{ r->report_fd, POLLIN, 0 } };

		poll(fds, 3, TICK_MS);
		fleet_batches_read(&r->batches, r->out_fd);
		collect_reports(r);
		if (r->batches.log.len >= FLEET_LOG_CHUNK && !r->is_cut)
			send_batches(r);
		if (job_wait(r->job, clock_mono_ns(), NULL) != -ETIMEDOUT)
			/* A tree killed at the end of the lease did not exit by itself, even if renewed just then. */
			return fleet_lease_is_held(r->lease) && !job_is_overdue(r->job) ? ENDED : LOST;
		/* POLLHUP is always ready: without this the loop would spin until the command exits. */
		if ((fds[1].revents | fds[2].revents) & POLLHUP)
			poll(fds, 1, TICK_MS / 4);
		verdict = tick(r);
	}
	return verdict;
}

/* -1 if unknown: its supervisor was killed. */
static int exit_code_of(int status)
{
	if (status == -1)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* May a failed report be sent again? */
static bool may_retry(struct agent *a, struct fleet_lease *lease)
{
	poll(NULL, 0, TICK_MS);
	fleet_lease_renew(lease, NULL);
	return fleet_lease_is_held(lease) && !*a->o->is_stopped;
}

int agent_tell_end(struct agent *a, struct fleet_lease *lease, uint64_t epoch, int exit_code, const char *why)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
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
	do
		rc = fleet_client_publish(a->client, fleet_lease_job(lease), "event", text.data, key, NULL, NULL);
	while (rc < 0 && may_retry(a, lease));
	return rc < 0 ? rc : fleet_lease_ack(lease, NULL);
}

/* Pending output and reports must precede the end event: later they would be refused. */
static bool send_all(struct running *r)
{
	int rc;

	while (fleet_batches_read(&r->batches, r->out_fd))
		if (r->batches.log.len >= FLEET_LOG_CHUNK)
			send_batches(r);
	collect_reports(r);
	do
		rc = fleet_batches_send(&r->batches, r->agent->client, r->id, r->epoch);
	while (rc < 0 && may_retry(r->agent, r->lease));
	return rc == 0;
}

static void finish(struct running *r, enum verdict verdict)
{
	static const struct job_ladder at_once = JOB_LADDER_KILL;
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	int code;

	if (verdict == LOST)
		job_end(r->job, &at_once, NULL);
	else {
		int64_t patience_ns = fleet_queue_lease_ns(r->agent->queue) / 3;
		struct job_ladder ladder = { .terminate_ns = patience_ns < 3 * SECOND_NS ? patience_ns
											 : 3 * SECOND_NS };

		renew(r);
		job_end(r->job, &ladder, NULL); /* stragglers too */
	}
	if (verdict == RETURNED)
		fleet_lease_return(r->lease);
	if (verdict != ENDED || !send_all(r))
		return;
	code = exit_code_of(job_status(r->job));
	if (code < 0)
		buf_adds(&why, "its supervisor was killed; the exit status is unknown");
	if (r->batches.dropped_bytes)
		buf_addf(&why, "%s%llu bytes of output were lost while the server was unreachable", why.len ? "; " : "",
				(unsigned long long)r->batches.dropped_bytes);
	agent_tell_end(r->agent, r->lease, r->epoch, code, why.len ? why.data : NULL);
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
	spec.cwd = job->files ? r->work.path : job->cwd;
	spec.fds[1] = spec.fds[2] = out_fd;
	spec.inherit = &report_fd;
	spec.inherit_count = 1;
	return job_start(&r->job, &spec, err);
}

static int create_streams(int out[2], int report[2])
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

static void keep_lease(void *arg)
{
	struct running *r = arg;

	if (clock_mono_ns() - r->renew_ns >= fleet_queue_lease_ns(r->agent->queue) / 4) {
		fleet_lease_renew(r->lease, NULL);
		r->renew_ns = clock_mono_ns();
	}
}

/* Fetches the job's files into a private directory. Returns false if the job does not start, here or anywhere. */
static bool fetch_files(struct running *r, const struct fleet_job *job)
{
	struct fleet_files files = { .chunks = job->file_chunks };
	struct sonde_err err = SONDE_ERR_INIT;
	int rc;

	if (!job->files)
		return true;
	snprintf(files.hash, sizeof(files.hash), "%s", job->files);
	rc = fleet_work_open(&r->work, r->agent->client, &files, keep_lease, r, &err);
	if (rc == -ENOENT || rc == -EBADMSG)
		agent_tell_end(r->agent, r->lease, r->epoch, 126, err.text);
	else if (rc < 0)
		fleet_lease_return(r->lease);
	return rc == 0;
}

void agent_run_job(struct agent *a, struct fleet_lease *lease, const struct fleet_job *job, uint64_t epoch)
{
	struct running r = { .agent = a,
		.lease = lease,
		.id = job->id,
		.epoch = epoch,
		/* Events from before the claim also count, for example a stop: the first poll sees them. */
		.seen = 0,
		.batches = FLEET_BATCHES_INIT,
		.work = TEMPDIR_INIT,
		.words = BUF_INIT };
	struct sonde_err err = SONDE_ERR_INIT;
	int out[2], report[2], rc;

	if (!fetch_files(&r, job))
		return;
	rc = create_streams(out, report);
	if (rc < 0) {
		tempdir_release(&r.work);
		fleet_lease_return(lease);
		return;
	}
	rc = start(&r, job, out[1], report[1], &err);
	close(out[1]);
	close(report[1]);
	r.out_fd = out[0];
	r.report_fd = report[0];
	if (rc < 0) {
		agent_tell_end(a, lease, epoch, rc == -ENOENT ? 127 : 126, err.text);
	} else {
		job_set_deadline(r.job, fleet_lease_end_ns(lease), NULL);
		finish(&r, attend(&r));
	}
	job_free(r.job);
	close(out[0]);
	close(report[0]);
	tempdir_release(&r.work);
	fleet_knobs_free(r.knobs);
	buf_release(&r.words);
	fleet_batches_release(&r.batches);
}
