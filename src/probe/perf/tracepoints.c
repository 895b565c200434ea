/* Finds tracepoints by name: their ids and fields, from tracefs. */
#include "base/fs.h"
#include "probe/perf/perf-private.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD_AT_MAX 4096

bool perf_point_field(const char *format, const char *field, size_t *at)
{
	const char *found = strstr(format, field);
	const char *offset = found ? strstr(found, "offset:") : NULL;
	if (!offset)
		return false;
	*at = (size_t)strtoul(offset + strlen("offset:"), NULL, 10);
	return *at < FIELD_AT_MAX;
}

static int64_t number_in(const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *end;
	if (fs_read_file(AT_FDCWD, path, 64, &text, NULL))
		return -1;
	long long v = strtoll(text.data, &end, 10);
	return end == text.data ? -1 : v;
}

int64_t perf_find_point(const char *system, const char *name, struct buf *format, int *error)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[160];
	*error = ENOENT;
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", roots[i], system, name);
		int64_t id = number_in(path);
		if (id < 0) {
			*error = access(path, R_OK) && errno == EACCES ? EACCES : *error;
			continue;
		}
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", roots[i], system, name);
		buf_reset(format);
		if (!fs_read_file(AT_FDCWD, path, 65536, format, NULL))
			return id;
	}
	return -1;
}

void perf_source_want(struct perf_source *s, struct perf_point *p)
{
	p->id = -1;
	if (s->wants.point_count < PERF_POINTS_MAX)
		s->wants.points[s->wants.point_count++] = p;
}

void perf_find_wanted_points(struct perf_source *s)
{
	CLEANUP(buf_release) struct buf format = BUF_INIT;
	for (size_t i = 0; i < s->wants.point_count; i++) {
		struct perf_point *p = s->wants.points[i];
		int error;
		p->id = perf_find_point(p->system, p->name, &format, &error);
		if (p->id >= 0 && p->on_format(p->state, p, format.data))
			continue;
		if (p->id >= 0)
			err_set(&p->why, ENOTSUP, "the tracepoint %s of this kernel has other fields", p->name);
		else
			err_set(&p->why, error, "tracefs %s",
					error == EACCES ? "is closed to this user" : "is not mounted");
		err_hint(&p->why, PROBE_HINT_SETUP);
		p->id = -1;
	}
}

/* Only tracepoints report why a thread was switched out, and its waker. */
void perf_find_sched_points(struct perf_source *s)
{
	struct perf_source_private *p = s->private;
	CLEANUP(buf_release) struct buf format = BUF_INIT;
	int error;
	int64_t id = perf_find_point("sched", "sched_switch", &format, &error);
	if (id >= 0 && perf_point_field(format.data, "prev_pid;", &p->prev_pid_at) &&
			perf_point_field(format.data, "prev_state;", &p->prev_state_at))
		p->switch_id = id;
	/* sched_waking runs in the waker; sched_wakeup may run on the target CPU, in the context of any thread. */
	id = perf_find_point("sched", "sched_waking", &format, &error);
	if (id >= 0 && perf_point_field(format.data, " pid;", &p->wake_pid_at))
		p->wake_id = id;
	if (p->switch_id >= 0 && p->wake_id >= 0)
		return;
	p->switch_id = p->wake_id = -1;
	err_set(&s->points_why, error, "reasons and wakers of context switches are unknown: tracefs %s",
			error == EACCES ? "is closed to this user" : "is not mounted");
	err_hint(&s->points_why, PROBE_HINT_SETUP);
}
