/*
 * job.h: for training programs in C and C++: say how far the training is, take up
 * other settings while it runs, learn when it is good enough. Header only; needs
 * no library.
 *
 *	struct sonde_job job;
 *
 *	sonde_job_open(&job);
 *	for (step = 0; step < steps; step++) {
 *		if (sonde_job_changed(&job))
 *			set_threads(sonde_job_int(&job, "threads", 1));
 *		loss = train(step);
 *		sonde_job_report(&job, step, loss, 0);
 *		if (sonde_job_should_stop(&job)) {
 *			save(job.directory);
 *			break;
 *		}
 *	}
 *
 * `sonde train` listens and decides; under a fleet without it, the agent does.
 * Elsewhere nothing happens: nobody is told, should_stop is false, settings have
 * their fallbacks. No call waits, prints or allocates.
 *
 * Roles: whoever calls sonde_job_open is the chief, who alone listens. A process that
 * sonde_job_fork makes has a role of its own; it may report, and learns settings
 * as they were when it was made. One thread at a time.
 */
#ifndef SONDE_JOB_H
#define SONDE_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SONDE_JOB_SETTINGS_BYTES = 4096 };

struct sonde_job {
	const char *id;        /* NULL: nobody listens */
	const char *directory; /* where a checkpoint is found again; NULL: nobody restarts the program */
	const char *role;      /* "chief", or what sonde_job_fork was given */
	int task;              /* number among those of the role */
	/* private */
	int fd;    /* -1: nobody listens */
	int index; /* of the configuration in force; -1: none was given */
	bool is_listener, is_stopped, is_changed;
	char settings[SONDE_JOB_SETTINGS_BYTES]; /* {"name":value,...} */
	char line[SONDE_JOB_SETTINGS_BYTES + 32];
	size_t len;
};

/* "stop" or "config INDEX JSON"; others are left alone. */
static inline void sonde_job_take_line_(struct sonde_job *j, const char *line)
{
	char *end;
	long index;

	if (strcmp(line, "stop") == 0)
		j->is_stopped = true;
	if (strncmp(line, "config ", 7) != 0)
		return;
	index = strtol(line + 7, &end, 10);
	if (end == line + 7 || *end != ' ' || strlen(end + 1) >= sizeof(j->settings))
		return;
	memcpy(j->settings, end + 1, strlen(end + 1) + 1);
	j->index = (int)index;
	j->is_changed = true;
}

static inline void sonde_job_open(struct sonde_job *j)
{
	const char *fd = getenv("SONDE_JOB_FD"), *config = getenv("SONDE_JOB_CONFIG");

	memset(j, 0, sizeof(*j));
	j->id = getenv("SONDE_JOB_ID");
	j->directory = getenv("SONDE_JOB_DIR");
	j->role = "chief";
	j->fd = fd && *fd ? (int)strtol(fd, NULL, 10) : -1;
	j->index = -1;
	j->is_listener = true;
	if (config && strlen(config) + 8 < sizeof(j->line)) {
		snprintf(j->line, sizeof(j->line), "config %s", config);
		sonde_job_take_line_(j, j->line);
	}
}

/* Take in what was said; never waits. */
static inline void sonde_job_listen_(struct sonde_job *j)
{
	char bytes[512];
	ssize_t n;

	while (j->fd >= 0 && j->is_listener && (n = recv(j->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				if (j->len < sizeof(j->line))
					j->line[j->len++] = bytes[i];
				continue;
			}
			if (j->len < sizeof(j->line)) { /* else too long: left out */
				j->line[j->len] = '\0';
				sonde_job_take_line_(j, j->line);
			}
			j->len = 0;
		}
}

/* The loss after a step; a loss that is no number is told as it is. worker: the number of who made the step. */
static inline void sonde_job_report(struct sonde_job *j, int64_t step, double loss, unsigned worker)
{
	char line[128];
	int n;

	if (j->fd < 0)
		return;
	n = j->index < 0 ? snprintf(line, sizeof(line), "report %lld %.17g\n", (long long)step, loss)
			 : snprintf(line, sizeof(line), "report %lld %.17g %u %d\n", (long long)step, loss, worker,
					   j->index);
	(void)!send(j->fd, line, (size_t)n, MSG_NOSIGNAL);
}

/* Has the job been asked to end? It is ended ten seconds after that. */
static inline bool sonde_job_should_stop(struct sonde_job *j)
{
	sonde_job_listen_(j);
	return j->is_stopped;
}

/* Are there other settings than at the last call? The next report counts for them: take them up before. */
static inline bool sonde_job_changed(struct sonde_job *j)
{
	bool is_changed;

	sonde_job_listen_(j);
	is_changed = j->is_changed;
	j->is_changed = false;
	return is_changed;
}

/* The text of a setting's value in JSON, NULL when it has none. */
static inline const char *sonde_job_find_(const struct sonde_job *j, const char *name)
{
	char key[256];
	const char *at;

	if ((size_t)snprintf(key, sizeof(key), "\"%s\":", name) >= sizeof(key))
		return NULL;
	at = strstr(j->settings, key);
	return at ? at + strlen(key) : NULL;
}

static inline double sonde_job_real(const struct sonde_job *j, const char *name, double fallback)
{
	const char *text = sonde_job_find_(j, name);
	char *end;
	double value = text ? strtod(text, &end) : 0;

	return text && end != text ? value : fallback;
}

/* true is 1 and false is 0. */
static inline int64_t sonde_job_int(const struct sonde_job *j, const char *name, int64_t fallback)
{
	const char *text = sonde_job_find_(j, name);

	if (text && (*text == 't' || *text == 'f'))
		return *text == 't';
	return (int64_t)sonde_job_real(j, name, (double)fallback);
}

/* The text of a setting that is one, into out; the fallback when there is none, or it does not fit. */
static inline void sonde_job_text(const struct sonde_job *j, const char *name, const char *fallback, char *out,
		size_t size)
{
	const char *text = sonde_job_find_(j, name), *end = text && *text == '"' ? strchr(text + 1, '"') : NULL;

	if (!end || (size_t)(end - text) > size)
		snprintf(out, size, "%s", fallback);
	else
		snprintf(out, size, "%.*s", (int)(end - text - 1), text + 1);
}

/* A process of another role: as fork, and in the child *j is its own. */
static inline pid_t sonde_job_fork(struct sonde_job *j, const char *role, int task)
{
	pid_t pid = fork();

	if (pid == 0) {
		j->role = role;
		j->task = task;
		j->is_listener = false;
	}
	return pid;
}

#endif
