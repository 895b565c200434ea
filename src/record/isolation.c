#include "record/isolation.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool isolation_has_own_pids(const struct job_isolation *place)
{
	return place && (place->kind == JOB_SANDBOX || place->kind == JOB_CONTAINER);
}

bool isolation_has_engine(const struct job_isolation *place)
{
	return place && place->kind == JOB_CONTAINER;
}

bool isolation_has_own_programs(const struct job_isolation *place)
{
	return place && (place->kind == JOB_CONTAINER || (place->kind == JOB_SANDBOX && place->root));
}

/* Libraries that GPU runtimes load are next to libsonde: see src/tracer/env-expose.c. */
static bool find_gpu_library(char *out, size_t size, const char *library)
{
	const char *slash = strrchr(library, '/');
	int n = slash ? snprintf(out, size, "%.*s/sonde/libsonde-gpu.so", (int)(slash - library), library) : -1;
	return n > 0 && (size_t)n < size && !access(out, R_OK);
}

/* See launch/container-init.c. Without it, probes do not see a daemon's containers, and a warning is printed. */
static void find_hold(struct placed *p)
{
	if (p->place.kind != JOB_CONTAINER || fs_prefix(&p->hold, NULL))
		return;
	buf_adds(&p->hold, "/libexec/sonde/sonde-hold");
	if (!buf_error(&p->hold) && !access(p->hold.data, X_OK))
		p->place.hold = p->hold.data;
}

int placed_init(struct placed *p, const struct job_isolation *asked, const char *ring, const char *library,
		struct sonde_err *err)
{
	*p = (struct placed){ .place = *asked, .hold = BUF_INIT };
	find_hold(p);
	if (!isolation_has_own_pids(asked) || !library || !*library)
		return 0;
	p->mounts = calloc(asked->mount_count + 3, sizeof(*p->mounts));
	if (!p->mounts)
		return err_sys(err, ENOMEM, "cannot place the command");
	if (asked->mount_count)
		memcpy(p->mounts, asked->mounts, asked->mount_count * sizeof(*p->mounts));
	p->mounts[asked->mount_count] = (struct job_mount){ .source = ring, .target = ring };
	p->mounts[asked->mount_count + 1] = (struct job_mount){ .source = library,
		.target = library,
		.is_read_only = true };
	p->place.mounts = p->mounts;
	p->place.mount_count = asked->mount_count + 2;
	if (find_gpu_library(p->gpu_library, sizeof(p->gpu_library), library))
		p->mounts[p->place.mount_count++] = (struct job_mount){ .source = p->gpu_library,
			.target = p->gpu_library,
			.is_read_only = true };
	return 0;
}

void placed_release(struct placed *p)
{
	free(p->mounts);
	buf_release(&p->hold);
	p->mounts = NULL;
}

void ladder_init(struct ladder *s, int64_t timeout_ns, const struct job_ladder *how)
{
	*s = (struct ladder){ .due_ns = timeout_ns > 0 ? clock_mono_ns() + timeout_ns : INT64_MAX,
		.how = { .interrupt_ns = PLACE_INTERRUPT_NS, .terminate_ns = PLACE_TERMINATE_NS } };
	if (how)
		s->how = *how;
}

void ladder_climb(struct ladder *s, struct launch *l)
{
	static const struct job_ladder at_once = JOB_LADDER_KILL;
	const struct {
		int signal;
		int64_t wait_ns;
	} rungs[] = { { SIGINT, s->how.interrupt_ns }, { SIGTERM, s->how.terminate_ns } };
	while (s->rung < 2 && rungs[s->rung].wait_ns <= 0)
		s->rung++;
	if (s->rung < 2) {
		launch_signal_tree(l, rungs[s->rung].signal, NULL);
		s->due_ns = clock_mono_ns() + rungs[s->rung].wait_ns;
	} else {
		launch_end(l, &at_once, NULL);
		s->due_ns = INT64_MAX;
	}
	s->rung++;
}

void ladder_finish(struct ladder *s, struct launch *l)
{
	const struct job_ladder rest = { .terminate_ns = s->rung < 2 ? s->how.terminate_ns : 0 };
	if (s->rung)
		launch_end(l, &rest, NULL);
}
