/*
 * job.h: for training programs in C and C++: report progress, apply new settings while running, and stop when the
 * result is good enough. Header only; needs no library.
 *
 * 	struct sonde_job job;
 *
 * 	sonde_job_open(&job);
 * 	for (step = 0; step < steps; step++) {
 * 		if (sonde_job_changed(&job))
 * 			set_threads(sonde_job_int(&job, "threads", 1));
 * 		loss = train(step);
 * 		sonde_job_report(&job, step, loss, 0);
 * 		if (sonde_job_should_stop(&job)) {
 * 			save(job.directory);
 * 			break;
 * 		}
 * 	}
 *
 * `sonde train` receives the reports and decides; in a fleet without it, the agent does. Otherwise the calls have no
 * effect: should_stop is false and settings have their fallbacks. No call blocks, prints or allocates.
 *
 * Roles: the process that calls sonde_job_open is the chief, the only one that receives changes. A process created by
 * sonde_job_fork has its own role; it may report, and has the settings at the time of the fork. Not thread-safe.
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
	const char *id;        /* NULL: no controller */
	const char *directory; /* for checkpoints; NULL: the program is not restarted */
	const char *role;      /* "chief", or the argument of sonde_job_fork */
	int task;              /* index within the role */
	/* private */
	int fd;    /* -1: no controller */
	int index; /* of the current configuration; -1: none received */
	bool is_listener, is_stopped, is_changed;
	char settings[SONDE_JOB_SETTINGS_BYTES]; /* {"name":value,...} */
	char line[SONDE_JOB_SETTINGS_BYTES + 32];
	size_t len;
};

/* "stop" or "config INDEX JSON"; others are ignored. */
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

/* Read pending messages; never blocks. */
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
			if (j->len < sizeof(j->line)) { /* else too long: ignored */
				j->line[j->len] = '\0';
				sonde_job_take_line_(j, j->line);
			}
			j->len = 0;
		}
}

/*
 * Report the loss after a step; NaN and infinities are sent unchanged. worker: the index of the worker that did the
 * step.
 */
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

/* Was the job asked to stop? It is killed ten seconds later. */
static inline bool sonde_job_should_stop(struct sonde_job *j)
{
	sonde_job_listen_(j);
	return j->is_stopped;
}

/* Have the settings changed since the last call? The next report counts for the new ones: apply them before. */
static inline bool sonde_job_changed(struct sonde_job *j)
{
	bool is_changed;

	sonde_job_listen_(j);
	is_changed = j->is_changed;
	j->is_changed = false;
	return is_changed;
}

/* The JSON text of a setting's value, NULL if it has none. */
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

/* Copy a text setting to out; the fallback if it is missing or does not fit. */
static inline void sonde_job_text(const struct sonde_job *j, const char *name, const char *fallback, char *out,
		size_t size)
{
	const char *text = sonde_job_find_(j, name), *end = text && *text == '"' ? strchr(text + 1, '"') : NULL;

	if (!end || (size_t)(end - text) > size)
		snprintf(out, size, "%s", fallback);
	else
		snprintf(out, size, "%.*s", (int)(end - text - 1), text + 1);
}

/* Create a process of another role: like fork, with a separate *j in the child. */
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
